// Package cursor keeps what clients have not read yet of their queries and change streams.
//
// Promise: one request at a time advances a cursor; an idle cursor is closed when others are used
// or opened; no batch exceeds the size of a message.
//
// Refusal: cursors live on one router, in memory.
package cursor

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/wire/frame"
)

// Source is where the documents of a cursor come from.
type Source interface {
	// Next returns at least one and at most n documents, all of them for an n of zero; more is
	// false when there are no others. A source that waits for documents returns none after wait.
	Next(t env.Task, n int, wait time.Duration) (docs []bson.Raw, more bool, err error)
	// Close releases what the source holds elsewhere, and ends a wait of Next.
	Close(t env.Task)
}

// Cursor is one query of a client.
type Cursor struct {
	NS string
	// At is the time of the snapshot that is read; zero for other reads.
	At     bson.Timestamp
	source Source
	// pending are documents that were read from the source but not returned yet.
	pending []bson.Raw
	// returned is the place of the last document that was returned, of a change stream.
	returned bson.Raw
	more     bool
	// killed: a client wants no more of it.
	killed bool
	ends   env.Time
}

// Marked is a source of a change stream: Mark is the place up to which it was read. The _id of each
// document is its own place.
type Marked interface{ Mark() bson.Raw }

// Registry are the cursors of one router.
type Registry struct {
	node env.Node
	open map[int64]*Cursor
	// taken are the cursors that requests advance.
	taken  map[int64]*Cursor
	queue  []deadline // in the order in which they were registered
	opened uint64
	idle   func() time.Duration
}

type deadline struct {
	id   int64
	ends env.Time
}

// NewRegistry returns an empty registry; idle is how long a cursor lives without a request.
func NewRegistry(node env.Node, idle func() time.Duration) *Registry {
	return &Registry{
		node: node, open: make(map[int64]*Cursor), taken: make(map[int64]*Cursor), idle: idle,
	}
}

// Open is a new cursor on the source, not registered yet.
func Open(ns string, source Source) *Cursor {
	return &Cursor{NS: ns, source: source, more: true}
}

// Mark is the place of a change stream up to which its documents were returned, nil for other
// cursors: the source may have been read further.
func (c *Cursor) Mark() bson.Raw {
	m, ok := c.source.(Marked)
	switch {
	case !ok:
		return nil
	case len(c.pending) > 0:
		return c.returned
	}
	return m.Mark()
}

// Batch returns the next documents, at most n, or as many as fit for an n of zero. When it fails,
// the cursor is closed.
func (c *Cursor) Batch(t env.Task, n int, wait time.Duration) ([]bson.Raw, error) {
	if len(c.pending) == 0 && c.more {
		docs, more, err := c.source.Next(t, n, wait)
		if err != nil {
			c.Close(t)
			return nil, err
		}
		c.pending, c.more = docs, more
	}
	size, take := 0, 0
	for take < len(c.pending) && (n == 0 || take < n) {
		if size += len(c.pending[take]); take > 0 && size > frame.MaxDocument {
			break
		}
		take++
	}
	batch := c.pending[:take]
	c.pending = c.pending[take:]
	if take > 0 {
		c.returned, _ = batch[take-1].Lookup("_id").DocumentOK()
	}
	return batch, nil
}

// Exhausted reports whether nothing is left.
func (c *Cursor) Exhausted() bool { return !c.more && len(c.pending) == 0 }

// Close releases the cursor.
func (c *Cursor) Close(t env.Task) {
	c.pending, c.more = nil, false
	c.source.Close(t)
}

// Keep registers a cursor that is not exhausted, under a new number, and returns it: 0 for one that
// is.
func (r *Registry) Keep(t env.Task, c *Cursor) int64 {
	r.expire(t)
	if c.Exhausted() {
		return 0
	}
	r.opened++
	id := int64(keyed.Mix(r.opened+uint64(r.node.Now()))>>2) | 1
	r.put(id, c)
	return id
}

func (r *Registry) put(id int64, c *Cursor) {
	c.ends = r.node.Mono().Add(r.idle())
	r.open[id] = c
	r.queue = append(r.queue, deadline{id, c.ends})
}

// Take hands a cursor over to one request, which puts it back by Return.
func (r *Registry) Take(id int64) (*Cursor, error) {
	c := r.open[id]
	if c == nil {
		return nil, errcode.New(errcode.CursorNotFound, "cursor id %d not found", id)
	}
	delete(r.open, id)
	r.taken[id] = c
	return c, nil
}

// Return undoes Take, of every cursor that was taken, unless the cursor is exhausted or was killed.
// It returns the cursor's number, or 0 for one that is exhausted. One that was killed is closed.
func (r *Registry) Return(t env.Task, id int64, c *Cursor) (next int64, killed bool) {
	delete(r.taken, id)
	if c.killed {
		c.Close(t)
	}
	r.expire(t)
	if c.Exhausted() {
		return 0, c.killed
	}
	r.put(id, c)
	return id, false
}

// Kill closes a cursor; false when there is none. One that a request advances is closed once more
// when that returns it, since it may have read from the source meanwhile.
func (r *Registry) Kill(t env.Task, id int64) bool {
	c := r.open[id]
	if c == nil {
		c = r.taken[id]
	}
	if c == nil {
		return false
	}
	delete(r.open, id)
	c.killed = true
	c.Close(t)
	return true
}

// expire closes the cursors that were idle too long. What is in the queue of those that were not
// goes, too: each request adds an entry.
func (r *Registry) expire(t env.Task) {
	for now := r.node.Mono(); len(r.queue) > 0; r.queue = r.queue[1:] {
		first := r.queue[0]
		c := r.open[first.id]
		waits := c != nil && c.ends == first.ends
		if waits && first.ends >= now {
			return
		}
		if waits {
			delete(r.open, first.id)
			c.Close(t)
		}
	}
}

// list is a source of documents that are all known.
type list struct{ docs []bson.Raw }

// List is a source of documents that are all known.
func List(docs []bson.Raw) Source { return &list{docs} }

// Next returns documents of the list.
func (l *list) Next(_ env.Task, n int, _ time.Duration) ([]bson.Raw, bool, error) {
	if n == 0 || n > len(l.docs) {
		n = len(l.docs)
	}
	docs := l.docs[:n]
	l.docs = l.docs[n:]
	return docs, len(l.docs) > 0, nil
}

// Close forgets the documents.
func (l *list) Close(env.Task) { l.docs = nil }
