package configsvr

import (
	"cmp"
	"time"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

const (
	firstPause = 20 * time.Millisecond
	lastPause  = 640 * time.Millisecond
)

// moveRange has the owners of a range move it to another shard, one migration for each chunk that
// the range touches. What is there already needs no migration. With an open bound there is one
// migration.
func (s *Server) moveRange(
	t env.Task, _ env.NodeID, req *command.MoveRange,
) (*command.Done, error) {
	err := s.InTerm(t, "moveRange "+req.Name, func(own env.Task) error {
		if err := own.Point(
			failpoint.ConfigMoveRequest, env.Note{Peer: req.To, ID: req.Name},
		); err != nil {
			return err
		}
		return s.Settled(own, s.moveAsked(own, req))
	})
	return &command.Done{}, err
}

func (s *Server) moveAsked(t env.Task, req *command.MoveRange) error {
	if err := s.mayAsk(t, req); err != nil {
		return err
	}
	rng := key.Range{Min: cmp.Or(req.Min, key.Min), Max: cmp.Or(req.Max, key.Max)}
	if rng.Empty() { // no chunk would be in it, and the request would be done before it began
		return errcode.New(errcode.BadValue, "the range %v of %s that is to move is empty",
			rng, req.NS)
	}
	asked, err := s.ranged(req)
	if err != nil {
		return err
	}
	return s.movePieces(t, asked)
}

// moveEnds is when a client whose migration begins now gives up on it: later than any donor
// does.
func (s *Server) moveEnds() env.Time { return s.node.Mono().Add(s.settings.MoveWait) }

// ranged says by its range what a request says by a key.
func (s *Server) ranged(req *command.MoveRange) (*command.MoveRange, error) {
	if req.Find == "" {
		return req, nil
	}
	chunk, err := s.owner(req.NS, req.Find)
	asked := *req
	asked.Min, asked.Max, asked.Find = chunk.Min, chunk.Max, ""
	return &asked, err
}

// Migrate has a shard move what the balancer chose of a chunk, and returns when the outcome is
// known: in 4.2 the whole chunk, later what the request says, and when that has no upper bound as
// much as the donor finds right (protocol 13.3).
func (s *Server) Migrate(t env.Task, req *command.MoveRange, chunk catalog.Chunk) error {
	if s.profile.MovesPartOfChunk() {
		return s.movePiece(t, req, key.Range{Min: req.Min, Max: req.Max}, chunk.Shard,
			s.moveEnds())
	}
	m, err := s.recoveredManager(t)
	if err != nil {
		return err
	}
	return m.moveChunk(t, req, chunk)
}

func (s *Server) movePieces(t env.Task, req *command.MoveRange) error {
	ends := s.moveEnds()
	if req.Min == "" || req.Max == "" {
		return s.moveOpen(t, req, ends)
	}
	move := func(chunk catalog.Chunk, piece key.Range) error {
		return s.movePiece(t, req, piece, chunk.Shard, ends)
	}
	if !s.profile.MovesPartOfChunk() {
		if _, err := s.recoveredManager(t); err != nil {
			return err
		}
		move = func(chunk catalog.Chunk, piece key.Range) error {
			return s.moveWhole(t, req, chunk, piece)
		}
	}
	for rest := (key.Range{Min: req.Min, Max: req.Max}); !rest.Empty(); {
		chunk, err := s.owner(req.NS, rest.Min)
		if err != nil {
			return err
		}
		piece := chunk.Intersect(rest)
		if err := move(chunk, piece); err != nil {
			return err
		}
		rest.Min = piece.Max
	}
	return nil
}

// moveOpen has the donor choose the bound that is open (protocol 13.3): the range is a part of the
// chunk at the other one.
func (s *Server) moveOpen(t env.Task, req *command.MoveRange, ends env.Time) error {
	piece := key.Range{Min: req.Min, Max: req.Max}
	if !s.profile.MovesPartOfChunk() || piece == (key.Range{}) {
		return errcode.New(errcode.BadValue,
			"the range of %s that is to move has no bounds, or one, and 4.2 moves none like that",
			req.NS)
	}
	chunk, err := s.holder(req.NS, piece)
	if err != nil {
		return err
	}
	return s.movePiece(t, req, piece, chunk.Shard, ends)
}

// holder is the chunk that has a piece, or with an open bound the chunk at the other one, as the
// primary has it now.
func (s *Server) holder(ns string, piece key.Range) (catalog.Chunk, error) {
	if piece.Min != "" {
		return s.owner(ns, piece.Min)
	}
	table, err := s.catalog.latest(ns)
	if err != nil {
		return catalog.Chunk{}, err
	}
	return table.Below(piece.Max), nil
}

// chunkHolds reports whether the chunk has all of the piece, as far as that has bounds.
func chunkHolds(chunk catalog.Chunk, piece key.Range) bool {
	return piece.Min == "" || piece.Max == "" || chunk.ContainsRange(piece)
}

// moveWhole is how 4.2 moves a piece of a chunk: the piece is made a chunk first, which then is
// moved as a whole.
func (s *Server) moveWhole(
	t env.Task, req *command.MoveRange, chunk catalog.Chunk, piece key.Range,
) error {
	if chunk.Shard == req.To {
		return s.awaitDeleted(t, req, piece, chunk.Shard, s.moveEnds())
	}
	if err := s.checkMoveAllowed(t, req, piece); err != nil {
		return err
	}
	chunk, err := s.isolate(t, req.NS, chunk, piece)
	if err == nil {
		err = t.Err() // the split and the term may end at once
	}
	if err != nil {
		return err
	}
	return s.manager.moveChunk(t, req, chunk)
}

// owner is the chunk that holds a key, as the primary has it now.
func (s *Server) owner(ns string, k key.Key) (catalog.Chunk, error) {
	table, err := s.catalog.latest(ns)
	if err != nil {
		return catalog.Chunk{}, err
	}
	return table.Owner(k), nil
}

// movePiece sends one donor its request until the outcome is known. A request that is sent again
// joins the migration that it started, if that still runs; whether it has succeeded meanwhile is
// asked of the catalog and not of the donor.
func (s *Server) movePiece(
	t env.Task, req *command.MoveRange, piece key.Range, donor string, ends env.Time,
) error {
	pause := firstPause
	for try := 0; ; try++ {
		chunk, err := s.holder(req.NS, piece)
		switch {
		case err != nil:
			return err
		case chunk.Shard == req.To && chunkHolds(chunk, piece):
			return s.awaitDeleted(t, req, piece, donor, ends)
		case chunk.Shard != donor:
			return conflictError("range %v of %s went from %s to %s meanwhile",
				piece, req.NS, donor, chunk.Shard)
		}
		err = s.sendMove(t, req, piece, donor, try)
		if err == nil {
			return nil
		}
		if !isUndecided(err) {
			if s.verified(req, piece) {
				return s.awaitDeleted(t, req, piece, donor, ends)
			}
			return err
		}
		if s.node.Mono().Add(pause) >= ends {
			return err
		}
		if err := t.Sleep(pause); err != nil {
			return err
		}
		pause = min(2*pause, lastPause)
	}
}

func (s *Server) sendMove(
	t env.Task, req *command.MoveRange, piece key.Range, donor string, try int,
) error {
	if err := t.Point(
		failpoint.ConfigSendMove, env.Note{Peer: donor, ID: req.Name, N: try},
	); err != nil {
		return err
	}
	set := s.shards[donor]
	if set == nil {
		return errcode.New(errcode.ShardNotFound, "there is no shard %q", donor)
	}
	_, err := rpc.CallPrimary[command.Done](t, set, &command.ShardsvrMoveRange{
		NS:          req.NS,
		Min:         piece.Min,
		Max:         piece.Max,
		To:          req.To,
		WaitDelete:  req.WaitDelete,
		ForceJumbo:  req.ForceJumbo,
		Throttle:    req.Throttle,
		MigrationOf: req.Name,
		Balancer:    req.Balancer,
		ChunkBytes:  req.ChunkBytes,
	}, s.settings.CommandTimeout)
	return err
}

// isUndecided reports whether the migration may still run, or run again without harm, after the
// donor's error.
func isUndecided(err error) bool {
	return rpc.Gone(err) || errcode.Is(err, errcode.Interrupted)
}

// verified reports whether the range has arrived in spite of the donor's error.
func (s *Server) verified(req *command.MoveRange, piece key.Range) bool {
	chunk, err := s.holder(req.NS, piece)
	return err == nil && chunk.Shard == req.To && chunkHolds(chunk, piece)
}
