package kvstore

import (
	"maps"
	"slices"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// outgoing is the movement of which a server is the source.
type outgoing struct {
	move  string
	given Owned
	// version is that of the table when the movement began, seq the number of the next part.
	version, seq int
	// changed are the keys of the range that were written since then.
	changed map[int64]bool
	// copied: everything was sent once. Stopped: the range is not served. Ending: a task finds out
	// how it ended.
	copied, stopped, ending bool
}

// incoming is the newest movement of which a server is the destination.
type incoming struct {
	Version, Seq int
	Move         string
	Given        Owned
	// Open: it is not known yet whether the range belongs to the server.
	Open bool
}

// batch is how many pairs a part of a copy has.
const batch = 3

// advance reports how far a movement has come on its donor.
func (s *Server) advance(out *outgoing, state trace.DonorState) {
	s.node.Emit(trace.DonorAdvancedEvent{
		Shard: s.shard, Peer: out.given.Shard, NS: s.config.NS, Migration: out.move, State: state,
		Min: Bound(out.given.Min), Max: Bound(out.given.Max),
	}.Event())
}

// copy is the first step of a movement.
func (s *Server) copy(t env.Task, req *Copy) (*Done, error) {
	if s.out != nil || s.in.Open {
		return nil, errcode.New(Refused, "%s moves a range already", s.shard)
	}
	out := &outgoing{move: req.Move, given: req.Given, changed: make(map[int64]bool)}
	s.out = out
	s.node.Emit(trace.MigrationRequestedEvent{
		Shard:     s.shard,
		Peer:      out.given.Shard,
		NS:        s.config.NS,
		Migration: out.move,
		Request:   req.Move,
		Min:       Bound(out.given.Min),
		Max:       Bound(out.given.Max),
	}.Event())
	s.advance(out, trace.DonorCloning)
	s.node.After(moveLimit, func() { s.end(out) })
	if err := s.send(t, out); err != nil {
		s.end(out)
		return nil, err
	}
	out.copied = true
	s.advance(out, trace.DonorCloneCaughtUp)
	return &Done{}, nil
}

// send sends all pairs of the range.
func (s *Server) send(t env.Task, out *outgoing) error {
	if err := t.Point(SiteCopy, env.Note{ID: out.move}); err != nil {
		return err
	}
	table, err := call[Table](t, Directory, &Fetch{Fence: true})
	if err != nil {
		return err
	}
	s.adopt(table)
	out.version = table.Version
	if !table.owns(s.shard, out.given.Min, out.given.Max) {
		return errcode.New(Refused, "%s does not own the range", s.shard)
	}
	var keys []int64
	for _, k := range slices.Sorted(maps.Keys(s.pairs)) {
		if out.given.has(k) {
			keys = append(keys, k)
		}
	}
	for part := range slices.Chunk(append(keys, out.given.Min), batch) {
		// At least one part, which announces the movement.
		if err := t.Point(SiteBatch, env.Note{ID: out.move}); err != nil {
			return err
		}
		if err := deliver(t, out, &Install{s.part(out, part)}); err != nil {
			return err
		}
	}
	return nil
}

// part is the next part, with what these keys have now.
func (s *Server) part(out *outgoing, keys []int64) Part {
	out.seq++
	p := Part{Version: out.version, Seq: out.seq, Move: out.move, Given: out.given}
	for _, k := range keys {
		value, found := s.pairs[k]
		p.Pairs = append(p.Pairs, Pair{Key: k, Value: value, Deleted: !found})
	}
	return p
}

// deliver sends a part until it is acknowledged; one that arrives twice counts once.
func deliver(t env.Task, out *outgoing, m env.Message) (err error) {
	to := ServerOf(out.given.Shard)
	for range tries {
		if _, err = call[Done](t, to, m); err == nil || errcode.Is(err, Refused) ||
			t.Sleep(retry) != nil {
			return err
		}
	}
	return err
}

// switchOver is the second step of a movement.
func (s *Server) switchOver(t env.Task, req *Switch) (*Done, error) {
	out := s.out
	if out == nil || !out.copied || out.stopped || out.ending || out.move != req.Move {
		return nil, errcode.New(Refused, "%s has no copied range of movement %s", s.shard, req.Move)
	}
	out.stopped = true
	s.advance(out, trace.DonorCriticalSection)
	err := s.catchUp(t, out)
	if err == nil {
		s.advance(out, trace.DonorCommittingOnConfig)
		if err = t.Point(SiteAssign, env.Note{ID: out.move}); err == nil {
			_, err = call[Table](t, Directory,
				&Assign{Version: out.version, Given: out.given, Move: out.move})
		}
	}
	s.end(out)
	return &Done{}, err
}

// catchUp sends what was written during the copy, when the last change that passed the test of
// ownership is written.
func (s *Server) catchUp(t env.Task, out *outgoing) error {
	if err := s.writes.take(t); err != nil {
		return err
	}
	s.writes.release()
	if err := t.Point(SiteCatchUp, env.Note{ID: out.move}); err != nil {
		return err
	}
	if !s.config.ForgetsChanges {
		return deliver(t, out, &CatchUp{s.part(out, slices.Sorted(maps.Keys(out.changed)))})
	}
	var err error
	for range tries {
		part := s.part(out, slices.Sorted(maps.Keys(out.changed)))
		clear(out.changed) // the bug: if this attempt is lost, the next one has nothing to send
		if _, err = call[Done](t, ServerOf(out.given.Shard), &CatchUp{part}); err == nil ||
			t.Sleep(retry) != nil {
			return err
		}
		out.seq--
	}
	return err
}

// end finds out from the directory how a movement has ended, which is by then out of reach of
// whatever is still on its way.
func (s *Server) end(out *outgoing) {
	if s.out != out || out.ending {
		return
	}
	out.ending = true
	ask := insist[Table]
	if s.config.AsksOnce {
		ask = call[Table] // the bug
	}
	s.node.Spawn(nil, "end of a movement", func(t env.Task) {
		table, err := ask(t, Directory, &Fetch{Fence: true})
		if err != nil || s.writes.take(t) != nil {
			return
		}
		defer s.writes.release()
		s.adopt(table)
		how := trace.Aborted
		if table.owns(out.given.Shard, out.given.Min, out.given.Max) {
			how = trace.Committed
			if s.write(t, &record{Drop: &out.given}, trace.RangeDeleter, out.move) != nil {
				return
			}
		}
		s.out = nil
		s.advance(out, trace.DonorDone)
		s.node.Emit(trace.MigrationEndedEvent{
			Shard: s.shard, Migration: out.move, Decision: how,
		}.Event())
	})
}

// install takes a part of a movement. Of an older one, and twice, it takes nothing.
func (s *Server) install(t env.Task, p *Part) (*Done, error) {
	if err := t.Point(SiteInstall, env.Note{ID: p.Move}); err != nil {
		return nil, err
	}
	if err := s.writes.take(t); err != nil {
		return nil, err
	}
	defer s.writes.release()
	if p.Version > s.in.Version && p.Seq == 1 && s.out == nil {
		in := incoming{Version: p.Version, Move: p.Move, Given: p.Given, Open: true}
		err := s.write(t, &record{In: &in, Drop: &p.Given}, trace.RangeDeleter, p.Move)
		if err != nil {
			return nil, err
		}
		s.await(p.Version)
	}
	switch {
	case p.Version != s.in.Version || !s.in.Open || p.Seq > s.in.Seq+1:
		return nil, errcode.New(Refused, "part %d of movement %s does not fit", p.Seq, p.Move)
	case p.Seq <= s.in.Seq:
		return &Done{}, nil
	}
	in := s.in
	in.Seq = p.Seq
	return &Done{}, s.write(t, &record{In: &in, Pairs: p.Pairs}, trace.Recipient, p.Move)
}

// await asks the directory again and again whether the movement is over, and deletes what came of
// one that failed.
func (s *Server) await(version int) {
	s.node.Spawn(nil, "await the end of a movement", func(t env.Task) {
		for s.in.Version == version && s.in.Open && t.Sleep(patience) == nil {
			table, err := call[Table](t, Directory, &Fetch{})
			if err != nil || table.Version == version {
				continue
			}
			if s.writes.take(t) != nil {
				return
			}
			s.close(t, table)
			s.writes.release()
		}
	})
}

// close ends the newest movement to the server, which is over by this table.
func (s *Server) close(t env.Task, table *Table) {
	s.adopt(table)
	r := record{In: &incoming{Version: s.in.Version, Move: s.in.Move, Given: s.in.Given}}
	if !table.owns(s.shard, s.in.Given.Min, s.in.Given.Max) {
		r.Drop = &s.in.Given
	}
	_ = s.write(t, &r, trace.RangeDeleter, s.in.Move) // a process that could not write has ended
}
