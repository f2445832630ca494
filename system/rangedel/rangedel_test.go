package rangedel_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/store"
)

const (
	ns   = "test.docs"
	self = env.NodeID("shard-a.0")
)

// onShard runs fn on the primary of a shard of one member that holds documents 0 to 19 and owns
// none of them.
func onShard(
	t *testing.T,
	fn func(t env.Task, m *replset.Member, s *shard.Server, r *rangedel.Service),
) {
	t.Helper()
	s := settings.Default80()
	s.RangeDeleterBatch = 3
	onShardWith(t, s, fn)
}

func onShardWith(
	t *testing.T, s settings.Settings,
	fn func(t env.Task, m *replset.Member, s *shard.Server, r *rangedel.Service),
) {
	t.Helper()
	w := sim.New(sim.Options{Seed: 1})
	defer w.Close()
	done := false
	w.AddNode(self, func(task env.Task) {
		now := hlc.New(task.Node())
		m := replset.Boot(task, replset.Config{
			Name:     "shard-a",
			Self:     self,
			Members:  []env.NodeID{self},
			Settings: &s,
			Clock:    now,
		})
		ep := rpc.Listen(task.Node(), now)
		server := shard.New(shard.Config{
			Member:   m,
			Endpoint: ep,
			Settings: &s,
			Sets:     map[string]*rpc.Set{},
		})
		r := rangedel.New(ep, m, server, &s)
		for !m.IsPrimary() {
			if task.Sleep(time.Millisecond) != nil {
				return
			}
		}
		write(task, m, founding()...)
		fn(task, m, server, r)
		done = true
	})
	w.Run(func() bool { return done }, env.Time(time.Hour))
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	if !done {
		t.Fatalf("the test did not end: %v", w.Tasks())
	}
}

func write(t env.Task, m *replset.Member, ops ...oplog.Op) {
	_, err := m.Write(t, ops...)
	t.Node().Assert(err == nil, "write: %v", err)
}

func founding() []oplog.Op {
	ops := []oplog.Op{{
		Kind: oplog.Create,
		NS:   ns,
		Doc:  store.EncodeOptions("uuid", key.Pattern{Field: "k"}),
	}}
	for k := range int64(20) {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: k}, {Key: "k", Value: k}})
		if err != nil {
			panic(err)
		}
		ops = append(ops, oplog.Op{Kind: oplog.Insert, NS: ns, ID: string(key.Int(k)), Doc: doc})
	}
	return ops
}

func between(lo, hi int64) key.Range { return key.Range{Min: key.Int(lo), Max: key.Int(hi)} }

func task(migration string, r key.Range, pending bool) rangedel.Task {
	return rangedel.Task{
		Migration: migration,
		NS:        ns,
		UUID:      "uuid",
		Min:       []byte(r.Min),
		Max:       []byte(r.Max),
		Pending:   pending,
		When:      rangedel.Now,
	}
}

func TestReadyTaskIsCarriedOut(t *testing.T) {
	onShard(t, func(run env.Task, m *replset.Member, _ *shard.Server, r *rangedel.Service) {
		if err := r.Resume(run); err != nil {
			t.Fatal(err)
		}
		write(run, m, r.Add(task("m1", between(5, 15), true)))
		if run.Sleep(time.Second) != nil || m.Store().Count(ns, store.Latest) != 20 {
			t.Errorf("a pending task has deleted")
		}
		if found, err := r.Ready(run, task("m1", between(5, 15), true).For()); err != nil ||
			!found {
			t.Errorf("ready: %t %v", found, err)
		}
		if err := r.AwaitDone(run, "m1"); err != nil {
			t.Error(err)
		}
		if n := m.Store().Count(ns, store.Latest); n != 10 {
			t.Errorf("%d documents are left, want 10", n)
		}
	})
}

// TestTasksAreNamedInFull: a late message of an old migration, or one with another range or
// collection, touches nothing (H-37).
func TestTasksAreNamedInFull(t *testing.T) {
	onShard(t, func(run env.Task, m *replset.Member, _ *shard.Server, r *rangedel.Service) {
		write(run, m, r.Add(task("new", between(5, 15), true)))
		right := task("new", between(5, 15), true).For()
		for _, wrong := range []rangedel.For{
			{Migration: "old", UUID: right.UUID, Range: right.Range},
			{Migration: "new", UUID: "other", Range: right.Range},
			{Migration: "new", UUID: right.UUID, Range: between(5, 16)},
		} {
			if found, err := r.Ready(run, wrong); found || err != nil {
				t.Errorf("ready %v: %t %v", wrong, found, err)
			}
			if found, err := r.Drop(run, wrong); found || err != nil {
				t.Errorf("drop %v: %t %v", wrong, found, err)
			}
		}
		if k, ok := r.Get(right); !ok || !k.Pending {
			t.Errorf("the task became %+v, %t", k, ok)
		}
	})
}

// TestOwnedBytes: what the balancer is told leaves out the orphans of the collection it asks about,
// and of no other.
func TestOwnedBytes(t *testing.T) {
	onShard(t, func(run env.Task, m *replset.Member, _ *shard.Server, r *rangedel.Service) {
		documents, bytes := m.Store().Extent(ns)
		for _, c := range []struct {
			uuid    string
			orphans int64
			want    int64
		}{
			{"other", 7, documents},
			{"uuid", 5, documents - 5},
			{"uuid", 2, documents - 7},
		} {
			k := task("m"+string(key.Int(c.orphans)), between(0, 5), true)
			k.UUID, k.Orphans = c.uuid, c.orphans
			write(run, m, r.Add(k))
			got := r.OwnedBytes(command.CollectionID{NS: ns, UUID: "uuid"})
			if want := c.want * bytes / documents; got != want {
				t.Errorf("with %d orphans of %q the shard owns %d bytes of %d, want %d",
					c.orphans, c.uuid, got, bytes, want)
			}
		}
	})
}

// TestIncomingMigrationWaits for every task that overlaps, pending or not, of the same collection.
func TestIncomingMigrationWaits(t *testing.T) {
	onShard(t, func(run env.Task, m *replset.Member, _ *shard.Server, r *rangedel.Service) {
		write(run, m, r.Add(task("m1", between(5, 15), true)))
		for _, c := range []struct {
			uuid string
			rng  key.Range
			want errcode.Code
		}{
			{"uuid", between(14, 20), errcode.ExceededTimeLimit},
			{"uuid", between(15, 20), ""},
			{"other", between(5, 15), ""},
		} {
			if err := r.AwaitNoOverlap(run, c.uuid, c.rng, time.Second); errcode.Of(err) != c.want {
				t.Errorf("%s %v: %v", c.uuid, c.rng, err)
			}
		}
	})
}
