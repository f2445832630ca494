package configsvr

import (
	"slices"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

// awaitDeleted keeps a request that waits for the deletion from being answered before it, when the
// range has arrived and the donor, which would have waited itself, has not answered.
func (s *Server) awaitDeleted(
	t env.Task, req *command.MoveRange, piece key.Range, donor string, ends env.Time,
) error {
	if !req.WaitDelete {
		return nil
	}
	chunk, err := s.holder(req.NS, piece)
	if err != nil {
		return err
	}
	table, err := s.catalog.latest(req.NS)
	if err != nil {
		return err
	}
	had := []string{donor} // or who had it before, when that is not known any more
	for _, p := range chunk.History {
		had = append(had, p.Shard)
	}
	slices.Sort(had)
	ask := &command.AwaitRangeDeletion{
		NS: req.NS, UUID: table.Collection().UUID, Min: chunk.Min, Max: chunk.Max,
	}
	for _, shard := range slices.Compact(had) {
		// What a shard that has left still has to delete is its own business; it may be switched off.
		if _, left := s.catalog.shard(shard); left != nil || shard == req.To {
			continue
		}
		if err := s.awaitDeletedBy(t, ends, shard, ask); err != nil {
			return err
		}
	}
	return nil
}

// awaitDeletedBy has a shard answer when nothing of the range is left to delete. A donor of 4.2
// begins the deletion only behind its commit, and nothing says before that there will be one.
func (s *Server) awaitDeletedBy(
	t env.Task, ends env.Time, shard string, ask *command.AwaitRangeDeletion,
) error {
	if !s.profile.PersistsRangeDeletions() {
		join := &command.JoinMigrations{NS: ask.NS}
		if err := s.askUntil(t, ends, shard, join); err != nil {
			return err
		}
	}
	return s.askUntil(t, ends, shard, ask)
}

// askUntil repeats a request that may be repeated until it is answered.
func (s *Server) askUntil(t env.Task, ends env.Time, shard string, req env.Message) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		_, err := rpc.CallPrimary[command.Done](t, s.shards[shard], req, s.settings.CommandTimeout)
		if err == nil || errcode.Is(err, errcode.ShardNotFound) {
			return nil
		}
		if !isUndecided(err) || s.node.Mono().Add(pause) >= ends {
			return err
		}
		if err := t.Sleep(pause); err != nil {
			return err
		}
	}
}
