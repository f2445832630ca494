package held

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/store"
)

// A routing table is compared chunk by chunk with the one that the log has, the part of it that was
// asked for and every field.
func TestTables(t *testing.T) {
	coll := catalog.Collection{
		NS: "test.docs", UUID: "u", Epoch: "e", Timestamp: hlc.Timestamp(1),
		Key: key.Pattern{Field: "k"}, AllowMigrations: true,
	}
	ops, err := configsvr.Founding(coll, []key.Key{key.Int(5)}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	h := &Log{Store: store.New(), Committed: 1, Tables: &configsvr.TableReader{}}
	if err := h.Store.Apply(1, ops); err != nil {
		t.Fatal(err)
	}
	table, err := configsvr.ReadTable(h.Store, coll.NS, 1)
	if err != nil {
		t.Fatal(err)
	}
	newest := table.Version()
	for name, c := range map[string]struct {
		spoil   func(*command.RoutingUpdate)
		differs string
	}{
		"the same":           {func(*command.RoutingUpdate) {}, ""},
		"another owner":      {func(u *command.RoutingUpdate) { u.Chunks[1].Shard = "a" }, "its log says"},
		"another date":       {func(u *command.RoutingUpdate) { u.Chunks[0].OnCurrentShardSince++ }, "its log says"},
		"a flag":             {func(u *command.RoutingUpdate) { u.Chunks[0].Jumbo = true }, "its log says"},
		"no history":         {func(u *command.RoutingUpdate) { u.Chunks[0].History = nil }, "its log says"},
		"a chunk is missing": {func(u *command.RoutingUpdate) { u.Chunks = u.Chunks[:1] }, "leaves out"},
		"a chunk too many": {func(u *command.RoutingUpdate) {
			u.Chunks = append(u.Chunks, u.Chunks[0])
		}, "adds"},
		"another collection": {func(u *command.RoutingUpdate) { u.Collection.UUID = "v" }, "its log says"},
		"only what is new": {func(u *command.RoutingUpdate) {
			u.Full, u.Chunks = false, table.Since(newest)
		}, ""},
		"nothing new": {func(u *command.RoutingUpdate) { u.Full, u.Chunks = false, nil }, "leaves out"},
	} {
		told := &command.RoutingUpdate{
			Collection: table.Collection(), Chunks: slices.Collect(table.Chunks()), Full: true,
		}
		c.spoil(told)
		differs := h.Differs(&command.GetRoutingTable{NS: coll.NS, Since: newest}, told)
		if differs == "" != (c.differs == "") || !strings.Contains(differs, c.differs) {
			t.Errorf("%s: %q, not %q", name, differs, c.differs)
		}
	}
	h.Committed = 0
	if differs := h.Differs(&command.GetRoutingTable{NS: coll.NS}, &command.RoutingUpdate{
		Collection: table.Collection(),
	}); !strings.Contains(differs, "its log says") {
		t.Errorf("of what no majority has: %q", differs)
	}
}
