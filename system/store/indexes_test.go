package store_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// TestIndexesFollowTheirCollection: indexes come and go with entries, are rolled back and copied
// like documents, and end with their collection and with no other.
func TestIndexesFollowTheirCollection(t *testing.T) {
	spec, err := bson.Marshal(bson.D{{Key: "name", Value: "v_1"}})
	if err != nil {
		t.Fatal(err)
	}
	create := func(ns string) oplog.Op {
		return oplog.Op{
			Kind: oplog.Create,
			NS:   ns,
			Doc:  store.EncodeOptions("u", key.Pattern{Field: "k"}),
		}
	}
	index := func(kind oplog.Kind, ns, name string) oplog.Op {
		return oplog.Op{Kind: kind, NS: ns, ID: name, Doc: spec}
	}
	s := store.New()
	for i, c := range []struct {
		op   oplog.Op
		want string
	}{
		{create("t.a"), ""},
		{create("t.ab"), ""},
		{index(oplog.CreateIndex, "t.a", "v_1"), "t.a: v_1"},
		{index(oplog.CreateIndex, "t.a", "a_1"), "t.a: a_1 v_1"},
		{index(oplog.CreateIndex, "t.ab", "v_1"), "t.a: a_1 v_1; t.ab: v_1"},
		{index(oplog.DropIndex, "t.a", "v_1"), "t.a: a_1; t.ab: v_1"},
		{oplog.Op{Kind: oplog.Drop, NS: "t.a"}, "t.ab: v_1"},
		{create("t.a"), "t.ab: v_1"},
	} {
		if err := s.Apply(uint64(i+1), []oplog.Op{c.op}); err != nil {
			t.Fatal(err)
		}
		if got := listed(s); got != c.want {
			t.Errorf("after %d: %q, want %q", i+1, got, c.want)
		}
	}
	if err := s.Apply(9, []oplog.Op{index(oplog.CreateIndex, "t.none", "v_1")}); err == nil {
		t.Error("a missing collection got an index")
	}
	image, err := s.Snapshot(nil, 5)
	if err != nil {
		t.Fatal(err)
	}
	copied := store.New()
	if err := copied.Restore(image, 5); err != nil {
		t.Fatal(err)
	}
	s.Rollback(5)
	if got, want := listed(s), "t.a: a_1 v_1; t.ab: v_1"; got != want || listed(copied) != want {
		t.Errorf("rolled back: %q, copied: %q, want %q", got, listed(copied), want)
	}
}

func listed(s *store.Store) string {
	var all []string
	for _, ns := range []string{"t.a", "t.ab"} {
		var names []string
		for _, i := range s.Indexes(ns) {
			names = append(names, i.Name)
		}
		if names != nil {
			all = append(all, ns+": "+strings.Join(names, " "))
		}
	}
	return strings.Join(all, "; ")
}
