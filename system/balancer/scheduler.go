package balancer

import (
	"slices"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
)

// scheduler has the migrations carried out that rounds have chosen (protocol 14.2). They go out in
// the order in which they came, each in a task of its own, and nobody waits for another.
type scheduler struct {
	term        *term
	queue       []*moveRequest // that have not gone out
	underWay    []*moveRequest
	ended       []*moveRequest // that no round has taken note of
	dispatching bool
}

// moveRequest is a migration that was chosen.
type moveRequest struct {
	policy.Migration
	roundOptions
	name string
	err  error
}

func (q *moveRequest) note() env.Note { return env.Note{Peer: q.Chunk.Shard, ID: q.name} }

// tooBig means that the chunk did not move, and was split or marked.
func (q *moveRequest) tooBig() bool {
	return errcode.Is(q.err, errcode.ChunkTooBig, errcode.ExceededMemoryLimit)
}

// outcome is how the request has ended.
func (q *moveRequest) outcome() string {
	if q.err == nil {
		return trace.BalancerMoved
	}
	return string(errcode.Of(q.err))
}

func (q *moveRequest) command() *command.MoveRange {
	move := &command.MoveRange{
		NS:         q.NS,
		Min:        q.Chunk.Min,
		Max:        q.Chunk.Max,
		To:         q.To,
		WaitDelete: q.waitForDelete,
		Throttle:   q.throttle,
		Name:       q.name,
		Balancer:   true,
		ChunkBytes: q.chunkBytes,
	}
	if q.Open {
		move.Max = ""
	}
	if q.ForceJumbo {
		move.ForceJumbo = command.ForceBalancer
	}
	return move
}

// queued tells which chunk was chosen.
func (q *moveRequest) queued() trace.BalancerQueuedEvent {
	return trace.BalancerQueuedEvent{
		NS:      q.NS,
		Min:     string(q.Chunk.Min),
		Max:     string(q.Chunk.Max),
		Shard:   q.Chunk.Shard,
		Peer:    q.To,
		Request: q.name,
	}
}

func (s *scheduler) idle() bool { return len(s.queue) == 0 && len(s.underWay) == 0 }

// busy are the shards of all requests that have not ended.
func (s *scheduler) busy() (shards []string) {
	for _, q := range slices.Concat(s.queue, s.underWay) {
		shards = append(shards, q.Chunk.Shard, q.To)
	}
	return shards
}

// take returns the requests that have ended since it was called last.
func (s *scheduler) take() []*moveRequest {
	ended := s.ended
	s.ended = nil
	return ended
}

// enqueue takes a request, unless one of its shards is in another by now: since a round has chosen,
// a shard of 4.2 may have asked for the move of its outermost chunk.
func (s *scheduler) enqueue(t env.Task, q *moveRequest) {
	if busy := s.busy(); slices.Contains(busy, q.Chunk.Shard) || slices.Contains(busy, q.To) {
		s.term.node.Sometimes("a chunk is chosen whose shard has been taken meanwhile")
		return
	}
	s.queue = append(s.queue, q)
	s.term.emit(q.queued().Event())
	if !s.dispatching {
		s.dispatching = true
		t.Spawn("dispatch migrations", s.dispatch)
	}
}

// dispatch sends what is in the queue. What the balancer may not ask for any more, as it was
// switched off meanwhile, ends here.
func (s *scheduler) dispatch(t env.Task) {
	for len(s.queue) > 0 {
		q := s.queue[0]
		s.queue, s.underWay = s.queue[1:], append(s.underWay, q)
		err := t.Point(failpoint.BalancerDispatch, q.note())
		if err == nil && !s.term.stillWants(q) {
			err = errcode.New(errcode.Interrupted,
				"the balancer was switched off before %s was asked for", q.name)
		}
		if err != nil {
			s.end(q, err)
			continue
		}
		s.term.announce(q)
		t.Spawn("balance "+q.name, func(t env.Task) { s.end(q, s.term.migrate(t, q)) })
	}
	s.dispatching = false
}

// stillWants looks at what operators may have switched off since the choice.
func (m *term) stillWants(q *moveRequest) bool {
	v := clusterView{m, m.options()}
	c, err := v.collection(q.NS)
	return err == nil && !c.Off && c.Defragment == (q.Reason == policy.Fragment) &&
		m.permits(v.roundOptions)
}

func (s *scheduler) end(q *moveRequest, err error) {
	q.err = err
	s.underWay = slices.DeleteFunc(s.underWay, func(other *moveRequest) bool { return other == q })
	s.ended = append(s.ended, q)
	s.term.emit(trace.BalancerDoneEvent{Request: q.name, Outcome: q.outcome()}.Event())
	s.term.changed.Broadcast()
}

func (m *term) announce(q *moveRequest) {
	move := q.command()
	m.emit(trace.BalancerChoseEvent{
		NS:         move.NS,
		Min:        string(move.Min),
		Max:        string(move.Max),
		Shard:      q.Chunk.Shard,
		Peer:       move.To,
		Request:    move.Name,
		Why:        q.Reason.String(),
		AheadOfUTC: int64(m.settings.LocalTimeOffset),
	}.Event())
}

// migrate has the donor move, and handles what has kept it from moving.
func (m *term) migrate(t env.Task, q *moveRequest) error {
	err := m.server.Migrate(t, q.command(), q.Chunk)
	if lost := t.Point(failpoint.BalancerResult, q.note()); lost != nil {
		err = lost
	}
	switch {
	case err == nil || m.arrived(q):
		return nil
	case errcode.Is(err, errcode.ChunkTooBig, errcode.ExceededMemoryLimit):
		m.splitOrMarkJumbo(t, q)
	case errcode.Is(err, errcode.IndexNotFound):
		m.leaveAlone(t, q)
	}
	return err
}

// arrived asks the catalog, regardless of what the donor has answered (protocol 14.2).
func (m *term) arrived(q *moveRequest) bool {
	table, err := m.server.Table(q.NS)
	return err == nil && table.Owner(q.Chunk.Min).Shard == q.To &&
		table.Collection().Epoch == q.Chunk.Version.Epoch &&
		(q.Open ||
			table.Owner(q.Chunk.Min).ContainsRange(key.Range{Min: q.Chunk.Min, Max: q.Chunk.Max}))
}
