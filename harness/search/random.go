package search

import (
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/histories/scenario"
)

// batch is how many trials a strategy makes at a time.
const batch = 32

// drawn makes a scenario of each seed, and learns nothing from what comes of it.
type drawn struct {
	Start
	draw       func(seed uint64) *scenario.Scenario
	used, done int
}

// drawing is the search that draws so.
func drawing(s Start, draw func(seed uint64) *scenario.Scenario) Strategy {
	return &drawn{Start: s, draw: draw, used: s.At.Seeds, done: s.At.Seeds}
}

// newRandom draws scenarios as a campaign does that mixes all profiles.
func newRandom(s Start) Strategy {
	return drawing(s, func(seed uint64) *scenario.Scenario { return called("random", generate.MixedOf(seed, s.Protocol)) })
}

// newBrief draws the same on a smaller scale.
func newBrief(s Start) Strategy {
	return drawing(s, func(seed uint64) *scenario.Scenario { return called("short", generate.MixedBrief(seed, s.Protocol)) })
}

// ofProfile draws scenarios of one profile.
func ofProfile(s Start, p generate.Profile) Strategy {
	p.Protocol = s.Protocol
	return drawing(s, func(seed uint64) *scenario.Scenario { return called("random", generate.Draw(seed, p)) })
}

// called puts the name of a strategy before that of the profile.
func called(strategy string, s *scenario.Scenario) *scenario.Scenario {
	s.Name = strategy + "-" + s.Name
	return s
}

func (d *drawn) Next() (trials []Trial) {
	for len(trials) < batch && !d.enough(d.used) {
		trials = append(trials, Trial{Scenario: d.draw(d.Seed + uint64(d.used))})
		d.used++
	}
	return trials
}

func (d *drawn) Learn(int, *Outcome) { d.done++ }

func (d *drawn) Mark() Checkpoint { return Checkpoint{Seeds: d.used} }

func (d *drawn) Over() int { return d.done }
