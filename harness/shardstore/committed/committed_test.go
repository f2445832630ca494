package committed_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/harness/shardstore/committed"
	"github.com/shardproof/shardproof/system/oplog"
)

type log []oplog.Entry

func (l log) Entry(index uint64) (*oplog.Entry, uint64, bool) { return &l[index-1], 1, true }

func task(kind oplog.Kind, fields ...bson.E) oplog.Op {
	doc, err := bson.Marshal(bson.D(fields))
	if err != nil {
		panic(err)
	}
	return oplog.Op{Kind: kind, NS: "config.rangeDeletions", ID: "m", Doc: doc}
}

// What a majority has is judged once, by the fields of the documents, with what the same entry
// renames.
func TestCommitted(t *testing.T) {
	ns := func(name string) bson.E { return bson.E{Key: "nss", Value: name} }
	processing := bson.E{Key: "processing", Value: true}
	l := log{
		{Ops: []oplog.Op{task(oplog.Insert, ns("test.a"))}},
		{Ops: []oplog.Op{{Kind: oplog.Rename, NS: "test.a", ID: "test.b"},
			task(oplog.Update, ns("test.b"))}},
		{Ops: []oplog.Op{task(oplog.Update, ns("test.b"), processing)}},
		{Ops: []oplog.Op{task(oplog.Update, ns("test.a"), processing)}},
		{Ops: []oplog.Op{{Kind: oplog.Delete, NS: "config.rangeDeletions", ID: "m"}}},
		{Ops: []oplog.Op{task(oplog.Insert, ns("test.b"))}},
	}
	r := committed.New()
	for i, want := range []int{0, 0, 0, 1, 1, 1} {
		for range 2 {
			r.Committed("shard-a", uint64(i+1), l)
		}
		if v := r.Records.Verdict(); len(v.Violations) != want {
			t.Fatalf("after entry %d: %v, want %d violations", i+1, v.Violations, want)
		}
	}
}
