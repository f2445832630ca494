package router

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

// mergedScan merges what the shards of one query return, in the order of the shard key and then of
// _id.
type mergedScan struct{ parts []*shardCursor }

// shardCursor is one shard's cursor and what it has returned but the client has not.
//
// Invariant: head is the place of docs[0] in the order, when there is one.
type shardCursor struct {
	set     *rpc.Set
	router  *Router
	pattern key.Pattern
	opens   *command.Find
	member  env.NodeID // where the cursor lives
	cursor  string     // empty: nothing more to come
	asked   int        // how many batches, so that a duplicated request skips none
	time    hlc.Timestamp
	since   hlc.Timestamp // of the first batch
	docs    []bson.Raw
	head    scanPosition
}

type scanPosition struct {
	key key.Key
	id  string
}

func (a scanPosition) before(b scanPosition) bool {
	return a.key < b.key || a.key == b.key && a.id < b.id
}

// next returns the next size documents, all of them for a size of zero; fewer at the end, and where
// there is no room for more.
func (s *mergedScan) next(t env.Task, size int) ([]bson.Raw, error) {
	var docs []bson.Raw
	for bytes := 0; bytes < document.MaxBytes && (size == 0 || len(docs) < size); {
		for _, p := range s.parts {
			if err := p.fill(t, size); err != nil {
				return nil, err
			}
		}
		first := s.first()
		if first == nil {
			break
		}
		docs, bytes = append(docs, first.docs[0]), bytes+len(first.docs[0])
		if err := first.drop(); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// time is the operation time of what the shards have returned so far.
func (s *mergedScan) time() (latest hlc.Timestamp) {
	for _, p := range s.parts {
		latest = max(latest, p.time)
	}
	return latest
}

// since is the oldest time by which a shard's part of the query was let in.
func (s *mergedScan) since() hlc.Timestamp {
	oldest := s.parts[0].since
	for _, p := range s.parts[1:] {
		oldest = min(oldest, p.since)
	}
	return oldest
}

// first is the part that holds the next document, nil when none does.
func (s *mergedScan) first() *shardCursor {
	var first *shardCursor
	for _, p := range s.parts {
		if len(p.docs) > 0 && (first == nil || p.head.before(first.head)) {
			first = p
		}
	}
	return first
}

// exhausted reports whether no document is left, here or on a shard.
func (s *mergedScan) exhausted() bool {
	for _, p := range s.parts {
		if len(p.docs) > 0 || p.cursor != "" {
			return false
		}
	}
	return true
}

// fill fetches until the part has a document or has ended.
func (p *shardCursor) fill(t env.Task, size int) error {
	for len(p.docs) == 0 && p.cursor != "" {
		p.asked++
		req := &command.GetMore{Cursor: p.cursor, BatchSize: size, Number: p.asked}
		batch, err := rpc.Call[command.Batch](t, p.router.ep, p.member, req, p.timeout())
		if err != nil {
			if rpc.Gone(err) {
				p.set.Forget(p.member)
			}
			return err
		}
		if err := p.take(batch); err != nil {
			return err
		}
	}
	return nil
}

func (p *shardCursor) take(batch *command.Batch) error {
	p.cursor, p.docs, p.time = batch.Cursor, batch.Docs, max(p.time, batch.Time)
	return p.look()
}

func (p *shardCursor) drop() error {
	p.docs = p.docs[1:]
	return p.look()
}

// look notes the place of the part's first document.
func (p *shardCursor) look() (err error) {
	if len(p.docs) == 0 {
		return nil
	}
	if p.head.key, err = p.pattern.Of(p.docs[0]); err != nil {
		return err
	}
	p.head.id, err = key.ID(p.docs[0])
	return err
}

func (p *shardCursor) timeout() time.Duration { return p.router.settings.ShardTimeout }

// kill closes the cursors on the shards without waiting for it. A message that gets lost leaves a
// cursor to its timeout.
func (s *mergedScan) kill(t env.Task) {
	for _, p := range s.parts {
		p.kill(t)
	}
}

func (p *shardCursor) kill(t env.Task) {
	if p.cursor == "" {
		return
	}
	req := &command.KillCursors{Cursors: []string{p.cursor}}
	p.cursor, p.docs = "", nil
	t.Spawn("m.killCursors "+p.set.Name(), func(own env.Task) {
		// An answer is not needed: the shard forgets the cursor in time.
		_, _ = rpc.Call[command.Done](own, p.router.ep, p.member, req, p.timeout())
	})
}
