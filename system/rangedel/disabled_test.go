package rangedel_test

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/shard"
)

// TestNobodyWaitsWhileDisabled: where range deletion is disabled, a task that is there stays. Who
// waits for it is told so, at once, and nobody who waits for nothing.
func TestNobodyWaitsWhileDisabled(t *testing.T) {
	s := settings.Default80()
	s.DeleterDisabled = 1
	waits := map[string]func(env.Task, *rangedel.Service) error{
		"cleanupOrphaned": func(run env.Task, r *rangedel.Service) error {
			return r.CleanupOrphaned(run, ns)
		},
		"_waitForDelete on the donor": func(run env.Task, r *rangedel.Service) error {
			return r.AwaitDone(run, "m1")
		},
		"_waitForDelete by the config server": func(run env.Task, r *rangedel.Service) error {
			return r.AwaitDeletion(run, "uuid", between(0, 10))
		},
		"a migration": func(run env.Task, r *rangedel.Service) error {
			return r.AwaitNoOverlap(run, "uuid", between(0, 10), time.Minute)
		},
	}
	onShardWith(t, s, func(
		run env.Task, m *replset.Member, _ *shard.Server, r *rangedel.Service,
	) {
		if err := r.Resume(run); err != nil {
			t.Fatal(err)
		}
		for name, wait := range waits {
			if err := wait(run, r); err != nil {
				t.Errorf("%s without a task: %v", name, err)
			}
		}
		write(run, m, r.Add(task("m1", between(5, 15), false)))
		for name, wait := range waits {
			var got error
			over := false
			run.Spawn(name, func(own env.Task) {
				got, over = wait(own, r), true
			})
			if err := run.Sleep(time.Second); err != nil {
				t.Fatal(err)
			}
			if !over || !errcode.Is(got, errcode.ResumableRangeDeleterDisabled) {
				t.Errorf("%s: answered %t with %v", name, over, got)
			}
		}
	})
}
