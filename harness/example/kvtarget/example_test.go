package kvtarget_test

import (
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness/example/kvtarget"
	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/harnesstest"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/shrink"
	"github.com/shardproof/shardproof/harness/sweep"
	"github.com/shardproof/shardproof/harness/target"
)

var (
	sound     = target.Set{kvtarget.Target{}}
	forgetful = target.Set{kvtarget.Target{ForgetsChanges: true}}
)

// TestSeeds runs drawn scenarios: the store holds its promises.
func TestSeeds(t *testing.T) { harnesstest.Check(t, harnesstest.Suite{Targets: sound, Seeds: 100}) }

// TestSweep tries every single fault at everything that happens in a movement: the store holds its
// promises.
func TestSweep(t *testing.T) {
	harnesstest.Sweep(t,
		harnesstest.SweepSuite{Targets: sound, Scenario: kvtarget.Base("kvstore", 1)})
}

// The planted bug is found by trying every fault at everything that happens while a range moves,
// explained, and made small.
func Example() {
	plan, _, err := sweep.PlanOf(forgetful, kvtarget.Base("kvstore-forgetful", 1), nil)
	if err != nil {
		log.Fatal(err)
	}
	var failed *runner.Result
	err = sweep.Run(plan,
		sweep.Part{Targets: forgetful, Done: func(_ int, _ sweep.Outcome, r *runner.Result) bool {
			failed = r
			return r == nil
		}})
	if err != nil || failed == nil {
		log.Fatal("the planted bug was not found: ", err)
	}
	found, err := shrink.Failure(failed.Scenario, shrink.Options{Targets: forgetful})
	if err != nil {
		log.Fatal(err)
	}
	r, err := runner.Run(found.Scenario, runner.Options{Targets: forgetful, Events: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Signature(), "with", shrink.Sizes(found.Scenario))
	for _, line := range explain.StoryLines(r) {
		fmt.Println(strings.TrimSpace(line))
	}
	// Output:
	// lost-write with 1 client, 1 operation, 1 migration, 1 decision, 2 settings
	// 60.99ms  migration m1 [MinKey, MaxKey) shard-a → shard-b: requested, donor kCloning
	// 61.93ms  shard-b.0 writes k=0 = i0, as recipient of m1
	// 62.03ms  migration m1: donor kCloneCaughtUp
	// 71.38ms  shard-a.0 deletes k=0, for client 0 (op 36)
	// 71.48ms  client 0: delete k=0 → acknowledged, replaced i0 (op 36, began 70.89ms)
	// 72.23ms  migration m1: donor kCriticalSection
	// then  random fault: net.loss of CatchUp from shard-a.0 to shard-b.0
	// 101.26ms  migration m1: donor kCommittingOnConfig
	// 101.52ms  config writes move m1: [MinKey, MaxKey) on shard-b 5|0
	// then  HERE  from now on k=0 is owned by shard-b, which has i0; shard-a had nothing
	// 212.7ms  client 0: write k=0 f0 → acknowledged, replaced i0 (op 1000000, began 201.72ms)
	// left out: 19 unrelated events
}
