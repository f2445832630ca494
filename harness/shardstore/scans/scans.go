// Package scans follows the queries that members of shards answer, and finds the selected documents
// that an answer leaves out, and queries that go on when their collection is gone.
//
// Promise: a document that it reports was in every state that the query may have read. It was there
// when the request came (for a majority read, majority-committed), and no entry of the log has
// touched it since, or the first one is the range deleter's, who has to wait for the query or end
// it; for a snapshot read, it was there at the read's time. So no wait, no migration and, unless
// operators accept it, no deletion explains that it is missing.
//
// Refusal: it does not know what a shard owns. It ignores a query if meanwhile the member was down,
// rolled back, or dropped, created or renamed the collection, or if its log has been truncated.
package scans

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/store"
)

// Member is what a member of a replica set has.
type Member interface {
	// Applied is the last entry of the log, Committed the last that a majority is known to have,
	// and Entry any that is not forgotten.
	Applied() oplog.Time
	Committed() oplog.Time
	Entry(index uint64) (e *oplog.Entry, term uint64, ok bool)
	IndexAt(hlc.Timestamp) (uint64, error)
	Store() *store.Store
}

// Oldest is the oldest state that a query may read which comes now.
func Oldest(m Member, concern command.ReadConcern) uint64 {
	if concern == command.MajorityRead {
		return m.Committed().Index
	}
	return m.Applied().Index
}

// OldestFor is Oldest for a request that begins a query, the newest entry for one that asks for the
// next batch, and 0 for any other.
func OldestFor(m Member, asked env.Message) uint64 {
	switch req := asked.(type) {
	case *command.Find:
		return Oldest(m, req.Concern)
	case *command.GetMore:
		return m.Applied().Index
	}
	return 0
}

// Scans are the queries that members have begun to answer. Make them with New.
type Scans struct {
	open    map[string]*Scan
	readers map[string]reader
	// undone says when a member last lost something that it had.
	undone map[env.NodeID]env.Time
}

// New returns the scans of a run in which there was none.
func New() *Scans {
	return &Scans{
		open: map[string]*Scan{}, readers: map[string]reader{}, undone: map[env.NodeID]env.Time{},
	}
}

// Undone notes that a member was down, or that something was undone on it.
func (s *Scans) Undone(node env.NodeID, now env.Time) { s.undone[node] = now }

// Scan is a query and what has been answered to it.
type Scan struct {
	Find *command.Find
	// oldest is the state from which on the query may read, and began when it came.
	oldest   uint64
	began    env.Time
	returned map[string]bool
}

// Returned is how many documents the answer has.
func (s *Scan) Returned() int { return len(s.returned) }

// Answered takes the answer to a request in whose Mark is what Oldest was when it came. It returns
// the scan when the answer is its last one and can be judged, and nil otherwise.
func (s *Scans) Answered(x *env.Exchange, asked env.Message, b *command.Batch) *Scan {
	var of *Scan
	switch req := asked.(type) {
	case *command.Find:
		of = &Scan{
			Find: req, oldest: x.Mark.Applied, began: x.Began, returned: map[string]bool{},
		}
		if b.Cursor != "" {
			s.open[b.Cursor] = of
		}
	case *command.GetMore:
		of = s.open[req.Cursor]
		if b.Cursor == "" {
			delete(s.open, req.Cursor)
		}
	}
	if of == nil {
		return nil
	}
	for _, doc := range b.Docs {
		if id, err := byID.Of(doc); err == nil {
			of.returned[string(id)] = true
		}
	}
	undone, ever := s.undone[x.To]
	if b.Cursor != "" || ever && undone >= of.began {
		return nil
	}
	return of
}

var byID = key.Pattern{Field: "_id"}

// LeftOut are the documents that the query selects and that are not in the answer; false where that
// is not known. That they are deleted below it explains it if lossy is set (protocol 10.4), and so
// does a deletion that had come when the query was let in: letIn says whether a state of the member
// may let it in, since one that lags refuses it until it has the placement.
func (s *Scan) LeftOut(
	m Member, lossy bool, letIn func(index uint64) bool,
) (left []bson.Raw, known bool) {
	at, touched := store.Latest, map[string]uint64{}
	if s.Find.Concern == command.Snapshot {
		at, known = s.atTime(m)
	} else {
		touched, known = s.touched(m)
	}
	if !known {
		return nil, false
	}
	missed := func(id string, doc bson.Raw) bool {
		if s.returned[id] {
			return true
		}
		selected, err := query.Match(s.Find.Filter, doc)
		if known = err == nil; selected {
			left = append(left, doc)
		}
		return known
	}
	m.Store().Scan(s.Find.NS, at, func(id string, doc bson.Raw) bool {
		_, written := touched[id]
		return written || missed(id, doc)
	})
	if lossy || s.oldest < m.Store().Oldest() {
		return left, known
	}
	for _, id := range slices.Sorted(maps.Keys(touched)) {
		doc := m.Store().Get(s.Find.NS, id, s.oldest)
		if deleted := touched[id]; deleted != 0 && doc != nil && known && letIn(deleted-1) {
			missed(id, doc)
		}
	}
	return left, known
}

// atTime is the state that a snapshot read reads, which must be of the collection of today.
func (s *Scan) atTime(m Member) (index uint64, known bool) {
	index, err := m.IndexAt(s.Find.At)
	if err != nil {
		return 0, false
	}
	then, there := m.Store().Pattern(s.Find.NS, index)
	now, still := m.Store().Pattern(s.Find.NS, store.Latest)
	return index, there && still && then == now
}

// touched are the documents that entries have written since the query came, with the index of the
// first of them if that was a deletion by the range deleter.
func (s *Scan) touched(m Member) (ids map[string]uint64, known bool) {
	ids = map[string]uint64{}
	for i := s.oldest + 1; i <= m.Applied().Index; i++ {
		e, _, kept := m.Entry(i)
		if !kept {
			return nil, false
		}
		for j := range e.Ops {
			switch op := &e.Ops[j]; op.Kind {
			case oplog.Noop, oplog.CreateIndex, oplog.DropIndex:
			case oplog.Insert, oplog.Update, oplog.Delete:
				if _, before := ids[op.ID]; op.NS == s.Find.NS && !before {
					ids[op.ID] = 0
					if op.Kind == oplog.Delete && op.Actor == uint8(trace.RangeDeleter) {
						ids[op.ID] = i
					}
				}
			default:
				if op.NS == s.Find.NS || op.ID == s.Find.NS {
					return nil, false
				}
			}
		}
	}
	return ids, true
}
