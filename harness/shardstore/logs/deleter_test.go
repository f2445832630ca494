package logs

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// keeper is a log and what it has made.
type keeper struct {
	entries
	data *store.Store
}

func (k keeper) Store() *store.Store { return k.data }

func kept(t *testing.T, all ...oplog.Op) keeper {
	t.Helper()
	k := keeper{data: store.New()}
	for i, op := range all {
		k.all = append(k.all, oplog.Entry{Ops: []oplog.Op{op}})
		if err := k.data.Apply(uint64(i+1), k.all[i].Ops); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

func encoded(t *testing.T, doc any) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func task(t *testing.T, processing bool) oplog.Op {
	t.Helper()
	return oplog.Op{
		Kind: oplog.Update, NS: rangedel.Namespace, ID: string(key.String("m")),
		Doc: encoded(t, rangedel.Task{
			Migration: "m", NS: "t.c", UUID: "u", Min: []byte("a"), Max: []byte("c"), Processing: processing,
		}),
	}
}

func warning(t *testing.T) oplog.Op {
	t.Helper()
	return oplog.Op{
		Kind: oplog.Update, NS: shard.VersionNS, ID: string(key.String("startRangeDeletion")),
		Tag: "m", Doc: encoded(t, bson.D{
			{Key: "ns", Value: "t.c"}, {Key: "uuid", Value: "u"}, {Key: "min", Value: []byte("a")}, {Key: "max", Value: []byte("c")},
		}),
	}
}

// TestAnnounced: where tasks are on record, the mark in the record announces a deletion; where not, a
// document of the term does.
func TestAnnounced(t *testing.T) {
	nop := oplog.Op{Kind: oplog.Noop}
	made := func(uuid string) oplog.Op {
		return oplog.Op{
			Kind: oplog.Create, NS: "t.c", Doc: store.EncodeOptions(uuid, key.Pattern{Field: "_id"}),
		}
	}
	for name, c := range map[string]struct {
		log       keeper
		records   bool
		term      uint64
		announced bool
		lost      string
	}{
		"marked": {
			kept(t, made("u"), task(t, false), task(t, true), nop), true, 1, true, "[{a c}]",
		},
		"ready":           {kept(t, made("u"), task(t, false), nop), true, 1, false, "[]"},
		"no task":         {kept(t, made("u"), nop), true, 1, true, "[]"},
		"warned":          {kept(t, made("u"), warning(t), nop), false, 1, true, "[{a c}]"},
		"not warned":      {kept(t, made("u"), nop), false, 1, false, "[]"},
		"in another term": {kept(t, made("u"), warning(t), nop), false, 2, false, "[{a c}]"},
		"announced at once": {
			kept(t, made("u"), warning(t)), false, 1, false, "[{a c}]",
		},
		"of a former collection": {kept(t, made("v"), warning(t), nop), false, 1, true, "[]"},
	} {
		d := Deleter{c.log, c.records}
		if got := d.Announced("m", c.term, d.Last()); got != c.announced {
			t.Errorf("%s: announced: %t", name, got)
		}
		if got := fmt.Sprint(d.Announces("t.c", 1, d.Last())); got != c.lost {
			t.Errorf("%s: announces %s, not %s", name, got, c.lost)
		}
	}
}

// TestUntouched: what an entry behind the index has written does not count, nor what is outside the
// range.
func TestUntouched(t *testing.T) {
	ops := []oplog.Op{{
		Kind: oplog.Create, NS: "t.c", Doc: store.EncodeOptions("u", key.Pattern{Field: "_id"}),
	}}
	for id := int64(1); id <= 4; id++ {
		ops = append(ops, oplog.Op{
			Kind: oplog.Insert, NS: "t.c", ID: string(key.Int(id)),
			Doc: encoded(t, bson.D{{Key: "_id", Value: id}, {Key: "v", Value: make([]byte, 10-id)}}),
		})
	}
	k := kept(t, append(ops, ops[2])...)
	documents, smallest, known := Untouched(k, "t.c", key.Range{Min: key.Int(1), Max: key.Int(4)}, 5)
	if documents != 2 || smallest != len(ops[4].Doc) || !known {
		t.Errorf("%d documents, the smallest of %d bytes, known: %t", documents, smallest, known)
	}
	k.forgotten = 6
	if _, _, known := Untouched(k, "t.c", key.Everything, 5); known {
		t.Error("an entry is forgotten, and known")
	}
}
