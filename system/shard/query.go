package shard

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/event"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/point"
	"github.com/shardproof/shardproof/system/store"
)

// yieldEvery is how many documents a query looks at before it lets others run.
const yieldEvery = 4

// query is a running find. Between two yields it reads one state of the store; after each, the newest that its read
// concern allows. It goes on behind the last document seen, in the order of the shard key, so that every document that
// stays is seen exactly once.
type query struct {
	server  *Server
	c       *Collection
	filter  bson.Raw
	concern command.ReadConcern
	rng     key.Range
	owned   *Filter // nil: nothing is filtered
	term    uint64
	after   store.Place
	done    bool
	killed  error
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
		return &command.Batch{Docs: docs}, nil
	}
	return &command.Batch{Docs: docs, Cursor: s.cursors.add(q)}, nil
}

// plan lets the query in and pins what the shard owns now, without a wait between the two.
func (s *Server) plan(t env.Task, req *command.Find) (*query, error) {
	if err := s.needPrimary(); err != nil {
		return nil, err
	}
	q := &query{server: s, c: s.Collection(req.NS), filter: req.Filter, concern: req.Concern, term: s.cfg.Member.Term()}
	if req.Concern != command.Available {
		if err := q.admit(t, req.Place); err != nil {
			return nil, err
		}
	}
	var err error
	if q.rng, err = q.bounds(); err != nil {
		q.owned.Drop()
		return nil, err
	}
	return q, nil
}

func (q *query) admit(t env.Task, place command.Placement) error {
	for {
		if err := q.c.admit(t, place, false); err != nil {
			return err
		}
		if err := t.Point(point.RequestVersionCheck, env.Note{ID: q.c.ns}); err != nil {
			return err
		}
		if err := t.Point(point.RequestTakeFilter, env.Note{ID: q.c.ns}); err != nil {
			return err
		}
		if err := q.sameTenure(); err != nil {
			return err
		}
		if q.c.judge(place, false) != current {
			continue // the placement changed at the point just passed
		}
		if place.Versioned {
			q.owned = q.c.Take()
		}
		return nil
	}
}

// visible is the part of the query's range that its filter lets pass. It was pinned when the query was let in, which may
// be long before its first batch is answered.
func (q *query) visible() (parts []event.Chunk) {
	for _, r := range q.owned.metadata.Owned() {
		if part := r.Intersect(q.rng); !part.Empty() {
			parts = append(parts, event.Chunk{Min: string(part.Min), Max: string(part.Max), Shard: q.server.name})
		}
	}
	return parts
}

func (q *query) sameTenure() error { return q.server.sameTenure(q.term) }

// bounds is the range of shard keys that the filter leaves to be looked at.
func (q *query) bounds() (key.Range, error) {
	p, ok := q.c.pattern()
	if !ok {
		return key.Range{}, nil // no such collection here: nothing to be seen
	}
	if !p.Hashed {
		return document.Bounds(q.filter, p.Field)
	}
	v, fixed := document.Equality(q.filter, p.Field)
	if !fixed {
		return key.Everything, nil
	}
	k, err := p.OfValue(v)
	return key.Range{Min: k, Max: key.After(k)}, err
}

// batch returns the next documents, at most size; 0 means all. An empty query is done.
func (q *query) batch(t env.Task, size int) ([]bson.Raw, error) {
	if err := t.Point(point.RequestAcquireSnapshot, env.Note{ID: q.c.ns}); err != nil {
		return nil, err
	}
	var docs []bson.Raw
	for {
		if err := q.restore(t); err != nil {
			return nil, err
		}
		var err error
		if docs, err = q.read(docs, size); err != nil {
			return nil, err
		}
		if q.done || size > 0 && len(docs) >= size {
			return docs, q.confirm(t)
		}
	}
}

// restore is where a query may be descheduled. It does not outlive the tenure in which it began: what its filter keeps
// from deletion is kept on this primary only.
func (q *query) restore(t env.Task) error {
	if err := t.Yield(point.RequestYield); err != nil {
		return err
	}
	if err := t.Point(point.RequestRestore, env.Note{ID: q.c.ns}); err != nil {
		return err
	}
	if q.killed != nil {
		return q.killed
	}
	return q.sameTenure()
}

// confirm has a linearizable batch wait until the node was still primary after the read, and what it read is majority.
func (q *query) confirm(t env.Task) error {
	if q.concern != command.Linearizable {
		return nil
	}
	return q.server.cfg.Member.Confirm(t)
}

// read looks at a few documents more.
func (q *query) read(docs []bson.Raw, size int) ([]bson.Raw, error) {
	m := q.server.cfg.Member
	seen, full := 0, false
	var failed error
	m.Store().ScanKey(q.c.ns, q.rng, m.ReadAt(q.concern), q.after, func(k key.Key, id string, doc bson.Raw) bool {
		match, err := document.Match(q.filter, doc)
		if failed = err; err != nil {
			return false
		}
		q.after = store.Place{Key: k, ID: id}
		if match && q.owned.Owns(k) {
			docs = append(docs, doc)
		}
		seen++
		full = seen == yieldEvery || size > 0 && len(docs) == size
		return !full
	})
	q.done = !full
	return docs, failed
}
