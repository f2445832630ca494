package shrink

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/sweep"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
)

// rebuilt makes scenarios from what surrounds the failure of one: the operations that prove it and
// a migration of about then, each begun when it was, on a tiny cluster, and a single fault or two.
// A moment that many small things have led to can often be held open by one, if that waits for the
// right event.
func (t *trials) rebuilt(s *scenario.Scenario) iter.Seq[[]*scenario.Scenario] {
	return func(yield func([]*scenario.Scenario) bool) {
		r, err := runner.Run(s,
			runner.Options{Targets: t.targets, Events: true, Steps: t.steps, Pool: t.pool(0)})
		if err != nil || r.Passed() || !yield(duringFaults(r)) {
			return
		}
		var around []*scenario.Scenario
		switch {
		case !t.ofBalancer():
			around = t.surroundings(r)
		case len(s.Ops) > 0:
			// How data lie matters to the balancer, so all operations would have to stay.
			return
		}
		var all []*rebuildBase
		for _, b := range rebuildBases(around, s) {
			own := b.Settings
			b.Settings = slices.Clone(t.settings)
			b.Set(own...)
			all = append(all, &rebuildBase{trials: t, base: b})
		}
		for from, to := 0, rebuildBatch; from < mostSingles; from, to = to, 3*to {
			for _, b := range all {
				if !yield(b.batch(from, to)) {
					return
				}
			}
		}
	}
}

// ofBalancer says that the balancer has done wrong: then nobody can ask for its migrations instead.
func (t *trials) ofBalancer() bool { return slices.Contains(t.broken, oracle.Balancing.Name) }

// rebuildBases are what surrounds a failure, and at the end the scenario without faults.
func rebuildBases(around []*scenario.Scenario, s *scenario.Scenario) []*scenario.Scenario {
	bare := s.Clone()
	bare.Faults, bare.Decisions = nil, nil
	return append(around, bare)
}

const (
	// movesTried is of how many of the last migrations before a failure each is tried alone.
	movesTried = 4
	// rebuildBatch is how many single faults, and how many pairs, are tried with every scenario
	// before more are, and most how many at all.
	rebuildBatch, mostSingles = 150, 1500
	// faultsKept is how many of the faults that there were are tried.
	faultsKept = 4
)

// surroundings are the operations that prove the failure, or none and all if nothing is known of
// any, with each of the last migrations that began before it, with those of its range that it may
// build on, and with all that began before; nothing else.
func (t *trials) surroundings(r *runner.Result) (all []*scenario.Scenario) {
	s := asItHappened(r)
	s.Faults, s.Decisions, s.Commands, s.Streams = nil, nil, nil, nil
	MakeTiny(s)
	of := migrationsUpTo(s.Migrations, failureTime(r)-scenarioStart(r))
	var moves [][]scenario.Migration
	for i := len(of) - 1; i >= max(len(of)-movesTried, 0); i-- {
		moves = append(moves, of[i:i+1], overlappingMoves(of[:i+1]))
	}
	moves = append(moves, of)
	been := make(map[uint64]bool)
	for _, ops := range t.proofs(r, s.Ops) {
		for _, m := range moves {
			c := s.Clone()
			c.Ops, c.Migrations = slices.Clone(ops), slices.Clone(m)
			if key := Key(c); !been[key] {
				been[key] = true
				all = append(all, c)
			}
		}
	}
	return all
}

// proofs are the operations that prove a failure; if nothing is known of any, none, and all.
func (t *trials) proofs(r *runner.Result, ops []scenario.Op) [][]scenario.Op {
	proof := t.report(r).Ops
	some := slices.DeleteFunc(slices.Clone(ops), func(o scenario.Op) bool {
		return !slices.Contains(proof, o.ID)
	})
	if len(some) > 0 {
		return [][]scenario.Op{some}
	}
	return [][]scenario.Op{nil, ops}
}

// migrationsUpTo are the migrations that began up to then.
func migrationsUpTo(all []scenario.Migration, then time.Duration) []scenario.Migration {
	slices.SortStableFunc(all, func(a, b scenario.Migration) int { return cmp.Compare(a.At, b.At) })
	n := slices.IndexFunc(all, func(m scenario.Migration) bool { return m.At > then })
	if n < 0 {
		n = len(all)
	}
	return all[:n]
}

// overlappingMoves are those whose range has something in common with that of the last.
func overlappingMoves(all []scenario.Migration) (some []scenario.Migration) {
	last := all[len(all)-1]
	for _, m := range all {
		if m.NS == last.NS && m.Min < last.Max && last.Min < m.Max {
			some = append(some, m)
		}
	}
	return some
}

// failureTime is about when the first violation came to be: at the last of its events, or when the
// last operation that proves it was answered.
func failureTime(r *runner.Result) (at time.Duration) {
	violations := r.Worst().Violations
	if len(violations) == 0 {
		return r.Virtual
	}
	v := violations[0]
	for i := range r.Events {
		if e := &r.Events[i]; slices.Contains(v.Events, e.Step) {
			at = max(at, time.Duration(e.At))
		}
	}
	for _, o := range r.History {
		if at == 0 && slices.Contains(v.Ops, o.ID) {
			at = time.Duration(o.ReturnAt)
		}
	}
	if at == 0 {
		return r.Virtual
	}
	return at
}

// asItHappened is the plan of a run with events in which every operation begins when it did, by
// itself, and every migration that was asked for is so when it was, by an operator.
func asItHappened(r *runner.Result) *scenario.Scenario {
	s := opsWhenTheyBegan(r)
	options := make(map[string]scenario.Migration)
	for _, m := range s.Migrations {
		options[strconv.Itoa(m.ID)] = m
	}
	s.Balancer, s.Migrations = false, nil
	for i := range r.Events {
		if e := &r.Events[i]; e.Kind == trace.MigrationRequested {
			if m, ok := requestedMigration(r, i); ok {
				like := options[e.Request()]
				m.ID, m.WaitDelete, m.ForceJumbo, m.Throttle = len(s.Migrations)+1, like.WaitDelete,
					like.ForceJumbo, like.Throttle
				s.Migrations = append(s.Migrations, m)
			}
		}
	}
	return s
}

// opsWhenTheyBegan is the plan of a run in which every operation begins when it did, by itself.
func opsWhenTheyBegan(r *runner.Result) *scenario.Scenario {
	s := r.Plan().Clone()
	began := scenarioStart(r)
	at := make(map[int]time.Duration)
	for _, o := range r.History {
		at[o.ID] = (time.Duration(o.CallAt) - began).Truncate(time.Microsecond)
	}
	for i := range s.Ops {
		if then, ok := at[s.Ops[i].ID]; ok {
			s.Ops[i].At = max(then, 0)
		}
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
	return s
}

// rebuildBase is a scenario and what could hit it, which is found out when it is asked for.
type rebuildBase struct {
	trials  *trials
	base    *scenario.Scenario
	watched bool
	singles []sweep.FaultCase
	pairs   [][2]sweep.FaultCase
}

// batch are the scenario with each of some single faults that could hit its run, and with each of
// some pairs; before the first of them it is alone.
func (b *rebuildBase) batch(from, to int) (all []*scenario.Scenario) {
	if !b.watched {
		b.watch()
		all = append(all, b.base)
	}
	for i := from; i < to; i++ {
		if i < len(b.singles) {
			all = append(all, sweep.With(b.base, b.singles[i]))
		}
		if i < len(b.pairs) {
			all = append(all, sweep.With(b.base, b.pairs[i][:]...))
		}
	}
	return all
}

// watch runs the scenario, in which faults may last a little longer, to record what could hit it:
// nothing when it cannot be run.
func (b *rebuildBase) watch() {
	const room = 1200 * time.Millisecond // longer than timeouts of commands and an election
	b.watched = true
	b.base.Planned = true
	b.base.FaultsEnd += room
	var points []runner.InjectionPoint
	_, err := runner.Run(b.base, runner.Options{
		Targets:         b.trials.targets,
		Steps:           b.trials.steps,
		Pool:            b.trials.pool(0),
		InjectionPoints: &points,
	})
	if err == nil {
		b.singles, b.pairs = sweep.SingleFaults(points), sweep.FaultPairs(points)
	}
}
