package scans

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

const ns = "test.docs"

// member has every entry of its log from first on. The time of an entry is its index.
type member struct {
	first, committed uint64
	entries          []*oplog.Entry
	data             *store.Store
}

func (m *member) Applied() oplog.Time   { return oplog.Time{Index: uint64(len(m.entries))} }
func (m *member) Committed() oplog.Time { return oplog.Time{Index: m.committed} }
func (m *member) Store() *store.Store   { return m.data }

func (m *member) Entry(index uint64) (*oplog.Entry, uint64, bool) {
	if index < m.first || index > uint64(len(m.entries)) {
		return nil, 0, false
	}
	return m.entries[index-1], 1, true
}

func (m *member) IndexAt(ts hlc.Timestamp) (uint64, error) {
	if uint64(ts) < m.first {
		return 0, errcode.New(errcode.SnapshotTooOld, "too old")
	}
	return uint64(ts), nil
}

func (m *member) write(t *testing.T, ops ...oplog.Op) {
	t.Helper()
	m.entries = append(m.entries, &oplog.Entry{Ops: ops})
	if err := m.data.Apply(uint64(len(m.entries)), ops); err != nil {
		t.Fatal(err)
	}
}

func doc(t *testing.T, id int64) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(bson.D{{Key: "_id", Value: id}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func on(t *testing.T, kind oplog.Kind, id int64) oplog.Op {
	t.Helper()
	op := oplog.Op{Kind: kind, NS: ns, ID: string(key.Int(id))}
	if kind != oplog.Delete {
		op.Doc = doc(t, id)
	}
	return op
}

// orphan is an operation of the range deleter.
func orphan(op oplog.Op) oplog.Op {
	op.Actor = uint8(trace.RangeDeleter)
	return op
}

// TestLeftOut: the member has 1, 2 and 3, of which a majority has 1 and 2, when a query comes.
func TestLeftOut(t *testing.T) {
	rename := oplog.Op{Kind: oplog.Rename, NS: ns, ID: "test.more"}
	for name, c := range map[string]struct {
		find     command.Find
		since    []oplog.Op // written while the query runs
		batches  [][]int64
		undone   bool // something, while the query runs
		first    uint64
		unjudged bool
		lossy    bool
		lags     bool // the member lets the query in when it has everything that is written
		left     []int64
	}{
		"everything":            {batches: [][]int64{{1, 2, 3}}},
		"in batches":            {batches: [][]int64{{1}, {2, 3}}},
		"one is missing":        {batches: [][]int64{{1, 3}}, left: []int64{2}},
		"between batches":       {batches: [][]int64{{1}, {3}}, left: []int64{2}},
		"nothing":               {batches: [][]int64{{}}, left: []int64{1, 2, 3}},
		"a majority has it not": {find: command.Find{Concern: command.MajorityRead}, batches: [][]int64{{1, 2}}},
		"a majority has it": {
			find: command.Find{Concern: command.MajorityRead}, batches: [][]int64{{1}},
			left: []int64{2},
		},
		"at an earlier time": {
			find: command.Find{Concern: command.Snapshot, At: 2}, batches: [][]int64{{}},
			left: []int64{1},
		},
		"deleted after that time": {
			find: command.Find{Concern: command.Snapshot, At: 2}, batches: [][]int64{{}},
			since: []oplog.Op{on(t, oplog.Delete, 1)}, left: []int64{1},
		},
		"of no known time": {
			find: command.Find{Concern: command.Snapshot, At: 2}, batches: [][]int64{{}},
			first: 3, unjudged: true,
		},
		"deleted meanwhile": {batches: [][]int64{{2, 3}}, since: []oplog.Op{on(t, oplog.Delete, 1)}},
		"deleted below the query": {
			batches: [][]int64{{2, 3}}, since: []oplog.Op{orphan(on(t, oplog.Delete, 1))},
			left: []int64{1},
		},
		"deleted before the query is let in": {
			batches: [][]int64{{2, 3}}, since: []oplog.Op{orphan(on(t, oplog.Delete, 1))}, lags: true,
		},
		"returned, then deleted": {
			batches: [][]int64{{1, 2, 3}}, since: []oplog.Op{orphan(on(t, oplog.Delete, 1))},
		},
		"deleted by a client first": {
			batches: [][]int64{{2, 3}},
			since: []oplog.Op{
				on(t, oplog.Delete, 1), on(t, oplog.Insert, 1), orphan(on(t, oplog.Delete, 1)),
			},
		},
		"deleted as operators allow": {
			batches: [][]int64{{2, 3}}, since: []oplog.Op{orphan(on(t, oplog.Delete, 1))}, lossy: true,
		},
		"written meanwhile": {batches: [][]int64{{2, 3}}, since: []oplog.Op{on(t, oplog.Update, 1)}},
		"new":               {batches: [][]int64{{1, 2, 3}}, since: []oplog.Op{on(t, oplog.Insert, 4)}},
		"renamed meanwhile": {batches: [][]int64{{}}, since: []oplog.Op{rename}, unjudged: true},
		"forgotten": {
			batches: [][]int64{{}}, since: []oplog.Op{on(t, oplog.Insert, 4)}, first: 6, unjudged: true,
		},
		"undone": {batches: [][]int64{{1}, {3}}, undone: true, unjudged: true},
		"not selected": {
			find: command.Find{Filter: doc(t, 2)}, batches: [][]int64{{}}, left: []int64{2},
		},
	} {
		m := &member{first: max(1, c.first), committed: 3, data: store.New()}
		m.write(t, oplog.Op{Kind: oplog.Create, NS: ns, Doc: store.EncodeOptions("u", key.Pattern{})})
		for id := int64(1); id <= 3; id++ {
			m.write(t, on(t, oplog.Insert, id))
		}
		c.find.NS = ns
		x := &env.Exchange{To: "a.0", Began: 5}
		x.Mark.Applied = Oldest(m, c.find.Concern)
		for _, op := range c.since {
			m.write(t, op)
		}
		left, judged := answered(t, m, x, &c.find, c.batches, c.undone, c.lossy, func(index uint64) bool {
			return !c.lags || index == m.Applied().Index
		})
		if judged == c.unjudged || !slices.Equal(left, c.left) {
			t.Errorf("%s: judged %t, left out %v, want %v", name, judged, left, c.left)
		}
	}
}

func answered(
	t *testing.T, m Member, x *env.Exchange, find *command.Find, batches [][]int64, undone, lossy bool,
	letIn func(uint64) bool,
) (left []int64, judged bool) {
	t.Helper()
	s := New()
	for i, ids := range batches {
		var asked env.Message = find
		if i > 0 {
			asked = &command.GetMore{Cursor: "c"}
		}
		b := &command.Batch{Cursor: "c"}
		if i == len(batches)-1 {
			b.Cursor = ""
		}
		for _, id := range ids {
			b.Docs = append(b.Docs, doc(t, id))
		}
		if undone {
			s.Undone("a.0", 5)
		}
		of := s.Answered(x, asked, b)
		if of == nil {
			continue
		}
		docs, known := of.LeftOut(m, lossy, letIn)
		for _, d := range docs {
			left = append(left, d.Lookup("_id").AsInt64())
		}
		return left, known
	}
	return nil, false
}
