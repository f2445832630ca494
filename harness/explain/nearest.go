package explain

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
)

// NearestPassing is a scenario that passes and differs in one thing from one that fails. Where the
// two runs part is mostly where the explanation is.
type NearestPassing struct {
	Scenario *scenario.Scenario
	// Change is what is different about it.
	Change string
	// Parting is the first event that differs: of the failing run as Recorded, of the passing one
	// as Now.
	Parting Divergence
	// Only is the first moment of the failing run's story that the passing one does not have,
	// Instead the first that only the passing one has; nil for none.
	Only, Instead *Moment
}

// difference is one way to differ. Those of a lower rank explain better.
type difference struct {
	rank int
	what string
	edit func(*scenario.Scenario)
}

// FindNearestPassing looks for the neighbour of a failing run, made with Options.Events, that goes
// the same way for the longest time: first among those in which a fault or a decision of chance
// differs, then a migration, then anything else. It makes at most so many runs; 0: as many as there
// are neighbours; and no more once stop, which may be nil, returns true. Nil: none was found.
func FindNearestPassing(
	r *runner.Result, pool *sim.Pool, most int, stop func() bool,
) *NearestPassing {
	var best *NearestPassing
	rank := 0
	for i, c := range allDifferences(r) {
		if best != nil && c.rank > rank || most > 0 && i >= most ||
			stop != nil && stop() {
			break
		}
		s := r.Plan().Clone()
		c.edit(s)
		passing, err := runner.Run(s, runner.Options{
			Targets: target.Set{r.Target},
			Pool:    pool,
			Events:  true,
			Steps:   r.StepLimit(),
		})
		if err != nil || !passing.Passed() {
			continue
		}
		n := &NearestPassing{
			Scenario: s,
			Change:   c.what,
			Parting:  Divergence{Recorded: r.HashText(), Now: passing.HashText()},
		}
		n.Parting.find(r.Events, passing.Events)
		n.Only, n.Instead = FirstDifferences(recordOf(r), recordOf(passing), contradictionOf(r))
		if best == nil || n.Parting.Step > best.Parting.Step {
			best, rank = n, c.rank
		}
	}
	return best
}

// allDifferences lists the ways to differ, by rank.
func allDifferences(r *runner.Result) (all []difference) {
	s := r.Plan()
	add := func(rank int, edit func(*scenario.Scenario), format string, args ...any) {
		all = append(all, difference{rank, fmt.Sprintf(format, args...), edit})
	}
	for i, f := range s.Faults {
		add(0, func(s *scenario.Scenario) {
			s.Faults = slices.Delete(s.Faults, i, i+1)
		}, "without fault %d", f.ID)
		add(0, func(s *scenario.Scenario) {
			s.Faults[i].When.Nth++
		}, "with fault %d one pass of its failpoint later", f.ID)
		laterVariants(func(s *scenario.Scenario) *time.Duration {
			return &s.Faults[i].When.After
		}, func(by time.Duration, edit func(
			*scenario.Scenario,
		)) {
			add(0, edit, "with fault %d %s later", f.ID, by)
		})
	}
	for i, d := range s.Decisions {
		add(0, func(s *scenario.Scenario) {
			s.Decisions = slices.Delete(s.Decisions, i, i+1)
		}, "without %q", d)
	}
	for i, m := range s.Migrations {
		laterVariants(func(s *scenario.Scenario) *time.Duration {
			return &s.Migrations[i].At
		}, func(by time.Duration, edit func(
			*scenario.Scenario,
		)) {
			add(1, edit, "with move %d %s later", m.ID, by)
		})
		add(1, func(s *scenario.Scenario) {
			s.Migrations = slices.Delete(s.Migrations, i, i+1)
		}, "without move %d", m.ID)
	}
	for i, o := range s.Ops {
		laterVariants(func(s *scenario.Scenario) *time.Duration {
			return &s.Ops[i].At
		}, func(by time.Duration, edit func(
			*scenario.Scenario,
		)) {
			add(2, edit, "with operation %d %s later", o.ID, by)
		})
		add(3, func(s *scenario.Scenario) {
			s.Ops = slices.Delete(s.Ops, i, i+1)
		}, "without operation %d", o.ID)
	}
	add(4, func(s *scenario.Scenario) { s.Seed++ }, "with seed %d", s.Seed+1)
	slices.SortStableFunc(all, func(a, b difference) int { return a.rank - b.rank })
	return all
}

// laterVariants has something happen a little later, and much later.
func laterVariants(
	at func(*scenario.Scenario) *time.Duration,
	add func(by time.Duration, edit func(*scenario.Scenario)),
) {
	for _, by := range []time.Duration{
		time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond,
	} {
		add(by, func(s *scenario.Scenario) { *at(s) += by })
	}
}

// Lines is the neighbour in lines for people.
func (n *NearestPassing) Lines() []string {
	return []string{
		fmt.Sprintf("%s it passes; the first difference is at step %d", n.Change, n.Parting.Step),
		"failing: " + n.Parting.RecordedNext, "passing: " + n.Parting.NowNext,
		"only in the failing run: " + momentOr(n.Only),
		"only in the passing run: " + momentOr(n.Instead),
	}
}

func momentOr(m *Moment) string {
	if m == nil {
		return "nothing"
	}
	return momentLine(m)
}
