package configsvr

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

// commitChunkSplit cuts a chunk (protocol 3.2, 13.2). It is not idempotent: a requester that gets
// no answer looks at the catalog.
func (s *Server) commitChunkSplit(
	t env.Task, _ env.NodeID, req *command.CommitChunkSplit,
) (*command.CommitReply, error) {
	rng := key.Range{Min: req.Min, Max: req.Max}
	return s.reshape(t, failpoint.ConfigSplitCommit, trace.Split, req.NS, req.Shard,
		func(table *catalog.Table) ([]catalog.Chunk, error) {
			if err := checkKept(table, rng, req.Epoch, req.Shard); err != nil {
				return nil, err
			}
			return catalog.Split(table, rng, req.At, catalog.Bump(s.settings.MajorOnSplit > 0))
		})
}

// commitChunksMerge makes one chunk of several (protocol 3.2).
func (s *Server) commitChunksMerge(
	t env.Task, _ env.NodeID, req *command.CommitChunksMerge,
) (*command.CommitReply, error) {
	rng := key.Range{Min: req.Min, Max: req.Max}
	return s.reshape(t, failpoint.ConfigMergeCommit, trace.Merge, req.NS, req.Shard,
		func(table *catalog.Table) ([]catalog.Chunk, error) {
			if err := checkKept(table, rng, req.Epoch, req.Shard); err != nil {
				return nil, err
			}
			return catalog.Merge(table, rng, catalog.Bump(s.settings.MajorOnMerge > 0))
		})
}

// commitMergeAllChunks joins all chunks of a shard that may be joined, in one entry (protocol
// 13.4).
func (s *Server) commitMergeAllChunks(
	t env.Task, _ env.NodeID, req *command.CommitMergeAllChunks,
) (*command.CommitReply, error) {
	return s.reshape(t, failpoint.ConfigMergeCommit, trace.AutoMerge, req.NS, req.Shard,
		func(table *catalog.Table) ([]catalog.Chunk, error) {
			coll := table.Collection()
			if coll.Unsharded {
				return nil, errcode.New(errcode.BadValue, "collection %s is not sharded", coll.NS)
			}
			ranges := catalog.MergeableOn(table, s.Zones(req.NS, coll.Key), req.Shard,
				s.HistoryBegins())
			return catalog.MergeAll(table, ranges, catalog.Bump(s.settings.MajorOnMerge > 0))
		})
}

// HistoryBegins is the earliest time whose owners a snapshot read may still ask for.
func (s *Server) HistoryBegins() hlc.Timestamp {
	return hlc.At(s.ep.Clock().Now().Cluster.Millis() - s.historyWindow().Milliseconds())
}

// checkKept checks that a shard still has the first chunk of a range, in the incarnation that it
// means.
func checkKept(table *catalog.Table, rng key.Range, epoch, shard string) error {
	switch coll := table.Collection(); {
	case coll.Unsharded:
		return errcode.New(errcode.BadValue, "collection %s is not sharded", coll.NS)
	case coll.Epoch != epoch:
		return errcode.New(errcode.StaleEpoch, "collection %s has epoch %s, not %s",
			coll.NS, coll.Epoch, epoch)
	}
	if chunk := table.Owner(rng.Min); chunk.Shard != shard {
		return conflictError("chunk %v is not on %s", chunk, shard)
	}
	return nil
}

// reshape writes other chunks for the same keys and owners, under the chunk-operation lock as every
// change of chunks: a migration that commits at the same time gets other versions (H-45).
func (s *Server) reshape(
	t env.Task, site failpoint.Site, why trace.CatalogChange, ns, shard string,
	change func(*catalog.Table) ([]catalog.Chunk, error),
) (reply *command.CommitReply, err error) {
	err = s.InTerm(t, site.String()+" "+ns, func(own env.Task) error {
		err := s.Locked(own, func() error { return s.rewrite(own, site, why, ns, change) })
		if err == nil {
			reply, err = s.versions(ns, shard)
		}
		return s.Settled(own, err)
	})
	return reply, err
}

func (s *Server) rewrite(
	t env.Task, site failpoint.Site, why trace.CatalogChange, ns string,
	change func(*catalog.Table) ([]catalog.Chunk, error),
) error {
	if err := t.Point(site, env.Note{ID: ns}); err != nil {
		return err
	}
	table, err := s.catalog.latest(ns)
	if err != nil {
		return err
	}
	changed, err := change(table)
	if err != nil || len(changed) == 0 {
		return err
	}
	return s.Replace(t, table, changed, why.String())
}

// isolate makes a piece of a chunk a chunk of its own, by having the owner split it off, and
// returns it. Only the catalog knows whether it has happened; the owner's answer does not count.
func (s *Server) isolate(
	t env.Task, ns string, chunk catalog.Chunk, piece key.Range,
) (catalog.Chunk, error) {
	if chunk.Range == piece {
		return chunk, nil
	}
	owner := s.shards[chunk.Shard]
	if owner == nil {
		return chunk, errcode.New(errcode.ShardNotFound, "there is no shard %q", chunk.Shard)
	}
	var at []key.Key
	for _, bound := range []key.Key{piece.Min, piece.Max} {
		if chunk.Min < bound && bound < chunk.Max {
			at = append(at, bound)
		}
	}
	_, failure := rpc.CallPrimary[command.Done](t, owner, &command.ShardsvrSplitChunk{
		NS: ns, Epoch: chunk.Version.Epoch, Min: chunk.Min, Max: chunk.Max, At: at,
	}, s.settings.CommandTimeout)
	now, err := s.owner(ns, piece.Min)
	switch {
	case err != nil:
		return now, err
	case now.Range == piece:
		return now, nil
	case failure != nil:
		return now, failure
	}
	return now, conflictError("range %v of %s was split off, but is in chunk %v now",
		piece, ns, now)
}
