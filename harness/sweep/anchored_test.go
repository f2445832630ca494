package sweep

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/system/failpoint"
)

// migrating are the injection points of a small migration.
var migrating = []runner.InjectionPoint{
	{
		What:  runner.FailpointPassed,
		Site:  "donor.register",
		Nth:   1,
		Node:  "shard-b.0",
		Role:  failpoint.Donor,
		Leads: true,
		Phase: "kCreated",
		Actor: "donor",
	},
	{
		What:     runner.MessageSent,
		Site:     "shard-b.0>shard-a.0/RecvChunkStart",
		Nth:      1,
		Node:     "shard-b.0",
		Class:    "RecvChunkStart",
		Steering: 1,
		Call:     true,
		Doubles:  true,
		Phase:    "kCloning",
		Actor:    "donor",
	},
	{
		What:  runner.FailpointPassed,
		Site:  "replica.journal.beforeSync",
		Nth:   7,
		Node:  "shard-a.0",
		Role:  failpoint.Replica,
		Phase: "kCloning",
		Actor: "recipient",
	},
	{
		What:  runner.MessageSent,
		Site:  "router.0>client.0/Find.reply",
		Nth:   3,
		Node:  "router.0",
		Class: "Find",
		Reply: true,
		Phase: "kCloning",
		Actor: "router",
	},
	{
		What:  runner.FailpointPassed,
		Site:  "request.versionCheck.after",
		Nth:   4,
		Node:  "shard-b.0",
		Role:  failpoint.Request,
		Phase: "kCriticalSection",
		Actor: "donor",
	},
	{
		What:     runner.MessageSent,
		Site:     "config.0>shard-b.0/CommitChunkMigration.reply",
		Nth:      1,
		Node:     "config.0",
		Class:    "CommitChunkMigration",
		Steering: 2,
		Reply:    true,
		Phase:    "kCommittingOnConfig",
		Actor:    "config",
	},
	{
		What:  runner.FailpointPassed,
		Site:  "donor.register",
		Nth:   2,
		Node:  "shard-b.0",
		Role:  failpoint.Donor,
		Phase: "kDone",
		Actor: "donor",
	},
}

const wantAnchors = `copy-held: fault 1 at 0s duplicate shard-b.0>shard-a.0 messages=RecvChunkStart count=1 skip=0 copy=held
held: fault 1 at 0s hold config.0>shard-b.0 messages=CommitChunkMigration count=1 skip=0 part=reply
held: fault 1 at 0s hold shard-b.0>shard-a.0 messages=RecvChunkStart count=1 skip=0 part=request
paused: fault 1 at donor.register #1 by shard-b.0 pause ""
paused: fault 1 at donor.register #2 by shard-b.0 pause ""
paused: fault 1 at request.versionCheck.after #4 by shard-b.0 pause ""
`

// TestWhatCanBeHeldBack lists the anchors of each sort; those of the commit window come first.
func TestWhatCanBeHeldBack(t *testing.T) {
	anchors := Anchors(migrating)
	var lines []string
	for _, a := range anchors {
		lines = append(lines, fmt.Sprintf("%s: %s\n", a.Kind, a.FaultCase.String()))
	}
	if !strings.HasPrefix(lines[0], "held: fault 1 at 0s hold config.0>shard-b.0") {
		t.Errorf("the first is %s, and not of the commit window", lines[0])
	}
	if diff := cmp.Diff(wantAnchors, inOrder(lines)); diff != "" {
		t.Error(diff)
	}
}

func inOrder(lines []string) string {
	for i := range lines {
		for j := i; j > 0 && lines[j] < lines[j-1]; j-- {
			lines[j], lines[j-1] = lines[j-1], lines[j]
		}
	}
	return strings.Join(lines, "")
}

const wantUntil = `fault 1 at 0s hold shard-b.0>shard-a.0 messages=RecvChunkStart count=1 skip=0 part=request until donor.register #2
fault 1 at 0s duplicate shard-b.0>shard-a.0 messages=RecvChunkStart count=1 skip=0 copy=held until donor.register #2
fault 1 at donor.register #1 by shard-b.0 pause "" until donor.register #1
`

// TestUntilSomethingHappens counts passages from the start for a message, and from when it stands
// still for a task. What did not happen while something was held back is not waited for.
func TestUntilSomethingHappens(t *testing.T) {
	var b strings.Builder
	for _, want := range []string{"hold shard-b.0", "duplicate", "donor.register #1"} {
		for _, a := range Anchors(migrating) {
			if !strings.Contains(a.FaultCase.String(), want) {
				continue
			}
			for _, s := range a.Until(migrating) {
				fmt.Fprintln(&b, s.String())
			}
		}
	}
	if diff := cmp.Diff(wantUntil, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestFirstPairs numbers each pair once, and those of the first singles first.
func TestFirstPairs(t *testing.T) {
	seen := make(map[[2]int]bool)
	for i := range 10 * 9 / 2 {
		a, b := FirstPairs(i)
		if a < 0 || a >= b || b > 9 || seen[[2]int{a, b}] {
			t.Fatalf("pair %d is (%d, %d)", i, a, b)
		}
		seen[[2]int{a, b}] = true
		if i == 5 && b != 3 {
			t.Errorf("the sixth pair is (%d, %d), want one of the first four singles", a, b)
		}
	}
}

// TestPairsOfMany numbers the pairs of more singles than anybody will try.
func TestPairsOfMany(t *testing.T) {
	const singles = 142_071
	last := singles*(singles-1)/2 - 1
	if a, b := FirstPairs(last); a != singles-2 || b != singles-1 {
		t.Errorf("the last pair of %d singles is (%d, %d)", singles, a, b)
	}
	p := &Plan{Singles: make([]FaultCase, singles)}
	for number := range 1000 {
		if a, b := p.Pair(number); a < 0 || a >= b || b >= singles {
			t.Fatalf("pair %d is (%d, %d) of %d singles", number, a, b, singles)
		}
	}
}
