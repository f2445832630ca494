package configsvr

import (
	"testing"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// TestMarkedReads: a table is read again when a document of the catalog has changed, and only then;
// what was rolled back is not remembered.
func TestMarkedReads(t *testing.T) {
	data := store.New()
	write := func(index uint64, ns, primary string) {
		t.Helper()
		doc, err := catalog.EncodeDatabase(catalog.Database{
			Name: "test", Primary: primary, Version: catalog.DatabaseVersion{UUID: "u", LastMod: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		op := oplog.Op{Kind: oplog.Insert, NS: ns, ID: string(key.String("test")), Doc: doc}
		if err := data.Apply(index, []oplog.Op{op}); err != nil {
			t.Fatal(err)
		}
	}
	var r TableReader
	owner := func(at uint64) string {
		table, err := r.Read(data, "test.docs", at)
		if err != nil {
			return ""
		}
		return table.Shards()[0]
	}
	expect := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, not %q", what, got, want)
		}
	}
	expect("before there is a database", owner(store.Latest), "")
	write(1, Databases, "a")
	first, _ := r.Read(data, "test.docs", store.Latest)
	write(2, Settings, "x")
	if again, _ := r.Read(data, "test.docs", store.Latest); again != first {
		t.Error("the table was read again, though nothing of it had changed")
	}
	write(3, Databases, "b")
	expect("changed", owner(store.Latest), "b")
	expect("before the change", owner(2), "a")
	data.Rollback(2)
	expect("rolled back", owner(store.Latest), "a")
	write(3, Databases, "c")
	expect("changed again", owner(3), "c")
}
