package rangedel_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// owner is a table of the collection in which one shard has everything.
func owner(t *testing.T, name string, made int64) *catalog.Table {
	coll := catalog.Collection{
		NS: ns, UUID: "uuid", Epoch: "e", Timestamp: hlc.At(made), Key: key.Pattern{Field: "k"},
	}
	chunks, err := catalog.First(coll, nil, []string{name})
	if err != nil {
		t.Fatal(err)
	}
	table, err := catalog.NewTable(coll, chunks)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestSweepIsAbandoned: a range that is the shard's by now is not swept, nor another collection of
// the name.
func TestSweepIsAbandoned(t *testing.T) {
	recreated := append([]oplog.Op{{Kind: oplog.Drop, NS: ns}}, founding()...)
	recreated[1].Doc = store.EncodeOptions("another", key.Pattern{Field: "k"})
	for _, c := range []struct {
		about     string
		meanwhile func(env.Task, *replset.Member, *shard.Server)
		left      int
	}{
		{"nothing", func(env.Task, *replset.Member, *shard.Server) {}, 10},
		{"claimed", func(_ env.Task, _ *replset.Member, s *shard.Server) {
			s.Collection(ns).Install(owner(t, "shard-a", 2))
		}, 20},
		{"recreated", func(run env.Task, m *replset.Member, _ *shard.Server) {
			write(run, m, recreated...)
		}, 20},
	} {
		onShard(t, func(
			run env.Task, m *replset.Member, s *shard.Server, r *rangedel.Service,
		) {
			s.Collection(ns).Install(owner(t, "shard-b", 1))
			k := task("m1", between(5, 15), false)
			k.When = rangedel.Delayed
			if err := r.CleanUp(k); err != nil {
				t.Fatal(err)
			}
			c.meanwhile(run, m, s)
			if run.Sleep(time.Hour/2) != nil || m.Store().Count(ns, store.Latest) != c.left {
				t.Errorf("%s: %d documents are left, not %d",
					c.about, m.Store().Count(ns, store.Latest), c.left)
			}
		})
	}
}

// TestWarningOfASweep: a secondary that reads the warning in the log knows which of its queries
// have lost documents.
func TestWarningOfASweep(t *testing.T) {
	onShard(t, func(_ env.Task, _ *replset.Member, s *shard.Server, r *rangedel.Service) {
		s.Collection(ns).Install(owner(t, "shard-a", 1))
		query := s.Collection(ns).Take()
		defer query.Drop()
		warning, err := bson.Marshal(bson.D{
			{Key: "_id", Value: "startRangeDeletion"}, {Key: "ns", Value: ns},
			{Key: "uuid", Value: "uuid"}, {Key: "min", Value: []byte(key.Int(5))},
			{Key: "max", Value: []byte(key.Int(15))},
		})
		if err != nil {
			t.Fatal(err)
		}
		r.Applied(1, &oplog.Entry{Ops: []oplog.Op{{
			Kind: oplog.Update, NS: shard.VersionNS, ID: string(key.String("startRangeDeletion")),
			Doc: warning,
		}}}, false)
		if !query.Lost(between(14, 20)) || query.Lost(between(15, 20)) {
			t.Errorf("lost from 14 on: %t, from 15 on: %t",
				query.Lost(between(14, 20)), query.Lost(between(15, 20)))
		}
	})
}
