package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// points are one of each sort.
var points = []runner.InjectionPoint{
	{
		What:  runner.FailpointPassed,
		Site:  "donor.register",
		Nth:   2,
		Node:  "shard-b.0",
		Role:  failpoint.Donor,
		Leads: true,
		Phase: "kCreated",
		Actor: "donor",
	},
	{
		What:  runner.FailpointPassed,
		Site:  "replica.journal.beforeSync",
		Nth:   7,
		Node:  "config.1",
		Role:  failpoint.Replica,
		Phase: "kCreated",
		Actor: "config",
	},
	{
		What:  runner.FailpointPassed,
		Site:  "router.send",
		Nth:   1,
		Node:  "router.0",
		Role:  failpoint.Router,
		Phase: runner.BeforeMoves,
		Actor: "router",
	},
	{
		What:    runner.MessageSent,
		Site:    "shard-b.0>shard-a.0/RecvChunkStart",
		Nth:     1,
		Node:    "shard-b.0",
		Call:    true,
		Doubles: true,
		Phase:   "kCloning",
		Actor:   "donor",
	},
	{
		What:  runner.MessageSent,
		Site:  "router.0>client.0/Find.reply",
		Nth:   3,
		Node:  "router.0",
		Phase: "kCloning",
		Actor: "router",
	},
	{
		What:  runner.WriteBegun,
		Site:  "shard-a.2/sync",
		Nth:   4,
		Node:  "shard-a.2",
		Phase: "kCloning",
		Actor: "recipient",
	},
}

const wantSingles = `donor crash: fault 1 at donor.register #2 by shard-b.0 crash shard-b.0 for 500ms
donor partition: fault 1 at donor.register #2 by shard-b.0 partition shard-b.0 for 500ms
donor pause: fault 1 at donor.register #2 by shard-b.0 pause "" for 300ms
donor stepdown: fault 1 at donor.register #2 by shard-b.0 stepdown shard-b.0
donor error: fault 1 at donor.register #2 by shard-b.0 error ""
donor kill: fault 1 at donor.register #2 by shard-b.0 kill-operation ""
recipient crash: fault 1 at donor.register #2 by shard-b.0 crash recipient.primary for 500ms
recipient stepdown: fault 1 at donor.register #2 by shard-b.0 stepdown recipient.primary
config crash: fault 1 at donor.register #2 by shard-b.0 crash config.primary for 500ms
config stepdown: fault 1 at donor.register #2 by shard-b.0 stepdown config.primary
config crash: fault 1 at replica.journal.beforeSync #7 by config.1 crash config.1 for 500ms
config partition: fault 1 at replica.journal.beforeSync #7 by config.1 partition config.1 for 500ms
config pause: fault 1 at replica.journal.beforeSync #7 by config.1 pause "" for 300ms
config crash-kept: fault 1 at replica.journal.beforeSync #7 by config.1 crash config.1 for 500ms
router crash: fault 1 at router.send #1 by router.0 crash router.0 for 500ms
router partition: fault 1 at router.send #1 by router.0 partition router.0 for 500ms
router pause: fault 1 at router.send #1 by router.0 pause "" for 300ms
router error: fault 1 at router.send #1 by router.0 error ""
router kill: fault 1 at router.send #1 by router.0 kill-operation ""
donor lost: decide net.loss shard-b.0>shard-a.0/RecvChunkStart #1 = 1
donor late: decide net.delay shard-b.0>shard-a.0/RecvChunkStart #1 = 300000000
donor lost-reply: decide net.replyLoss shard-b.0>shard-a.0/RecvChunkStart #1 = 1
donor duplicate: decide net.duplicate shard-b.0>shard-a.0/RecvChunkStart #1 = 1
router lost: decide net.loss router.0>client.0/Find.reply #3 = 1
router late: decide net.delay router.0>client.0/Find.reply #3 = 300000000
recipient slow-write: decide disk.delay shard-a.2/sync #4 = 300000000
`

// TestEveryFaultThatMakesSense lists the faults of one injection point of each sort.
func TestEveryFaultThatMakesSense(t *testing.T) {
	p := New(&scenario.Scenario{}, points)
	var b strings.Builder
	for _, s := range p.Singles {
		fmt.Fprintf(&b, "%s %s: %s\n", s.Actor, s.Kind, s.String())
		if !slices.Contains(Kinds, s.Kind) {
			t.Errorf("the table has no column for %s", s.Kind)
		}
	}
	if diff := cmp.Diff(wantSingles, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestPairsAreFair goes through all pairs once, and no beginning leaves a single out for long.
func TestPairsAreFair(t *testing.T) {
	p := New(&scenario.Scenario{}, points)
	n := len(p.Singles)
	seen := make(map[[2]int]bool)
	early := make(map[int]bool)
	for i := range p.Pairs() {
		a, b := p.Pair(i)
		if a < 0 || a >= b || b >= n || seen[[2]int{a, b}] {
			t.Fatalf("pair %d is (%d, %d), seen %t", i, a, b, seen[[2]int{a, b}])
		}
		seen[[2]int{a, b}] = true
		if i < 3*n {
			early[a], early[b] = true, true
		}
	}
	if len(early) < n {
		t.Errorf("the first %d pairs know only %d of %d faults", 3*n, len(early), n)
	}
}

// TestPairInOneScenario puts two faults and their decisions into the base without touching it.
func TestPairInOneScenario(t *testing.T) {
	base := &scenario.Scenario{Name: "base", Ops: []scenario.Op{{ID: 1}}}
	p := New(base, points)
	s := p.Scenario(13, 0)
	if len(s.Faults) != 2 || s.Faults[0].ID != 1 || s.Faults[1].ID != 2 || len(s.Decisions) != 1 ||
		!s.Planned {
		t.Errorf("the scenario is\n%s", s)
	}
	if base.Planned || len(base.Faults)+len(base.Decisions) > 0 {
		t.Errorf("the base has become\n%s", base)
	}
}

const wantMatrix = `| phase | actor | crash | error | lost | all |
| --- | --- | --- | --- | --- | --- |
| kCreated | donor | **1 of 2** | 1 |  | **2 of 3** |
| kCloning | router |  |  | 1 | 1 |
`

// TestMatrixTellsWhatHeld counts by phase, actor and kind, and makes what broke stand out.
func TestMatrixTellsWhatHeld(t *testing.T) {
	p := New(&scenario.Scenario{}, points)
	m := NewMatrix(p)
	for _, run := range []struct {
		word    string
		planned []int
	}{{"held", []int{0}}, {"lost-write", []int{0}}, {"held", []int{4, 23}}, {"missed", []int{1}}} {
		o := ParseOutcome(run.word)
		if o.String() != run.word {
			t.Errorf("outcome %q reads back as %q", run.word, o)
		}
		var planned []*FaultCase
		for _, n := range run.planned {
			planned = append(planned, &p.Singles[n])
		}
		m.Add(o, planned...)
	}
	if diff := cmp.Diff(wantMatrix, m.String()); diff != "" || m.Runs != 4 || m.Reached != 3 ||
		m.Broke != 1 {
		t.Errorf("%d runs, %d reached, %d broke\n%s", m.Runs, m.Reached, m.Broke, diff)
	}
}
