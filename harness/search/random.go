package search

import (
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/histories/scenario"
)

// trialsEachRound is how many trials a strategy makes at a time.
const trialsEachRound = 32

// drawnStrategy makes a scenario of each seed, and learns nothing from what comes of it.
type drawnStrategy struct {
	Start
	draw       func(seed uint64) *scenario.Scenario
	used, done int
}

// newDrawn is the search that draws so.
func newDrawn(s Start, draw func(seed uint64) *scenario.Scenario) Strategy {
	return &drawnStrategy{Start: s, draw: draw, used: s.At.Seeds, done: s.At.Seeds}
}

// newRandom draws scenarios as a campaign does that mixes all profiles.
func newRandom(s Start) Strategy {
	return newDrawn(s, func(seed uint64) *scenario.Scenario {
		return withName("random", generate.MixedOf(seed, s.Protocol))
	})
}

// newBrief draws the same on a smaller scale.
func newBrief(s Start) Strategy {
	return newDrawn(s, func(seed uint64) *scenario.Scenario {
		return withName("short", generate.MixedBrief(seed, s.Protocol))
	})
}

// ofProfile draws scenarios of one profile.
func ofProfile(s Start, p generate.Profile) Strategy {
	p.Protocol = s.Protocol
	return newDrawn(s, func(seed uint64) *scenario.Scenario {
		return withName("random", generate.Draw(seed, p))
	})
}

// withName puts the name of a strategy before that of the profile.
func withName(strategy string, s *scenario.Scenario) *scenario.Scenario {
	s.Name = strategy + "-" + s.Name
	return s
}

func (d *drawnStrategy) Next() (trials []Trial) {
	for len(trials) < trialsEachRound && !d.enough(d.used) {
		trials = append(trials, Trial{Scenario: d.draw(d.Seed + uint64(d.used))})
		d.used++
	}
	return trials
}

func (d *drawnStrategy) Learn(int, *Outcome) { d.done++ }

func (d *drawnStrategy) Mark() Checkpoint { return Checkpoint{Seeds: d.used} }

func (d *drawnStrategy) Over() int { return d.done }
