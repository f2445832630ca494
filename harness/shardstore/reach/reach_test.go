package reach

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

const ns = "test.docs"

// member has entries from one index on; entry 0 of a log is forgotten always.
type member struct {
	first   uint64
	entries []*oplog.Entry
	data    *store.Store
}

func (m *member) Applied() oplog.Time {
	return oplog.Time{Index: m.first + uint64(len(m.entries)) - 1}
}

func (m *member) Store() *store.Store { return m.data }

func (m *member) Entry(index uint64) (*oplog.Entry, uint64, bool) {
	if index < m.first || index >= m.first+uint64(len(m.entries)) {
		return nil, 0, false
	}
	return m.entries[index-m.first], 1, true
}

// holding is a member whose log begins with entry 3, and whose states begin with oldest. Entry 5
// has no time, as one by which a term begins.
func holding(t *testing.T, oldest uint64, last oplog.Op) *member {
	t.Helper()
	m := &member{first: 3, data: store.New()}
	for _, ts := range []hlc.Timestamp{30, 40, 0, 60, 70} {
		m.entries = append(m.entries, &oplog.Entry{TS: ts, Ops: []oplog.Op{
			{Kind: oplog.Noop, NS: "test.more"},
		}})
	}
	m.entries[4].Ops = []oplog.Op{last}
	for i := uint64(1); i <= 7; i++ {
		if err := m.data.Apply(i, nil); err != nil {
			t.Fatal(err)
		}
	}
	m.data.SetOldest(oldest)
	return m
}

func TestState(t *testing.T) {
	for name, c := range map[string]struct {
		at     hlc.Timestamp
		oldest uint64
		there  bool
		last   oplog.Op // of an entry of the time 70
	}{
		"of an entry":            {40, 1, true, oplog.Op{}},
		"between entries":        {55, 1, true, oplog.Op{}},
		"the newest":             {99, 1, true, oplog.Op{}},
		"the oldest that is":     {60, 6, true, oplog.Op{}},
		"before the oldest":      {55, 6, false, oplog.Op{}},
		"before the log":         {29, 1, false, oplog.Op{}},
		"of the first entry":     {30, 1, true, oplog.Op{}},
		"of the entry before it": {20, 1, false, oplog.Op{}},
		"renamed since":          {60, 1, false, oplog.Op{Kind: oplog.Rename, NS: "test.more", ID: ns}},
		"renamed before":         {70, 1, true, oplog.Op{Kind: oplog.Rename, NS: "test.more", ID: ns}},
		"another is renamed":     {60, 1, true, oplog.Op{Kind: oplog.Rename, NS: ns, ID: "test.more"}},
	} {
		m := holding(t, c.oldest, c.last)
		if got := State(m, ns, c.at); got == "" == c.there {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What begins later than the history of chunks is worth reading at, too.
func TestBounds(t *testing.T) {
	coll := catalog.Collection{NS: ns, Epoch: "one", Timestamp: 10, Key: key.Pattern{Field: "k"}}
	chunk := func(lo, hi key.Key, minor uint32, since ...hlc.Timestamp) catalog.Chunk {
		c := catalog.Chunk{
			Range: key.Range{Min: lo, Max: hi}, Shard: "a", OnCurrentShardSince: since[0],
			Version: catalog.Version{Epoch: "one", Timestamp: 10, Major: 1, Minor: minor},
		}
		for _, ts := range since {
			c.History = append(c.History, catalog.Placement{ValidAfter: ts, Shard: "a"})
		}
		return c
	}
	table, err := catalog.NewTable(coll, []catalog.Chunk{
		chunk(key.Min, key.Int(5), 0, 55, 40), chunk(key.Int(5), key.Max, 1, 20),
	})
	if err != nil {
		t.Fatal(err)
	}
	members := []Member{
		holding(t, 6, oplog.Op{}), holding(t, 3, oplog.Op{}), holding(t, 1, oplog.Op{}),
	}
	if got := Bounds(table, members); !slices.Equal(got, []hlc.Timestamp{40, 60}) {
		t.Errorf("the bounds are %v", got)
	}
}

func TestChanges(t *testing.T) {
	for name, c := range map[string]struct {
		since     hlc.Timestamp
		last      oplog.Op
		unsharded bool
		there     bool
	}{
		"all of them":             {40, oplog.Op{}, false, true},
		"before the log":          {29, oplog.Op{}, false, false},
		"a document":              {40, oplog.Op{Kind: oplog.Insert, NS: ns}, true, true},
		"made":                    {40, oplog.Op{Kind: oplog.Create, NS: ns}, false, false},
		"made before":             {70, oplog.Op{Kind: oplog.Create, NS: ns}, false, true},
		"renamed":                 {40, oplog.Op{Kind: oplog.Rename, NS: "test.a", ID: ns}, false, false},
		"its database has come":   {40, oplog.Op{Kind: oplog.Noop, NS: "test"}, true, false},
		"that matters not here":   {40, oplog.Op{Kind: oplog.Noop, NS: "test"}, false, true},
		"was sharded":             {40, oplog.Op{Kind: oplog.Noop, NS: ns}, true, false},
		"another one was made":    {40, oplog.Op{Kind: oplog.Create, NS: "test.a"}, true, true},
		"a sharded one announces": {40, oplog.Op{Kind: oplog.Noop, NS: ns}, false, true},
	} {
		if got := Changes(holding(t, 1, c.last), ns, c.unsharded, c.since); got == "" == c.there {
			t.Errorf("%s: %q", name, got)
		}
	}
}
