package oplog_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
)

// text has any bytes, as encoded keys do.
func text(t *rapid.T, label string) string {
	return string(rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, label))
}

func document(t *rapid.T, label string) bson.Raw {
	switch rapid.IntRange(0, 3).Draw(t, label) {
	case 0:
		return nil
	case 1:
		return bson.Raw{}
	}
	return bson.Raw(bsoncore.NewDocumentBuilder().AppendString("v", text(t, "v")).Build())
}

var statement = rapid.Custom(func(t *rapid.T) *oplog.Stmt {
	return &oplog.Stmt{
		Session: text(t, "session"),
		Txn:     rapid.Int64().Draw(t, "txn"),
		ID:      rapid.Int32().Draw(t, "id"),
		NS:      text(t, "ns"),
		Key:     text(t, "key"),
		Prev: oplog.Time{
			Term:  rapid.Uint64().Draw(t, "term"),
			Index: rapid.Uint64().Draw(t, "index"),
		},
		Result:  document(t, "result"),
		Image:   document(t, "image"),
		DeadEnd: rapid.Bool().Draw(t, "dead end"),
	}
})

var operation = rapid.Custom(func(t *rapid.T) oplog.Op {
	op := oplog.Op{
		Kind:        oplog.Kind(rapid.IntRange(0, 6).Draw(t, "kind")),
		NS:          text(t, "ns"),
		ID:          text(t, "id"),
		Doc:         document(t, "doc"),
		Actor:       rapid.Byte().Draw(t, "actor"),
		Tag:         text(t, "tag"),
		FromMigrate: rapid.Bool().Draw(t, "from migrate"),
		DocumentKey: document(t, "document key"),
	}
	if rapid.Bool().Draw(t, "stmt") {
		op.Stmt = statement.Draw(t, "stmt")
	}
	return op
})

var entry = rapid.Custom(func(t *rapid.T) *oplog.Entry {
	e := &oplog.Entry{TS: hlc.Timestamp(rapid.Uint64().Draw(t, "ts"))}
	for range rapid.IntRange(0, 3).Draw(t, "ops") {
		e.Ops = append(e.Ops, operation.Draw(t, "op"))
	}
	return e
})

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := entry.Draw(t, "entry")
		got, err := oplog.Unmarshal(want.Marshal())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("written (-) and read (+):\n%s", diff)
		}
	})
}

// TestBrokenEntries: a torn entry is an error; a flipped bit is an error or another entry, and
// never a panic.
func TestBrokenEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := entry.Draw(t, "entry").Marshal()
		n := rapid.IntRange(0, len(b)-1).Draw(t, "length")
		if e, err := oplog.Unmarshal(b[:n]); !errcode.Is(err, errcode.BadValue) {
			t.Fatalf("the first %d of %d bytes became %v, %v", n, len(b), e, err)
		}
		if _, err := oplog.Unmarshal(
			append(bytes.Clone(b), 0),
		); !errcode.Is(err, errcode.BadValue) {
			t.Fatalf("an entry with a byte more was read: %v", err)
		}
		b[n] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if e, err := oplog.Unmarshal(b); err == nil {
			e.Marshal()
		}
		if _, err := oplog.Unmarshal(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")); err != nil &&
			!errcode.Is(err, errcode.BadValue) {
			t.Fatal(err)
		}
	})
}

// TestSharedMemory: appending to a document that was read does not reach into its neighbour.
func TestSharedMemory(t *testing.T) {
	doc := bson.Raw(bsoncore.NewDocumentBuilder().AppendInt32("v", 1).Build())
	want := &oplog.Entry{
		TS: 1,
		Ops: []oplog.Op{
			{Kind: oplog.Insert, NS: "a", Doc: doc},
			{Kind: oplog.Insert, NS: "b", Doc: doc},
		},
	}
	got, err := oplog.Unmarshal(want.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	_ = append(got.Ops[0].Doc, 1, 2, 3, 4, 5, 6, 7, 8)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("written (-) and read (+):\n%s", diff)
	}
}

var sample = &oplog.Entry{TS: 1 << 40,
	Ops: []oplog.Op{{
		Kind: oplog.Update,
		NS:   "test.docs",
		ID:   "0123456789a",
		Tag:  "client.0/1",
		Doc: bson.Raw(bsoncore.NewDocumentBuilder().AppendInt64("_id", 1).AppendString("v",
			"w12").Build()),
		Stmt: &oplog.Stmt{Session: "client.0/1", Txn: 7, NS: "test.docs", Key: "0123456789a"},
	}}}

func BenchmarkMarshal(b *testing.B) {
	for b.Loop() {
		sample.Marshal()
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	p := sample.Marshal()
	for b.Loop() {
		if _, err := oplog.Unmarshal(p); err != nil {
			b.Fatal(err)
		}
	}
}
