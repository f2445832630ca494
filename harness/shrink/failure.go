package shrink

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
)

// Options says how a failing scenario is made smaller.
type Options struct {
	// Targets are the systems that the scenario may name.
	Targets target.Set
	// Workers is how many candidates run at a time; zero: one.
	Workers int
	// Runs is the budget: how many candidates are tried at most. Zero: 3,000.
	Runs int
	// Stop, when set, ends the search early when it is true; what was found until then is the
	// result.
	Stop func() bool
	// Known, Learned and Smaller are those of shrink.Options.
	Known   map[uint64]Trial
	Learned func(key uint64, t Trial)
	Smaller func(s *scenario.Scenario, runs int)
}

// Shrunk is a failing scenario and the smallest that fails with the same signature.
type Shrunk struct {
	*Result
	// From is the run of the original, To that of the smallest.
	From, To *runner.Result
}

// PassedError says that there is nothing to shrink.
type PassedError struct{ Seed uint64 }

// Error names the seed.
func (e *PassedError) Error() string {
	return fmt.Sprintf("the scenario with seed %d passes: there is nothing to shrink", e.Seed)
}

// DivergedError says that a scenario did not do the same when it was run again.
type DivergedError struct{ First, Second *runner.Result }

// Error names both hashes.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("the trace hash was %s, and %s when the run was repeated",
		e.First.HashText(), e.Second.HashText())
}

// Failure looks for the smallest scenario that fails with the signature of s. The error is a
// *PassedError, a *DivergedError, or says why s cannot be run.
func Failure(s *scenario.Scenario, o Options) (*Shrunk, error) {
	from, err := runTwice(o.Targets, s, nil)
	if err != nil {
		return nil, err
	}
	instead, err := alternatives(from)
	if err != nil {
		return nil, err
	}
	if from.Passed() {
		return nil, &PassedError{s.Seed}
	}
	t := trials{
		targets:   target.Set{from.Target},
		settings:  from.Scenario.Settings,
		signature: from.Signature(),
		broken:    brokenCheckers(from),
		steps:     from.StepLimit(),
		pools:     make([]*sim.Pool, max(o.Workers, 1)),
	}
	defer t.close()
	if o.Runs == 0 {
		o.Runs = 3000
	}
	found := searchFrom(from.Plan(), t.report(from), searchOptions{
		Try:          t.try,
		Workers:      len(t.pools),
		Runs:         o.Runs,
		Alternatives: instead,
		Rebuild:      t.rebuilt,
		Fixed:        t.fixed(s),
		Stop:         o.Stop,
		Known:        o.Known,
		Learned:      o.Learned,
		Smaller:      o.Smaller,
	})
	to, err := runTwice(o.Targets, found.Scenario, t.pools[0])
	if err == nil && to.Signature() != t.signature {
		err = errors.New(
			"the results of the earlier search do not hold for this build: start a new one",
		)
	}
	return &Shrunk{found, from, to}, err
}

// alternatives are scenarios that may fail in the same way and are easier to make small.
func alternatives(from *runner.Result) ([]*scenario.Scenario, error) {
	if !from.Scenario.Balancer {
		return nil, nil
	}
	r, err := runner.Run(from.Scenario,
		runner.Options{Targets: target.Set{from.Target}, Events: true})
	if err != nil {
		return nil, err
	}
	if s := manualMoves(r); s != nil {
		return []*scenario.Scenario{s}, nil
	}
	return nil, nil
}

// runTwice runs a scenario, and its plan, which must do the same step for step.
func runTwice(targets target.Set, s *scenario.Scenario, pool *sim.Pool) (*runner.Result, error) {
	first, err := runner.Run(s, runner.Options{Targets: targets, Pool: pool})
	if err != nil {
		return nil, err
	}
	plan, err := runner.Parse(targets, "plan", first.Plan().String())
	if err != nil {
		return nil, err
	}
	second, err := runner.Run(plan, runner.Options{Targets: targets, Pool: pool})
	if err == nil && second.Hash != first.Hash {
		err = &DivergedError{first, second}
	}
	return first, err
}

// trials runs candidates, each worker's on a pool of its own.
type trials struct {
	targets target.Set
	// settings are those of the original: with fewer a scenario may not come to rest in time that
	// differs in other things, too.
	settings  []scenario.Setting
	signature string
	// broken are the checkers whose promise the original broke: no candidate may break another, for
	// that would be a failure of its own making.
	broken []string
	steps  uint64
	pools  []*sim.Pool
}

func (t *trials) try(worker int, s *scenario.Scenario) Trial {
	r, err := runner.Run(s,
		runner.Options{Targets: t.targets, Pool: t.pool(worker), Steps: t.steps})
	more := func(checker string) bool { return !slices.Contains(t.broken, checker) }
	if err != nil || r.Steps >= t.steps || r.Signature() != t.signature ||
		slices.ContainsFunc(brokenCheckers(r), more) {
		return Trial{}
	}
	return t.report(r)
}

// pool is that of a worker, which is its own while it has a trial.
func (t *trials) pool(worker int) *sim.Pool {
	if t.pools[worker] == nil {
		t.pools[worker] = &sim.Pool{}
	}
	return t.pools[worker]
}

func brokenCheckers(r *runner.Result) (checker []string) {
	for _, v := range r.Verdicts {
		if v.Outcome == checkers.Fail {
			checker = append(checker, v.Checker)
		}
	}
	return checker
}

// fixed says which settings stay. Where the original has not come to rest, was cut short, or left
// undone what others have to wait for, a cluster that waits for most of the limit by default would
// not come to rest either, and that would be another failure.
func (t *trials) fixed(s *scenario.Scenario) func(setting string) bool {
	rest := []string{
		endstate.Convergence.Name, endstate.Liveness.Name, oracle.Balancing.Name,
		runner.Assertions.Name,
	}
	if !slices.ContainsFunc(
		t.broken, func(checker string) bool { return slices.Contains(rest, checker) },
	) {
		return nil
	}
	var names []string
	for _, in := range runner.Settings(t.targets[0]) {
		if d, err := time.ParseDuration(in.Default); err == nil && d >= s.Limit/2 {
			names = append(names, in.Name)
		}
	}
	return func(setting string) bool { return slices.Contains(names, setting) }
}

// report is what a failing run says: the operations that prove the first violation, or those on the
// key that it is about.
func (t *trials) report(r *runner.Result) Trial {
	said := Trial{Same: true}
	violations := r.Worst().Violations
	if len(violations) == 0 {
		return said
	}
	v := violations[0]
	if said.Ops = v.Ops; len(said.Ops) > 0 {
		return said
	}
	for _, o := range r.Scenario.Ops {
		if o.NS == v.NS && strconv.FormatInt(o.Key, 10) == v.Key {
			said.Ops = append(said.Ops, o.ID)
		}
	}
	return said
}

func (t *trials) close() {
	for _, p := range t.pools {
		if p != nil {
			p.Close()
		}
	}
}

// Sizes is what a scenario consists of, for people.
func Sizes(s *scenario.Scenario) string {
	var parts []string
	for _, n := range []struct {
		count    int
		one, all string
	}{
		{s.Topology.Clients, "client", "clients"}, {len(s.Ops), "operation", "operations"},
		{
			len(s.Migrations), "migration", "migrations",
		}, {len(s.Primaries), "movePrimary", "movePrimaries"},
		{len(s.Streams), "stream", "streams"}, {len(s.Commands), "command", "commands"},
		{len(s.Faults), "fault", "faults"}, {len(s.Decisions), "decision", "decisions"},
		{len(s.Settings), "setting", "settings"},
	} {
		switch n.count {
		case 0:
		case 1:
			parts = append(parts, "1 "+n.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n.count, n.all))
		}
	}
	return strings.Join(parts, ", ")
}
