package configsvr

import (
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
)

// historyWindow is for how long placements are remembered (protocol 3.3).
func (s *Server) historyWindow() time.Duration {
	if s.profile == protocol.V42 {
		return s.settings.ShortestHistory
	}
	return max(s.settings.HistoryWindow, s.settings.TransactionLifetime,
		s.settings.ShortestHistory)
}

// commitChunkMigration gives a range to its recipient (protocol 3.3). The lock is released before
// the wait for the majority: the next commit builds on a write that is lost only together with its
// own.
func (s *Server) commitChunkMigration(
	t env.Task, _ env.NodeID, req *command.CommitChunkMigration,
) (*command.CommitReply, error) {
	var reply *command.CommitReply
	err := s.InTerm(t, "commit "+req.Migration, func(own env.Task) (err error) {
		if err = own.Point(failpoint.ConfigCommitLock, env.Note{ID: req.Migration}); err != nil {
			return err
		}
		commit := s.commit
		if !s.profile.CoordinatesMigrations() {
			commit = s.commitUnfenced
		}
		if err = s.Locked(own, func() error { return commit(own, req) }); err != nil {
			return err
		}
		if reply, err = s.versions(req.NS, req.From); err != nil {
			return err
		}
		if err = s.Majority(own); err != nil {
			return err
		}
		return own.Point(failpoint.ConfigCommitMajority, env.Note{ID: req.Migration})
	})
	if err != nil {
		return nil, err
	}
	return reply, t.Point(failpoint.ConfigCommitReply, env.Note{ID: req.Migration})
}

// commit checks and writes, under the lock: the form of 8.0.
func (s *Server) commit(t env.Task, req *command.CommitChunkMigration) error {
	at := func(site failpoint.Site) error {
		return t.Point(site, env.Note{Peer: req.To, ID: req.Migration})
	}
	if err := at(failpoint.ConfigCommitReadShard); err != nil {
		return err
	}
	if err := s.mayReceive(req.To); err != nil {
		return err
	}
	if err := at(failpoint.ConfigCommitReadColl); err != nil {
		return err
	}
	table, err := s.incarnation(req)
	if err != nil {
		return err
	}
	if err := at(failpoint.ConfigCommitReadChunk); err != nil {
		return err
	}
	rng := key.Range{Min: req.Min, Max: req.Max}
	chunk := table.Owner(req.Min)
	if !chunk.ContainsRange(rng) || rng.Empty() {
		return conflictError("range %v of %s is not inside one chunk: the chunk at its beginning "+
			"is %v",
			rng, req.NS, chunk)
	}
	if chunk.Shard == req.To {
		return at(failpoint.ConfigCommitDuplicateRequest)
	}
	if err := at(failpoint.ConfigCommitCheckVersion); err != nil {
		return err
	}
	if err := checkDonor(chunk, req); err != nil {
		return err
	}
	if err := at(failpoint.ConfigCommitPickValidAfter); err != nil {
		return err
	}
	return s.give(t, table, req, s.ep.Clock().Now().Cluster,
		catalog.HistoryWindow{Reach: s.historyWindow()})
}

// give records that the recipient owns the range from a time on: all chunks in one entry.
func (s *Server) give(
	t env.Task, table *catalog.Table, req *command.CommitChunkMigration, validAfter hlc.Timestamp,
	window catalog.HistoryWindow,
) error {
	at := func(site failpoint.Site) error {
		return t.Point(site, env.Note{Peer: req.To, ID: req.Migration})
	}
	if err := at(failpoint.ConfigCommitTrimHistory); err != nil {
		return err
	}
	if err := s.wanted(req); err != nil {
		return err
	}
	changed, err := catalog.Move(table, key.Range{Min: req.Min, Max: req.Max}, req.From, req.To,
		validAfter, window)
	if err != nil {
		return err
	}
	if err := at(failpoint.ConfigCommitControlChunk); err != nil {
		return err
	}
	if err := at(failpoint.ConfigCommitTxnWrite); err != nil {
		return err
	}
	if err := s.Replace(t, table, changed, trace.ChunkMoved.Of(req.Migration)); err != nil {
		return err
	}
	return at(failpoint.ConfigCommitAfterLocalWrite)
}

// BalancerSetting is the _id of the balancer's document of config.settings. Its field "closed" is
// true from when a stop of the balancer was answered until it is on again.
const BalancerSetting = "balancer"

// wanted refuses what the balancer asked for before it was stopped. A client that got the answer to
// the stop may rely on it: the check and the commit are in one log, so that no commit of an earlier
// primary comes behind the stop either (SERVER-100155).
func (s *Server) wanted(req *command.CommitChunkMigration) error {
	closed, _ := s.Setting(BalancerSetting).Lookup("closed").BooleanOK()
	if closed && req.Balancer {
		return conflictError("the balancer, which asked for migration %s, was stopped",
			req.Migration)
	}
	return nil
}

// mayReceive checks that a shard exists and is not being emptied.
func (s *Server) mayReceive(shard string) error {
	doc, err := s.catalog.shard(shard)
	if err == nil && doc.Draining {
		return errcode.New(errcode.ShardNotFound, "shard %q is draining and takes no chunks", shard)
	}
	return err
}

// commitUnfenced is the form of 4.2. The chunk must be there with exactly its bounds, but its
// version does not matter, so the commit of a donor that was given up long ago gets through; and as
// the donor must own the chunk, a commit that is sent again after it has succeeded is refused.
func (s *Server) commitUnfenced(t env.Task, req *command.CommitChunkMigration) error {
	at := func(site failpoint.Site) error {
		return t.Point(site, env.Note{Peer: req.To, ID: req.Migration})
	}
	if err := at(failpoint.ConfigCommitReadColl); err != nil {
		return err
	}
	table, err := s.incarnation(req)
	if err != nil {
		return err
	}
	if err := at(failpoint.ConfigCommitReadChunk); err != nil {
		return err
	}
	if _, err := s.catalog.shard(req.To); err != nil { // that it may drain, 4.2 does not look at
		return err
	}
	chunk := table.Owner(req.Min)
	switch rng := (key.Range{Min: req.Min, Max: req.Max}); {
	case chunk.Range != rng:
		return conflictError("collection %s has no chunk %v any more: the chunk at its beginning "+
			"is %v",
			req.NS, rng, chunk)
	case chunk.Shard != req.From:
		return conflictError("chunk %v is not on %s any more", chunk, req.From)
	}
	return s.give(t, table, req, req.ValidAfter,
		catalog.HistoryWindow{Reach: s.historyWindow(), DropsLast: true})
}

// incarnation checks that the collection is the one the migration began with and may be migrated.
func (s *Server) incarnation(req *command.CommitChunkMigration) (*catalog.Table, error) {
	table, err := s.catalog.latest(req.NS)
	if err != nil {
		return nil, err
	}
	switch coll := table.Collection(); {
	case coll.UUID != req.UUID || coll.Epoch != req.Epoch:
		return nil, errcode.New(errcode.StaleEpoch,
			"collection %s is %s with epoch %s, not %s with epoch %s",
			req.NS, coll.UUID, coll.Epoch, req.UUID, req.Epoch)
	case !coll.AllowMigrations:
		return nil, conflictError("migrations of %s are not allowed now", req.NS)
	}
	return table, nil
}

// checkDonor checks that the donor owns the chunk and has not been fenced: its successor would have
// raised the version.
func checkDonor(chunk catalog.Chunk, req *command.CommitChunkMigration) error {
	switch {
	case chunk.Shard != req.From:
		return conflictError("chunk %v is not on %s any more", chunk, req.From)
	case !req.PreVersion.SameIncarnation(chunk.Version):
		return errcode.New(errcode.StaleEpoch,
			"the migration began with version %v of another incarnation than %v",
			req.PreVersion, chunk)
	case req.PreVersion.Older(chunk.Version):
		return conflictError("the migration began with version %v of the chunk, which is now %v",
			req.PreVersion, chunk)
	}
	return nil
}

func conflictError(format string, args ...any) error {
	return errcode.New(errcode.ConflictingOperationInProgress, format, args...)
}

// versions are those after a change, as the primary has them now.
func (s *Server) versions(ns, shard string) (*command.CommitReply, error) {
	table, err := s.catalog.latest(ns)
	if err != nil {
		return nil, err
	}
	return &command.CommitReply{
		ShardVersion:      table.ShardVersion(shard),
		CollectionVersion: table.Version(),
	}, nil
}
