package runner

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/faults/suggest"
	"github.com/shardproof/shardproof/harness/parallel"
	"github.com/shardproof/shardproof/harness/sweep"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/workloads"
)

// SweepBase is a scenario without faults that is made for sweeps.
type SweepBase struct {
	Name, About string
	make        func() *scenario.Scenario
	// Wanted selects the phases that the sweep is about; nil: all.
	Wanted func(phase string) bool
}

// SweepBases lists the scenarios that are made for sweeps.
func SweepBases() []SweepBase {
	return []SweepBase{
		{Name: "migration", About: "one migration under 40 operations", make: baseMigration},
		{Name: "move-primary", About: "one movePrimary under 40 operations", make: basePrimary},
		{Name: "deletion", About: "the deletion of a range that moved away and comes back, under 40 operations", make: baseDeletion,
			Wanted: func(phase string) bool { return strings.HasPrefix(phase, "deletion ") }},
	}
}

// FindSweepBase returns the base of that name, or an error that names the nearest ones.
func FindSweepBase(name string) (SweepBase, error) {
	var names []string
	for _, b := range SweepBases() {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	return SweepBase{}, suggest.Unknown("base of a sweep", name, names, "sweeps")
}

// Scenario is the base as a scenario, for the version of the protocol; empty for the newest.
func (b *SweepBase) Scenario(protocol string) *scenario.Scenario {
	s := b.make()
	s.Name, s.Planned, s.Protocol = "sweep-"+b.Name, true, protocol
	own := s.Settings
	s.Settings = QuickSettings()
	s.Set(own...)
	s.FaultsEnd, s.Limit = 2*time.Second, limit
	return s
}

func baseOf(c scenario.Collection) *scenario.Scenario {
	z := sweepSize
	s := &scenario.Scenario{Seed: 1, Topology: z.topology, Collections: []scenario.Collection{c}}
	s.Ops = workloads.Draw(draws{1}.roll, workloads.Params{
		NS: c.NS, Keys: c.Keys, Preload: c.Preload, Clients: z.topology.Clients, Count: z.ops, Span: z.span, FirstID: 1,
	}, workloads.Standard())
	return s
}

func baseMigration() *scenario.Scenario {
	s := baseOf(scenario.Collection{NS: namespace, Keys: 10, Preload: 7, Bounds: []int64{5}})
	s.Migrations = []scenario.Migration{{ID: 1, At: warmUp, NS: namespace, Min: 5, Max: scenario.MaxKey}}
	return s
}

func basePrimary() *scenario.Scenario {
	s := baseOf(scenario.Collection{NS: unsharded, Unsharded: true, Keys: 10, Preload: 7})
	s.Primaries = []scenario.MovePrimary{{ID: 1, At: warmUp, Database: "test", To: 1}}
	return s
}

func baseDeletion() *scenario.Scenario {
	s := baseMigration()
	s.Settings = []scenario.Setting{
		{Name: "orphanCleanupDelaySecs", Value: "5ms"}, {Name: "rangeDeleterBatchSize", Value: "1"}, {Name: "rangeDeleterBatchDelayMS", Value: "5ms"},
	}
	s.Migrations[0].At = warmUp / 5
	back := s.Migrations[0]
	back.ID, back.At, back.To = 2, warmUp, 1
	s.Migrations = append(s.Migrations, back)
	return s
}

// PlanSweep runs the scenario without faults, and plans every fault that could have befallen it. It must pass.
func PlanSweep(s *scenario.Scenario, wanted func(phase string) bool) (*sweep.Plan, *Result, error) {
	var occasions []sweep.InjectionPoint
	r, err := Run(s, Options{Occasions: &occasions})
	if err != nil {
		return nil, nil, err
	}
	if !r.Passed() {
		return nil, r, fmt.Errorf("the scenario of the sweep fails even without an injected fault: %s", r.Signature())
	}
	var some []sweep.InjectionPoint
	for _, o := range occasions {
		if wanted == nil || wanted(o.Phase) {
			some = append(some, o)
		}
	}
	return sweep.New(s, some), r, nil
}

// Sweeping says which part of a plan is run.
type Sweeping struct {
	// Pairs runs pairs of faults instead of single ones.
	Pairs bool
	// From is the number of the first run, To that behind the last; zero: to the end.
	From, To int
	// Workers is how many run at a time; zero: one. Stop, when set, ends the sweep early when it is true.
	Workers int
	Stop    func() bool
	// Done is told of every run in the order of their numbers, and of its result unless it held. It says whether to go on.
	Done func(number int, o sweep.Outcome, failed *Result) (more bool)
}

// Planned are the faults of the run with that number.
func (o *Sweeping) Planned(p *sweep.Plan, number int) []int {
	if !o.Pairs {
		return []int{number}
	}
	a, b := p.Pair(number)
	return []int{a, b}
}

// Runs is how many runs the plan has.
func (o *Sweeping) Runs(p *sweep.Plan) int {
	if o.Pairs {
		return p.Pairs()
	}
	return len(p.Singles)
}

// ran is a run of a sweep.
type ran struct {
	outcome sweep.Outcome
	failed  *Result
	err     error
}

// RunSweep carries out a part of a plan. The error says which scenario could not be run.
func RunSweep(p *sweep.Plan, o Sweeping) (err error) {
	pools := make([]*sim.Pool, max(o.Workers, 1))
	for i := range pools {
		pools[i] = &sim.Pool{}
		defer pools[i].Close()
	}
	to := o.Runs(p)
	if o.To > 0 {
		to = min(o.To, to)
	}
	parallel.Do(len(pools), to-o.From, o.Stop, func(worker, i int) ran {
		return sweepOne(p, o.Planned(p, o.From+i), pools[worker])
	}, func(i int, r ran) bool {
		if err = r.err; err != nil {
			return false
		}
		return o.Done(o.From+i, r.outcome, r.failed)
	})
	return err
}

func sweepOne(p *sweep.Plan, planned []int, pool *sim.Pool) ran {
	s := p.Scenario(planned...)
	r, err := Run(s, Options{Pool: pool})
	if err != nil {
		return ran{err: fmt.Errorf("running the faults %v of the sweep: %w", planned, err)}
	}
	happened := len(r.Decisions)
	//shardproof:allow map sums do not depend on the order
	for _, n := range r.Faults {
		happened += n
	}
	o := sweep.Outcome{Reached: happened >= len(s.Faults)+wanted(s)}
	if r.Passed() {
		return ran{outcome: o}
	}
	o.Signature = r.Signature()
	return ran{outcome: o, failed: r}
}

// wanted is how many decisions must be asked for: what a crash leaves of a file is decided only when there is something.
func wanted(s *scenario.Scenario) (n int) {
	for _, d := range s.Decisions {
		if d.Kind != sim.Kept {
			n++
		}
	}
	return n
}

// SweepSuite is what Sweep runs.
type SweepSuite struct {
	Base SweepBase
	// Every is of how many faults one is tried; zero: each.
	Every int
}

// Sweep runs a base with the faults that could befall it, each failure a sub-test, and logs the matrix.
func Sweep(t *testing.T, suite SweepSuite) {
	t.Helper()
	p, _, err := PlanSweep(suite.Base.Scenario(""), suite.Base.Wanted)
	if err != nil {
		t.Fatal(err)
	}
	m := sweep.NewMatrix(p)
	for from := 0; from < len(p.Singles); from += max(suite.Every, 1) {
		err := RunSweep(p, Sweeping{From: from, To: from + 1, Done: func(n int, o sweep.Outcome, failed *Result) bool {
			m.Add(o, &p.Singles[n])
			if failed != nil {
				t.Run(fmt.Sprintf("fault=%d", n), func(t *testing.T) { sweepFailed(t, failed) })
			}
			return true
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d faults tried, %d reached, %d broke a promise\n%s", m.Runs, len(p.Singles), m.Reached, m.Broke, m)
}

func sweepFailed(t *testing.T, failed *Result) {
	folder := filepath.Join(t.ArtifactDir(), failed.Signature())
	kept, err := Run(failed.Scenario, Options{Events: true, Folder: folder})
	if err != nil {
		t.Logf("the failing run was not saved: %v", err)
	}
	t.Fatal("\n" + Report(kept, Where{Folder: folder, Replay: []string{"shardproof replay " + folder}, Shrink: []string{"shardproof shrink " + folder}}))
}
