package configsvr

import (
	"fmt"
	"testing"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// TestNamesAreForgotten: the catalog reader keeps nothing of names that are not those of sharded
// collections, however many are asked for.
func TestNamesAreForgotten(t *testing.T) {
	m := &member{data: store.New()}
	b := newCatalogReader(m)
	write := func(ops ...oplog.Op) {
		t.Helper()
		if err := m.write(b, ops...); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(ns string) *catalog.Table {
		t.Helper()
		table, err := b.latest(ns)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	db, err := PutDatabase(NewDatabase("test", "shard-a", 1), "made")
	if err != nil {
		t.Fatal(err)
	}
	write(db)
	for i := range 100 {
		ask(fmt.Sprintf("test.name%d", i))
	}
	coll := collection("test.docs", 1)
	ops, err := made(coll, 10)
	if err != nil {
		t.Fatal(err)
	}
	write(ops...)
	table := ask(coll.NS)
	if n := len(b.caches); n != 1 {
		t.Errorf("%d names are remembered of one sharded collection", n)
	}
	gone := []oplog.Op{deleteOp(Collections, coll.NS)}
	for c := range table.Chunks() {
		gone = append(gone, deleteOp(Chunks, catalog.ChunkID(coll.UUID, c.Min)))
	}
	write(gone...)
	if !ask(coll.NS).Collection().Unsharded {
		t.Errorf("%s is sharded still", coll.NS)
	}
	if n := len(b.caches); n != 0 {
		t.Errorf("%d names are remembered of no sharded collection", n)
	}
}
