package search

import (
	"time"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/sweep"
	"github.com/shardproof/shardproof/histories/scenario"
)

// extraFaultTime is how much longer than the scenario of a base faults last: longer than the
// timeouts of commands and an election.
const extraFaultTime = 1200 * time.Millisecond

// baseOf is the small scenario of a seed, without faults, to which a strategy adds its own.
func baseOf(strategy string, seed uint64, protocol string) *scenario.Scenario {
	p, err := generate.FindProfile("small")
	if err != nil {
		panic(err)
	}
	p.Protocol = protocol
	s := withName(strategy, generate.Draw(seed, p))
	s.Planned = true
	s.FaultsEnd += extraFaultTime
	return s
}

// searchStage is a part of what is tried with one base: so many trials, made when they are needed.
// What they teach decides the next stage; nil is the end.
type searchStage struct {
	count int
	trial func(i int) Trial
	learn func(i int, o *Outcome)
	next  func() *searchStage
}

// onBases goes from base to base, and through the stages of each.
type onBases struct {
	Start
	name  string
	used  int
	now   *searchStage
	from  int // the first trial of the stage in progress that Learn is told of
	given int // how many of its trials were handed out
	// made is how many trials of the base were, in all its stages; behind how many of those to come
	// an earlier search has made.
	made, behind int
	first        func(base *scenario.Scenario, o *Outcome) *searchStage
}

// newOnBases is the search from where an earlier one stopped.
func newOnBases(
	s Start, name string, first func(base *scenario.Scenario, o *Outcome) *searchStage,
) Strategy {
	return &onBases{Start: s, name: name, used: s.At.Seeds, behind: s.At.Trials, first: first}
}

// Next is the next part of the stage in progress, or of the one behind it.
func (b *onBases) Next() (trials []Trial) {
	for b.now == nil || b.given == b.now.count {
		if b.now != nil {
			if b.now, b.given = b.now.next(), 0; b.now == nil {
				b.behind = 0
			}
		}
		if b.now == nil {
			if b.enough(b.used) {
				return nil
			}
			b.now, b.made = b.base(baseOf(b.name, b.Seed+uint64(b.used), b.Protocol)), 0
			b.used++
		}
		b.skip()
	}
	b.from = b.given
	b.given = min(b.given+trialsEachRound, b.now.count)
	for i := b.from; i < b.given; i++ {
		t := b.now.trial(i)
		t.Again = b.behind > 0
		b.behind, b.made = max(b.behind-1, 0), b.made+1
		trials = append(trials, t)
	}
	return trials
}

// skip leaves out what an earlier search has made, as far as nothing is learned from it.
func (b *onBases) skip() {
	if b.now != nil && b.now.learn == nil {
		n := min(b.behind, b.now.count)
		b.given, b.behind, b.made = n, b.behind-n, b.made+n
	}
}

// base runs a base without faults. One that fails by itself is of no use to the others.
func (b *onBases) base(s *scenario.Scenario) *searchStage {
	var then *searchStage
	return &searchStage{
		count: 1,
		trial: func(int) Trial { return Trial{Scenario: s, Watched: true} },
		learn: func(_ int, o *Outcome) {
			if o.Passed() {
				then = b.first(s, o)
			}
		},
		next: func() *searchStage { return then },
	}
}

// Learn hands the outcome to the stage in progress.
func (b *onBases) Learn(trial int, o *Outcome) {
	if b.now.learn != nil {
		b.now.learn(b.from+trial, o)
	}
}

// Mark is in the base in progress.
func (b *onBases) Mark() Checkpoint {
	if b.now == nil {
		return Checkpoint{Seeds: b.used, Trials: b.behind}
	}
	return Checkpoint{Seeds: b.used - 1, Trials: b.made + b.behind}
}

// Over counts the bases behind the one in progress.
func (b *onBases) Over() int { return b.Mark().Seeds }

// plannedStage is a stage of a plan.
func plannedStage(
	p *sweep.Plan, count int, which func(i int) []int, next func() *searchStage,
) *searchStage {
	return &searchStage{count: count, next: next, trial: func(i int) Trial {
		return Trial{Scenario: p.Scenario(which(i)...)}
	}}
}

// noStage is no further stage.
func noStage() *searchStage { return nil }

// These are how many trials a base gets before the next one has its turn: everything of one base
// costs as much as a glance at many, and what differs between bases finds more.
const (
	probesEach  = 20
	singlesEach = 30
	pairsEach   = 20
)

// some is how many of all are tried: n, or every one when everything is wanted.
func (s *Start) some(n, all int) int {
	if s.Exhaust {
		return all
	}
	return min(n, all)
}
