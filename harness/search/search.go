// Package search looks for scenarios that break a promise, each strategy in its own way: by chance,
// in long scenarios or in short ones, by trying everything that could hit one scenario, by holding
// one thing back until another has happened, by slowing chains of messages down, or by changing
// what has led somewhere new before.
//
// Promise: what a strategy makes is a plain scenario, which fails, replays and shrinks without the
// strategy; and a search is a pure function of its Start: it makes the same scenarios in the same
// order on however many cores it runs. What it found new is counted in situations
// (runner.Options.Coverage), the same for all strategies. A search that was stopped anywhere goes
// on from its last Place as if it had not been, and counts nothing twice.
//
// Refusal: no wall clock and no files; budgets and folders are for the command line.
package search

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/harness/parallel"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
)

// Trial is a scenario to be run.
type Trial struct {
	Scenario *scenario.Scenario
	// Watched has every injection point for a fault recorded.
	Watched bool
	// Again is true for one that an earlier search has made: it is run for what the strategy learns
	// from it, and not counted.
	Again bool
}

// Outcome is what came of a trial.
type Outcome struct {
	*runner.Result
	// InjectionPoints are those of a watched trial.
	InjectionPoints []runner.InjectionPoint
	// New are the situations that no earlier trial of the search went through.
	New []uint64
	// Again is that of the trial.
	Again bool
}

// Strategy makes the trials of one search.
type Strategy interface {
	// Next are the next trials, which may run side by side; none: there is nothing left to try.
	Next() []Trial
	// Learn is given what came of each of them, in their order, before Next is asked again.
	Learn(trial int, o *Outcome)
	// Mark is where it stands between two rounds of trials: one that starts there makes the same
	// ones as this one would.
	Mark() Checkpoint
	// Over is how many seeds it is done with.
	Over() int
}

// Checkpoint is where a strategy stands.
type Checkpoint struct {
	// Seeds is how many seeds it is done with, and Trials how many trials of the next one.
	Seeds  int `json:"seeds,omitempty"`
	Trials int `json:"trials,omitempty"`
	// Arms are the strategies of a portfolio.
	Arms []ArmMark `json:"arms,omitempty"`
}

// Known is a scenario of a corpus. ID tells it from every other one that the search ever has.
type Known struct {
	ID       int
	Scenario *scenario.Scenario
	// Worth is what it has led to, Chosen how often it was chosen.
	Worth, Chosen int
}

// Start is what a search begins with.
type Start struct {
	// Targets are the systems that scenarios may name.
	Targets target.Set
	// Seed is the first seed, Seeds how many are used; zero: no end of them.
	Seed  uint64
	Seeds int
	// Protocol is the version that servers speak, as in harness.Profile.
	Protocol string
	// Exhaust has sweep and anchored try everything for a seed before they take the next one.
	Exhaust bool
	// At is where an earlier part of the search stopped, and Corpus what it had found by then that
	// a strategy may go on from.
	At     Checkpoint
	Corpus []Known
}

// enough says whether that many seeds are all there are.
func (s *Start) enough(used int) bool { return s.Seeds > 0 && used >= s.Seeds }

// CorpusOf is what a strategy would go on from; none for most.
func CorpusOf(s Strategy) []Known {
	if c, ok := s.(interface{ Corpus() []Known }); ok {
		return c.Corpus()
	}
	return nil
}

// Info describes a strategy.
type Info struct {
	Name, About string
	New         func(Start) Strategy
}

// Strategies lists them.
func Strategies() []Info {
	return []Info{
		{"random", "the scenarios of `run`, one for each seed", newRandom},
		{
			"short",
			"shorter scenarios of the same profiles: a third of the operations and of the time",
			newBrief,
		},
		{
			"sweep", "every fault at every injection point of a small scenario of each seed",
			newSweep,
		},
		{
			"reorder",
			"one message or task of a small scenario is held until some other event has happened",
			newAnchored,
		},
		{
			"pct",
			"random priorities for chains of messages, with a few priority changes during the run",
			newPriorities,
		},
		{"coverage-guided", "small changes to scenarios that reached new states", newGuided},
		{
			"portfolio",
			"all of these and each profile, chosen by how many new states they reached recently",
			newPortfolio,
		},
	}
}

// Find returns the strategy of that name, or an error that names the nearest ones.
func Find(name string) (Info, error) {
	var names []string
	for _, in := range Strategies() {
		if in.Name == name {
			return in, nil
		}
		names = append(names, in.Name)
	}
	return Info{}, suggest.Unknown("strategy", name, names, "strategies")
}

// Options say how a search is carried out.
type Options struct {
	// Targets are the systems that scenarios may name.
	Targets  target.Set
	Strategy Strategy
	// Workers is how many trials run at a time; zero: one. Runs is how many are made; zero: as long
	// as there are any.
	Workers, Runs int
	// Seen are the situations of an earlier part of the search, up to the round at which its
	// strategy was marked. It had Taken trials of that round already, which are made again without
	// being counted.
	Seen  []uint64
	Taken int
	// Stop, when set, ends the search early when it is true.
	Stop func() bool
	// Done is given every trial in order, and says whether to go on.
	Done func(run int, o *Outcome) (more bool)
	// Round, when set, is given where the search stands whenever the strategy has learned from all
	// that it wanted to know.
	Round func(at Place) (more bool)
}

// Place is where a search stands between two rounds.
type Place struct {
	Mark   Checkpoint
	Corpus []Known
	// Seen is how many situations are known, those of Options.Seen included.
	Seen int
}

// Run carries out a search. The error says which scenario could not be run.
func Run(o Options) error {
	s := &search{
		Options: o,
		seen:    make(map[uint64]struct{}),
		pools:   make([]*sim.Pool, max(o.Workers, 1)),
	}
	for i := range s.pools {
		s.pools[i] = &sim.Pool{}
		defer s.pools[i].Close()
	}
	for _, situation := range o.Seen {
		s.seen[situation] = struct{}{}
	}
	for s.round() {
	}
	return s.err
}

// search is a search in progress.
type search struct {
	Options
	pools []*sim.Pool
	seen  map[uint64]struct{}
	runs  int
	err   error
}

// finishedTrial is a trial that was run.
type finishedTrial struct {
	Outcome
	err error
}

// round runs what the strategy wants to know next.
func (s *search) round() (more bool) {
	if s.Runs > 0 && s.runs >= s.Runs {
		return false
	}
	trials := s.Strategy.Next()
	if len(trials) == 0 {
		return false
	}
	more = true
	again := 0
	if !trials[0].Again {
		again, s.Taken = s.Taken, 0
	}
	n := len(trials)
	if s.Runs > 0 && !trials[0].Again {
		n = min(n, again+s.Runs-s.runs)
	}
	done := parallel.Do(len(s.pools), n, s.Stop, func(worker, i int) finishedTrial {
		return s.attempt(trials[i], s.pools[worker])
	}, func(i int, r finishedTrial) bool {
		r.Again = trials[i].Again
		more = s.take(i, &r, i < again)
		return more
	})
	return more && done == len(trials) && (trials[0].Again || s.over())
}

// over tells where the search stands at the end of a round.
func (s *search) over() bool {
	return s.Round == nil ||
		s.Round(Place{s.Strategy.Mark(), slices.Clone(CorpusOf(s.Strategy)), len(s.seen)})
}

func (s *search) attempt(t Trial, pool *sim.Pool) (r finishedTrial) {
	o := runner.Options{Targets: s.Targets, Pool: pool, Coverage: true}
	if t.Watched {
		o.InjectionPoints = &r.InjectionPoints
	}
	if r.Result, r.err = runner.Run(t.Scenario, o); r.err != nil {
		r.err = fmt.Errorf("%w, in the scenario\n%s", r.err, t.Scenario)
	}
	return r
}

// take teaches the strategy, counts a trial and tells of it unless that was done before.
func (s *search) take(i int, r *finishedTrial, before bool) bool {
	if s.err = r.err; s.err != nil {
		return false
	}
	for _, situation := range r.Coverage {
		if _, known := s.seen[situation]; !known {
			s.seen[situation] = struct{}{}
			r.New = append(r.New, situation)
		}
	}
	s.Strategy.Learn(i, &r.Outcome)
	if before || r.Again {
		return true
	}
	s.runs++
	return s.Done == nil || s.Done(s.runs, &r.Outcome)
}
