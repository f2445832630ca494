package search

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// guided changes what has led to new situations. Its corpus are scenarios that passed and went
// where none had been before.
type guided struct {
	Start
	corpus []Known
	born   int // the last ID
	// rounds counts what Next was asked for; each has its own randomness.
	rounds int
	trials []Trial
	parent []int // in the corpus, of each trial; -1: none
}

func newGuided(s Start) Strategy {
	return &guided{Start: s, corpus: slices.Clone(s.Corpus), rounds: s.At.Seeds, born: s.At.Trials}
}

const (
	// freshShare is how many trials in a hundred are drawn from nothing, spliced how many of the
	// others are made of two.
	freshShare, spliceShare = 20, 20
	// enoughCorpus is how many scenarios there are before they are changed, mostCorpus how many are
	// kept.
	enoughCorpus, mostCorpus = 8, 400
)

// Next makes a round of trials. Its seed is its own, so that a later round does not repeat an
// earlier one.
func (g *guided) Next() []Trial {
	if g.enough(g.rounds) {
		return nil
	}
	seed := g.Seed + uint64(g.rounds)
	g.rounds++
	g.trials, g.parent = g.trials[:0], g.parent[:0]
	for i := range trialsEachRound / 2 {
		g.add(keyed.New(seed<<8 + uint64(i)).IntN)
	}
	return g.trials
}

func (g *guided) add(roll func(string, int) int) {
	parent := -1
	var s *scenario.Scenario
	if len(g.corpus) >= enoughCorpus && roll("fresh", 100) >= freshShare {
		parent = g.choose(roll)
		s = g.change(g.corpus[parent].Scenario, roll)
	}
	if s == nil {
		s, parent = freshScenario(roll, g.Protocol), -1
	}
	g.trials, g.parent = append(g.trials, Trial{Scenario: s}), append(g.parent, parent)
}

// freshScenario draws a scenario: most of them are small, with a few faults, as those cost a third.
func freshScenario(roll func(string, int) int, protocol string) *scenario.Scenario {
	seed := uint64(roll("seed", 1<<30))
	if roll("size", 5) == 0 {
		return withName("coverage-guided", generate.MixedOf(seed, protocol))
	}
	s := baseOf("coverage-guided", seed, protocol)
	s.Planned = false
	for i := range 1 + roll("faults", 5) {
		addFault(s, func(question string, n int) int {
			return roll(fmt.Sprintf("first %d/%s", i, question), n)
		})
	}
	return s
}

// choose picks a scenario of the corpus: the better of two, which is the one that has led to more
// each time it was chosen.
func (g *guided) choose(roll func(string, int) int) int {
	a, b := roll("one", len(g.corpus)), roll("other", len(g.corpus))
	if x, y := &g.corpus[a], &g.corpus[b]; x.Worth*(y.Chosen+1) >= y.Worth*(x.Chosen+1) {
		return a
	}
	return b
}

// change makes a new scenario of an old one; nil when what came out is none.
func (g *guided) change(of *scenario.Scenario, roll func(string, int) int) *scenario.Scenario {
	var s *scenario.Scenario
	if roll("splice", 100) < spliceShare {
		s = spliceFaults(of, g.corpus[roll("with", len(g.corpus))].Scenario, roll)
	} else {
		s = mutateScenario(of, roll)
	}
	if runner.Validate(g.Targets, s) != nil {
		return nil
	}
	return s
}

// Learn takes a scenario that led to something new into the corpus, and credits the one it came
// from.
func (g *guided) Learn(trial int, o *Outcome) {
	if p := g.parent[trial]; p >= 0 {
		g.corpus[p].Chosen++
		g.corpus[p].Worth += len(o.New)
	}
	if len(o.New) > 0 && o.Passed() {
		g.born++
		g.corpus = append(g.corpus,
			Known{ID: g.born, Scenario: g.trials[trial].Scenario, Worth: len(o.New)})
	}
	if trial == len(g.trials)-1 && len(g.corpus) > mostCorpus {
		g.prune()
	}
}

// prune forgets what has led to least.
func (g *guided) prune() {
	slices.SortStableFunc(g.corpus, func(a, b Known) int {
		return cmp.Compare(b.Worth*(a.Chosen+1), a.Worth*(b.Chosen+1))
	})
	g.corpus = slices.Delete(g.corpus, mostCorpus/2, len(g.corpus))
}

// Over counts rounds: each is one of the seeds.
func (g *guided) Over() int { return g.rounds }

// Mark counts the scenarios that the corpus ever had as trials.
func (g *guided) Mark() Checkpoint { return Checkpoint{Seeds: g.rounds, Trials: g.born} }

// Corpus is what a later part of the search goes on from.
func (g *guided) Corpus() []Known { return g.corpus }
