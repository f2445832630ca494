package sweep

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/harness/parallel"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
)

// PlanOf runs the scenario without faults, and plans every fault that could have hit it. It must
// pass.
func PlanOf(
	targets target.Set, s *scenario.Scenario, wanted func(phase string) bool,
) (*Plan, *runner.Result, error) {
	var points []runner.InjectionPoint
	r, err := runner.Run(s, runner.Options{Targets: targets, InjectionPoints: &points})
	if err != nil {
		return nil, nil, err
	}
	if !r.Passed() {
		return nil, r, fmt.Errorf(
			"the scenario of the sweep fails even without an injected fault: %s", r.Signature(),
		)
	}
	var some []runner.InjectionPoint
	for _, o := range points {
		if wanted == nil || wanted(o.Phase) {
			some = append(some, o)
		}
	}
	p := New(s, some)
	p.Singles = slices.DeleteFunc(p.Singles, func(f FaultCase) bool {
		return f.Fault != nil && (!slices.Contains(r.Target.Describe().Faults, f.Fault.Kind) ||
			!inCluster(r.Target.Nodes(s.Topology), f.Actor))
	})
	return p, r, nil
}

// inCluster reports whether there can be such an actor: a system may have no config servers.
func inCluster(nodes []target.Node, actor string) bool {
	const config = "config"
	return actor != config ||
		slices.ContainsFunc(nodes, func(n target.Node) bool { return n.Set == config })
}

// Part says which part of a plan is run.
type Part struct {
	// Targets are the systems that the plan's scenario may name.
	Targets target.Set
	// Pairs runs pairs of faults instead of single ones.
	Pairs bool
	// From is the number of the first run, To that behind the last; zero: to the end.
	From, To int
	// Workers is how many run at a time; zero: one. Stop, when set, ends the sweep early when it is
	// true.
	Workers int
	Stop    func() bool
	// Done is given every run in the order of their numbers, and of its result unless it held. It
	// says whether to go on.
	Done func(number int, o Outcome, failed *runner.Result) (more bool)
}

// Planned are the faults of the run with that number.
func (o *Part) Planned(p *Plan, number int) []int {
	if !o.Pairs {
		return []int{number}
	}
	a, b := p.Pair(number)
	return []int{a, b}
}

// Runs is how many runs the plan has.
func (o *Part) Runs(p *Plan) int {
	if o.Pairs {
		return p.Pairs()
	}
	return len(p.Singles)
}

// finishedRun is a run of a sweep.
type finishedRun struct {
	outcome Outcome
	failed  *runner.Result
	err     error
}

// Run carries out a part of a plan. The error says which scenario could not be run.
func Run(p *Plan, o Part) (err error) {
	pools := make([]*sim.Pool, max(o.Workers, 1))
	for i := range pools {
		pools[i] = &sim.Pool{}
		defer pools[i].Close()
	}
	to := o.Runs(p)
	if o.To > 0 {
		to = min(o.To, to)
	}
	parallel.Do(len(pools), to-o.From, o.Stop, func(worker, i int) finishedRun {
		return o.one(p, o.Planned(p, o.From+i), pools[worker])
	}, func(i int, r finishedRun) bool {
		if err = r.err; err != nil {
			return false
		}
		return o.Done(o.From+i, r.outcome, r.failed)
	})
	return err
}

func (o *Part) one(p *Plan, planned []int, pool *sim.Pool) finishedRun {
	s := p.Scenario(planned...)
	r, err := runner.Run(s, runner.Options{Targets: o.Targets, Pool: pool})
	if err != nil {
		return finishedRun{err: fmt.Errorf("running the faults %v of the sweep: %w", planned, err)}
	}
	happened := len(r.Decisions)
	//shardproof:allow map sums do not depend on the order
	for _, n := range r.Faults {
		happened += n
	}
	came := Outcome{Reached: happened >= len(s.Faults)+decisionsAsked(s)}
	if r.Passed() {
		return finishedRun{outcome: came}
	}
	came.Signature = r.Signature()
	return finishedRun{outcome: came, failed: r}
}

// decisionsAsked is how many decisions must be asked for: what a crash leaves of a file is decided
// only when there is something.
func decisionsAsked(s *scenario.Scenario) (n int) {
	for _, d := range s.Decisions {
		if d.Kind != sim.Kept {
			n++
		}
	}
	return n
}
