package explore

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/histories/scenario"
)

// guided changes what has led to new situations. Its corpus are scenarios that passed and went where none had been before.
type guided struct {
	Start
	corpus []entry
	// rounds counts what Next was asked for; each has its own randomness.
	rounds int
	trials []Trial
	parent []int // in the corpus, of each trial; -1: none
}

// entry is a scenario of the corpus.
type entry struct {
	scenario *scenario.Scenario
	// worth is what it has led to, chosen how often it was chosen.
	worth, chosen int
}

func newGuided(s Start) Strategy {
	g := &guided{Start: s}
	for _, known := range s.Corpus {
		g.corpus = append(g.corpus, entry{known, 1, 0})
	}
	return g
}

const (
	// freshly is how many trials in a hundred are drawn anew, spliced how many of the others are made of two.
	freshly, spliced = 20, 20
	// enoughCorpus is how many scenarios there are before they are changed, mostCorpus how many are kept.
	enoughCorpus, mostCorpus = 8, 400
)

// Next makes a round of trials. Its seed is its own, so that a later round does not repeat an earlier one.
func (g *guided) Next() []Trial {
	if g.enough(g.rounds) {
		return nil
	}
	seed := g.Seed + uint64(g.rounds)
	g.rounds++
	g.trials, g.parent = g.trials[:0], g.parent[:0]
	for i := range batch / 2 {
		g.add(harness.Dice(seed<<8 + uint64(i)))
	}
	return g.trials
}

func (g *guided) add(roll func(string, int) int) {
	parent := -1
	var s *scenario.Scenario
	if len(g.corpus) >= enoughCorpus && roll("fresh", 100) >= freshly {
		parent = g.choose(roll)
		s = g.change(g.corpus[parent].scenario, roll)
	}
	if s == nil {
		s, parent = fresh(roll, g.Protocol), -1
	}
	g.trials, g.parent = append(g.trials, Trial{Scenario: s}), append(g.parent, parent)
}

// fresh draws a scenario: most of them are small, with a few faults, as those cost a third.
func fresh(roll func(string, int) int, protocol string) *scenario.Scenario {
	seed := uint64(roll("seed", 1<<30))
	if roll("size", 5) == 0 {
		return called("guided", harness.MixedOf(seed, protocol))
	}
	s := baseOf("guided", seed, protocol)
	s.Planned = false
	for i := range 1 + roll("faults", 5) {
		addFault(s, func(question string, n int) int { return roll(fmt.Sprintf("first %d/%s", i, question), n) })
	}
	return s
}

// choose picks a scenario of the corpus: the better of two, which is the one that has led to more each time it was chosen.
func (g *guided) choose(roll func(string, int) int) int {
	a, b := roll("one", len(g.corpus)), roll("other", len(g.corpus))
	if x, y := &g.corpus[a], &g.corpus[b]; x.worth*(y.chosen+1) >= y.worth*(x.chosen+1) {
		return a
	}
	return b
}

// change makes a new scenario of an old one; nil when what came out is none.
func (g *guided) change(of *scenario.Scenario, roll func(string, int) int) *scenario.Scenario {
	var s *scenario.Scenario
	if roll("splice", 100) < spliced {
		s = splice(of, g.corpus[roll("with", len(g.corpus))].scenario, roll)
	} else {
		s = mutate(of, roll)
	}
	if harness.Validate(s) != nil {
		return nil
	}
	return s
}

// Learn takes a scenario that led to something new into the corpus, and credits the one it came from.
func (g *guided) Learn(trial int, o *Outcome) {
	if p := g.parent[trial]; p >= 0 {
		g.corpus[p].chosen++
		g.corpus[p].worth += o.New
	}
	if o.New > 0 && o.Passed() {
		g.corpus = append(g.corpus, entry{g.trials[trial].Scenario, o.New, 0})
	}
	if trial == len(g.trials)-1 && len(g.corpus) > mostCorpus {
		g.prune()
	}
}

// prune forgets what has led to least.
func (g *guided) prune() {
	slices.SortStableFunc(g.corpus, func(a, b entry) int { return cmp.Compare(b.worth*(a.chosen+1), a.worth*(b.chosen+1)) })
	g.corpus = slices.Delete(g.corpus, mostCorpus/2, len(g.corpus))
}

// Over counts rounds: a search that is taken up again makes other ones.
func (g *guided) Over() int { return g.rounds }

// Corpus is what a later search may go on from.
func (g *guided) Corpus() (all []*scenario.Scenario) {
	for _, e := range g.corpus {
		all = append(all, e.scenario)
	}
	return all
}
