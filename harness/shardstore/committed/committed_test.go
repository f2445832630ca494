package committed_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/harness/shardstore/committed"
	"github.com/shardproof/shardproof/system/changestream"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

type log []oplog.Entry

func (l log) Entry(index uint64) (*oplog.Entry, uint64, bool) {
	return &l[index-1], 1, l[index-1].Ops != nil
}

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
			r.Committed("shard-a", uint64(i+1), 7, l)
		}
		if v := r.Records.Verdicts()[0]; len(v.Violations) != want {
			t.Fatalf("after entry %d: %v, want %d violations", i+1, v.Violations, want)
		}
	}
}

// A critical section says who ends it, and a range deletion whose outcome it waits for.
func TestLeftOpen(t *testing.T) {
	section := func(reason string) oplog.Op {
		doc, err := bson.Marshal(bson.D{{Key: "reason", Value: reason}})
		if err != nil {
			t.Fatal(err)
		}
		return oplog.Op{Kind: oplog.Insert, NS: "config.collection_critical_sections", ID: "x", Doc: doc}
	}
	record := oplog.Op{Kind: oplog.Insert, NS: "config.migrationRecipients",
		ID: string(key.String("m")), Doc: bson.Raw{5, 0, 0, 0, 0}}
	waits := task(oplog.Insert, bson.E{Key: "pending", Value: true})
	waits.ID = string(key.String("m"))
	for name, c := range map[string]struct {
		ops  []oplog.Op
		want int
	}{
		"a migration":            {[]oplog.Op{section("m"), record}, 0},
		"no migration":           {[]oplog.Op{section("m")}, 1},
		"an operation":           {[]oplog.Op{section("operation u 5")}, 1},
		"a deletion":             {[]oplog.Op{waits, record}, 0},
		"a deletion without":     {[]oplog.Op{waits}, 1},
		"a deletion that is due": {[]oplog.Op{task(oplog.Insert, bson.E{Key: "nss", Value: "test.a"})}, 0},
	} {
		r := committed.New()
		r.Committed("shard-a", 1, 7, log{{Ops: c.ops}})
		if v := r.Records.Verdicts()[1]; len(v.Violations) != c.want {
			t.Errorf("%s: %v, want %d violations", name, v.Violations, c.want)
		}
	}
}

// What a shard has recorded of a collection goes along when it is renamed.
func TestRenamed(t *testing.T) {
	share := func(ns string, fields ...bson.E) oplog.Op {
		doc, err := bson.Marshal(bson.D(fields))
		if err != nil {
			t.Fatal(err)
		}
		return oplog.Op{Kind: oplog.Update, NS: "config.ddlParticipations",
			ID: string(key.String(ns)), Doc: doc}
	}
	ends, err := bson.Marshal(bson.D{{Key: "type", Value: "endShardedCollection"}})
	if err != nil {
		t.Fatal(err)
	}
	end := oplog.Op{Kind: oplog.Noop, NS: "test.a", Doc: ends}
	formerly := func(names ...string) bson.E { return bson.E{Key: "formerly", Value: names} }
	keyed := func(at int64) bson.E { return bson.E{Key: "keyedAt", Value: at} }
	before := share("test.a", keyed(7), formerly("test.z"))
	for name, c := range map[string]struct {
		ops  []oplog.Op
		want int
	}{
		"all of it":        {[]oplog.Op{share("test.b", keyed(7), formerly("test.a", "test.z")), end}, 0},
		"without the key":  {[]oplog.Op{share("test.b", formerly("test.a", "test.z")), end}, 1},
		"without a name":   {[]oplog.Op{share("test.b", keyed(7), formerly("test.a")), end}, 1},
		"no rename":        {[]oplog.Op{share("test.b", formerly("test.a", "test.z"))}, 0},
		"of another name":  {[]oplog.Op{share("test.b", formerly("test.z")), end}, 0},
		"with another key": {[]oplog.Op{share("test.b", formerly("test.a", "test.z"), keyed(6)), end}, 1},
	} {
		r := committed.New()
		r.Committed("shard-a", 2, 7, log{{Ops: []oplog.Op{before}}, {Ops: c.ops}})
		if v := r.Records.Verdicts()[0]; len(v.Violations) != c.want {
			t.Errorf("%s: %v, want %d violations", name, v.Violations, c.want)
		}
	}
}

// What a log has forgotten may have been an owner, or its removal: nothing is judged after it.
func TestForgotten(t *testing.T) {
	waits := task(oplog.Insert, bson.E{Key: "pending", Value: true})
	r := committed.New()
	r.Committed("shard-a", 2, 7, log{{}, {Ops: []oplog.Op{waits}}})
	if v := r.Records.Verdicts()[1]; v.Checked != 0 {
		t.Fatalf("%d records were judged", v.Checked)
	}
}

// An arrival counts for the set and the move that have noted it, or when entries were not read.
func TestArrived(t *testing.T) {
	noted := changestream.Arrival("test")
	noted.Tag = "p1"
	l := log{
		{Ops: []oplog.Op{{Kind: oplog.Noop, NS: "test"}}}, {Ops: []oplog.Op{noted}}, {},
	}
	r := committed.New()
	for i, want := range []map[string]bool{
		{"p1": false, "p2": false}, {"p1": true, "p2": false}, {"p1": true, "p2": true},
	} {
		r.Committed("shard-a", uint64(i+1), 7, l)
		for move, noted := range want {
			if got := r.Arrived("shard-a", move); got != noted {
				t.Errorf("after entry %d, %s is noted: %v, want %v", i+1, move, got, noted)
			}
		}
	}
	r = committed.New()
	r.Committed("shard-a", 2, 7, l)
	if r.Arrived("shard-b", "p1") {
		t.Error("another set has noted it")
	}
}

// A receipt is told of once, when a majority has it.
func TestReceipts(t *testing.T) {
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "m1"}})
	if err != nil {
		t.Fatal(err)
	}
	of := func(kind oplog.Kind) oplog.Entry {
		return oplog.Entry{Ops: []oplog.Op{{
			Kind: kind, NS: "config.migrationRecipients", ID: "x", Doc: doc,
		}}}
	}
	l := log{of(oplog.Insert), of(oplog.Update), {Ops: []oplog.Op{task(oplog.Insert, bson.E{Key: "nss", Value: "test.a"})}}}
	r := committed.New()
	for i, want := range []int{1, 0, 0} {
		if got := r.Committed("shard-a", uint64(i+1), 7, l); len(got) != want {
			t.Errorf("entry %d tells of %q, and not of %d receipts", i+1, got, want)
		}
	}
}
