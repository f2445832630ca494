package shard

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/store"
)

// yieldEvery is how many documents a query looks at before it lets others run.
const yieldEvery = 4

// cursorQuery is a running find. Between two yields it reads one state of the store; after each,
// the newest that its read concern allows. It goes on behind the last document seen, in the order
// of the shard key, so that every document that stays is seen exactly once.
type cursorQuery struct {
	server  *Server
	c       *Collection
	filter  bson.Raw
	concern command.ReadConcern
	rng     key.Range
	owned   *Filter // nil: nothing is filtered by it
	// at is the cluster time of a snapshot read, and then the shard owned the ranges of past.
	at   hlc.Timestamp
	past *snapshotOwnership
	// A query on a primary belongs to its term, one on a secondary to the time since the member
	// last changed its role.
	secondary  bool
	lead       replset.Lead
	stateEpoch int
	drops      uint64 // of the collection, when the query was let in
	after      store.Place
	time       hlc.Timestamp // of the newest state read
	since      hlc.Timestamp // up to where everything was committed when the query was let in
	done       bool
	killed     error
	bytes      int // of the documents of the present batch
}

// snapshotOwnership is what the shard owned at the time of a snapshot read. It keeps nothing from
// deletion: the state of that time is read, and deletions come after it.
type snapshotOwnership struct{ owned []key.Range }

func (p *snapshotOwnership) owns(k key.Key) bool {
	return slices.ContainsFunc(p.owned, func(r key.Range) bool { return r.Contains(k) })
}

func (s *Server) find(t env.Task, _ env.NodeID, req *command.Find) (*command.Batch, error) {
	q, err := s.plan(t, req)
	if err != nil {
		return nil, err
	}
	docs, err := q.batch(t, req.BatchSize)
	if err != nil || q.done {
		q.owned.Drop()
		if err != nil {
			return nil, err
		}
		return &command.Batch{Docs: docs, Time: q.time, Since: q.since}, nil
	}
	return &command.Batch{
		Docs: docs, Time: q.time, Since: q.since, Cursor: s.cursors.add(q),
	}, nil
}

// plan lets the query in and pins what the shard owns now, without a wait between the two. A time
// that must have come is waited for before: the log up to there may speak of a new placement.
func (s *Server) plan(t env.Task, req *command.Find) (*cursorQuery, error) {
	if err := s.mayRead(req.Secondary); err != nil {
		return nil, err
	}
	m := s.cfg.Member
	q := &cursorQuery{
		server: s, c: s.Collection(req.NS), filter: req.Filter, concern: req.Concern, at: req.At,
		secondary: !m.IsPrimary(), stateEpoch: s.stateEpoch,
	}
	q.lead, _ = m.Lead() // of no use to a secondary
	if err := s.awaitTime(t, max(req.After, req.At)); err != nil {
		return nil, err
	}
	var err error
	if req.Concern == command.Available {
		q.drops = q.c.drops
		q.rng, err = q.bounds()
	} else {
		err = q.admit(t, req.Place)
	}
	if err != nil {
		return nil, err
	}
	return q, nil
}

func (q *cursorQuery) admit(t env.Task, place command.Placement) error {
	for {
		if err := q.c.admit(t, place, false); err != nil {
			return err
		}
		if err := t.Point(failpoint.RequestVersionCheck, env.Note{ID: q.c.ns}); err != nil {
			return err
		}
		if err := t.Point(failpoint.RequestTakeFilter, env.Note{ID: q.c.ns}); err != nil {
			return err
		}
		if err := q.sameEpoch(); err != nil {
			return err
		}
		if q.c.judge(place, false) != placementCurrent {
			continue // the placement changed at the point just passed
		}
		q.drops = q.c.drops
		return q.pin(place)
	}
}

// pin fixes what the query will look at, and what of it the shard owns. Which states it will see is
// open, but none is older than what is committed here now.
func (q *cursorQuery) pin(place command.Placement) (err error) {
	if q.since = q.server.cfg.Member.CommittedTS(); q.concern == command.Snapshot {
		q.since = q.at
	}
	if q.rng, err = q.bounds(); err != nil || !place.Versioned {
		return err
	}
	if q.concern == command.Snapshot && !place.Database {
		owned, err := q.c.known.Table.OwnedAt(q.server.name, q.rng, q.at)
		q.past = &snapshotOwnership{owned}
		return err
	}
	q.owned = q.c.Take()
	return nil
}

// visible is the part of the query's range that its filter lets pass. It was pinned when the query
// was let in, which may be long before its first batch is answered.
func (q *cursorQuery) visible() (parts []trace.Chunk) {
	for _, r := range q.owned.metadata.Owned() {
		if part := r.Intersect(q.rng); !part.Empty() {
			parts = append(parts,
				trace.Chunk{Min: string(part.Min), Max: string(part.Max), Shard: q.server.name})
		}
	}
	return parts
}

func (q *cursorQuery) sameEpoch() error {
	if !q.secondary {
		return q.lead.Err()
	}
	if s := q.server; s.cfg.Member.Leading() || s.stateEpoch != q.stateEpoch {
		return errcode.New(errcode.InterruptedDueToReplStateChange,
			"%s was a secondary when the query began", s.node.ID())
	}
	return nil
}

// bounds is the range of shard keys that the filter leaves to be looked at.
func (q *cursorQuery) bounds() (key.Range, error) {
	p, ok, err := q.pattern()
	if !ok || err != nil {
		return key.Range{}, err // no such collection here: nothing to be seen
	}
	if !p.Hashed {
		return query.Bounds(q.filter, p.Field)
	}
	v, fixed := query.Equality(q.filter, p.Field)
	if !fixed {
		return key.Everything, nil
	}
	k, err := p.OfValue(v)
	return key.Range{Min: k, Max: key.After(k)}, err
}

// pattern is the shard key of the collection that the query reads. A snapshot read reads the
// collection of its time: a shard that has given everything away since, left the cluster and joined
// it again has none now.
func (q *cursorQuery) pattern() (key.Pattern, bool, error) {
	if q.concern != command.Snapshot {
		p, ok := q.c.pattern()
		return p, ok, nil
	}
	m := q.server.cfg.Member
	index, err := m.IndexAt(q.at)
	if err != nil {
		return key.Pattern{}, false, err
	}
	p, ok := m.Store().Pattern(q.c.ns, index)
	now, exists := q.c.pattern()
	switch {
	case q.renamedSince():
		// The catalog has had the name for longer than the shard: it was still blocked then.
		return p, false, errcode.New(errcode.SnapshotTooOld,
			"shard %s has got collection %s by a rename after that time", q.server.name, q.c.ns)
	case !q.c.unsharded():
	case !ok && exists && now.Unsharded, ok && !p.Unsharded, !ok && q.shardedSince(),
		q.server.copiedLater(q.c.ns, index):
		// It was made since, or was still coming with the database from another shard, where its
		// past is; or it was sharded then, and what was the shard's of it nobody knows any more.
		return p, false, errcode.New(errcode.SnapshotTooOld,
			"shard %s has had collection %s for a shorter time than that", q.server.name, q.c.ns)
	}
	return p, ok && !p.IsZero(), nil
}

// shardedSince reports whether a sharded collection has given the name up since the time of the
// query: the shard may have had nothing of it.
func (q *cursorQuery) shardedSince() (was bool) {
	q.server.cfg.Member.Since(q.at, func(e *oplog.Entry) bool {
		was = WasSharded(q.c.ns, e)
		return !was
	})
	return was
}

// renamedSince reports whether a collection has got the name since the time of the query. A rename
// enters the catalog first, with its time, and shards give the name one after the other.
func (q *cursorQuery) renamedSince() (was bool) {
	q.server.cfg.Member.Since(q.at, func(e *oplog.Entry) bool {
		was = slices.ContainsFunc(e.Ops, func(op oplog.Op) bool {
			return op.Kind == oplog.Rename && op.ID == q.c.ns
		})
		return !was
	})
	return was
}

// unsharded reports whether the collection is known not to be sharded.
func (c *Collection) unsharded() bool {
	return c.known != nil && c.known.Table.Collection().Unsharded
}

// batch returns the next documents, at most size and as many as there is room for; a size of 0
// means no limit. An empty query is done.
func (q *cursorQuery) batch(t env.Task, size int) ([]bson.Raw, error) {
	if err := t.Point(failpoint.RequestAcquireSnapshot, env.Note{ID: q.c.ns}); err != nil {
		return nil, err
	}
	var docs []bson.Raw
	for q.bytes = 0; ; {
		if err := q.restore(t); err != nil {
			return nil, err
		}
		var err error
		if docs, err = q.read(docs, size); err != nil {
			return nil, err
		}
		if q.done || size > 0 && len(docs) >= size || q.bytes >= document.MaxBytes {
			return docs, q.confirm(t)
		}
	}
}

// restore is where a query may be descheduled. It does not outlive the role that the member had
// when it began: what its filter keeps from deletion is kept on this primary only. On a secondary
// it keeps nothing: there the deletion ends the query, unless the operator would rather have what
// is left (protocol 10.4).
func (q *cursorQuery) restore(t env.Task) error {
	if err := t.Yield(failpoint.RequestYield); err != nil {
		return err
	}
	if err := t.Point(failpoint.RequestRestore, env.Note{ID: q.c.ns}); err != nil {
		return err
	}
	if q.secondary {
		if err := t.Point(failpoint.RequestSecondaryRead, env.Note{ID: q.c.ns}); err != nil {
			return err
		}
	}
	if q.killed != nil {
		// Asked after the last place at which the query can stall while its cursor is closed.
		return q.killed
	}
	if q.drops != q.c.drops {
		return errcode.New(errcode.QueryPlanKilled, "collection %s was dropped", q.c.ns)
	}
	if q.server.cfg.Settings.TerminateReads != 0 && q.owned.Lost(q.rng) {
		return errcode.New(errcode.QueryPlanKilled,
			"documents of %s that the query may see are being deleted", q.c.ns)
	}
	return q.sameEpoch()
}

// confirm has a linearizable batch wait until the node was still primary after the read, and what
// it read is majority-committed.
func (q *cursorQuery) confirm(t env.Task) error {
	if q.concern != command.Linearizable {
		return nil
	}
	return q.server.cfg.Member.Confirm(t)
}

// read looks at a few documents more.
func (q *cursorQuery) read(docs []bson.Raw, size int) ([]bson.Raw, error) {
	index, failed := q.state()
	if failed != nil {
		return docs, failed
	}
	seen, full := 0, false
	q.server.cfg.Member.Store().ScanKey(q.c.ns, q.rng, index, q.after,
		func(k key.Key, id string, doc bson.Raw) bool {
			match, err := query.Match(q.filter, doc)
			if failed = err; err != nil {
				return false
			}
			q.after = store.Place{Key: k, ID: id}
			if match && q.owns(k) {
				docs = append(docs, doc)
				q.bytes += len(doc)
			}
			seen++
			full = seen == yieldEvery || size > 0 && len(docs) == size || q.bytes >= document.MaxBytes
			return !full
		})
	q.done = !full
	return docs, failed
}

// state is the newest index that the concern allows, and notes its time.
func (q *cursorQuery) state() (uint64, error) {
	m := q.server.cfg.Member
	switch q.concern {
	case command.Snapshot:
		q.time = q.at
		return m.IndexAt(q.at)
	case command.MajorityRead:
		q.time = m.CommittedTS()
	default:
		q.time = m.AppliedTS()
	}
	return m.ReadAt(q.concern), nil
}

// owns reports whether the query may see the key.
func (q *cursorQuery) owns(k key.Key) bool {
	if q.past != nil {
		return q.past.owns(k)
	}
	return q.owned.Owns(k)
}
