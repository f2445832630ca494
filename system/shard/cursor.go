package shard

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// cursorRegistry are the queries that wait for their next getMore. They live in memory and end with
// the term.
type cursorRegistry struct {
	server *Server
	opened int
	open   []*openCursor // in the order in which they were opened
}

type openCursor struct {
	id    string
	query *cursorQuery
	used  env.Time // on the monotonic clock: when the last batch was asked for or answered
	busy  bool
	timer env.Timer
	// batch is the number of the newest batch, which is kept for a client that has not received it.
	batch int
	last  *command.Batch
}

func (cs *cursorRegistry) init(s *Server) { cs.server = s }

// add keeps the query; its name is unique over the whole run.
func (cs *cursorRegistry) add(q *cursorQuery) string {
	cs.opened++
	n := cs.server.node
	cu := &openCursor{
		id:    fmt.Sprintf("%s/%d/%d", n.ID(), n.Incarnation(), cs.opened),
		query: q,
		used:  n.Mono(),
	}
	cs.open = append(cs.open, cu)
	cs.announce(trace.CursorOpened, cu)
	cs.watch(cu, cs.timeout())
	return cu.id
}

// announce reports cursors that hold back the deletion of what they may see; others see what they
// find.
func (cs *cursorRegistry) announce(kind trace.Kind, cu *openCursor) {
	q := cu.query
	if q.owned == nil {
		return
	}
	lo, hi := string(q.rng.Min), string(q.rng.Max)
	e := trace.CursorClosedEvent{
		Shard: cs.server.name, NS: q.c.ns, Min: lo, Max: hi, Cursor: cu.id,
	}.Event()
	if kind == trace.CursorOpened {
		e = trace.CursorOpenedEvent{
			Shard: cs.server.name, NS: q.c.ns, Min: lo, Max: hi, Chunks: q.visible(), Cursor: cu.id,
		}.Event()
	}
	cs.server.node.Emit(e)
}

func (cs *cursorRegistry) timeout() time.Duration { return cs.server.cfg.Settings.CursorTimeout }

// watch closes the cursor once it has not been used for the timeout.
func (cs *cursorRegistry) watch(cu *openCursor, d time.Duration) {
	n := cs.server.node
	cu.timer = n.After(d, func() {
		left := cs.timeout() - n.Mono().Sub(cu.used)
		switch {
		case cu.busy:
			cs.watch(cu, cs.timeout())
		case left > 0:
			cs.watch(cu, left)
		default:
			cs.kill(cu)
		}
	})
}

func (cs *cursorRegistry) find(id string) *openCursor {
	for _, cu := range cs.open {
		if cu.id == id {
			return cu
		}
	}
	return nil
}

// kill ends a cursor; a getMore that is running on it fails at its next restore.
func (cs *cursorRegistry) kill(cu *openCursor) {
	i := slices.Index(cs.open, cu)
	if i < 0 {
		return
	}
	cs.open = slices.Delete(cs.open, i, i+1)
	cu.timer.Stop()
	cu.query.killed = errcode.New(errcode.QueryPlanKilled, "cursor %s was closed", cu.id)
	cu.query.owned.Drop()
	cs.announce(trace.CursorClosed, cu)
}

func (cs *cursorRegistry) killAll() {
	for _, cu := range slices.Clone(cs.open) {
		cs.kill(cu)
	}
}

// killOf ends the cursors on a namespace.
func (cs *cursorRegistry) killOf(ns string) {
	for _, cu := range slices.Clone(cs.open) {
		if cu.query.c.ns == ns {
			cs.kill(cu)
		}
	}
}

func (s *Server) getMore(t env.Task, _ env.NodeID, req *command.GetMore) (*command.Batch, error) {
	cu := s.cursors.find(req.Cursor)
	switch {
	case cu == nil:
		return nil, errcode.New(errcode.CursorNotFound, "%s has no cursor %s",
			s.node.ID(), req.Cursor)
	case cu.busy:
		return nil, errcode.New(errcode.CursorInUse,
			"cursor %s is answering another request", cu.id)
	case req.Number != 0 && req.Number == cu.batch:
		return cu.last, nil
	case req.Number != 0 && req.Number != cu.batch+1:
		return nil, errcode.New(errcode.CursorNotFound,
			"cursor %s is at batch %d and cannot give batch %d", cu.id, cu.batch, req.Number)
	}
	cu.busy = true
	docs, err := cu.query.batch(t, req.BatchSize)
	cu.busy = false
	return s.cursors.answer(cu, &command.Batch{Docs: docs, Time: cu.query.time}, err)
}

// answer ends the cursor when its query has, and otherwise remembers the batch.
func (cs *cursorRegistry) answer(
	cu *openCursor, b *command.Batch, err error,
) (*command.Batch, error) {
	if err != nil || cu.query.done {
		cs.kill(cu)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
	b.Cursor = cu.id
	cu.used, cu.last = cs.server.node.Mono(), b
	cu.batch++
	return b, nil
}

func (s *Server) killCursors(
	_ env.Task, _ env.NodeID, req *command.KillCursors,
) (*command.Done, error) {
	for _, id := range req.Cursors {
		if cu := s.cursors.find(id); cu != nil {
			s.cursors.kill(cu)
		}
	}
	return &command.Done{}, nil
}
