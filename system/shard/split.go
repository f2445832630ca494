package shard

import (
	"iter"
	"slices"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/splitvector"
)

// splitChunk cuts a chunk of this shard (protocol 13.2). No document moves: only the catalog
// changes, and what the shard knows of it.
func (s *Server) splitChunk(
	t env.Task, _ env.NodeID, req *command.ShardsvrSplitChunk,
) (*command.Done, error) {
	rng := key.Range{Min: req.Min, Max: req.Max}
	commit := &command.CommitChunkSplit{
		NS:    req.NS,
		Epoch: req.Epoch,
		Shard: s.name,
		Min:   req.Min,
		Max:   req.Max,
		At:    req.At,
	}
	return s.reshape(t, req.NS, rng.Min, commit, failpoint.SplitSendCommit,
		func(table *catalog.Table) bool {
			return table.Collection().Epoch == req.Epoch && isSplit(table, rng, req.At)
		})
}

// Split is splitChunk for the parts of this shard that decide what is to be cut.
func (s *Server) Split(t env.Task, req *command.ShardsvrSplitChunk) error {
	_, err := s.splitChunk(t, s.node.ID(), req)
	return err
}

// mergeChunks makes one chunk of several of this shard.
func (s *Server) mergeChunks(
	t env.Task, _ env.NodeID, req *command.ShardsvrMergeChunks,
) (*command.Done, error) {
	rng := key.Range{Min: req.Min, Max: req.Max}
	commit := &command.CommitChunksMerge{
		NS:    req.NS,
		Epoch: req.Epoch,
		Shard: s.name,
		Min:   req.Min,
		Max:   req.Max,
	}
	return s.reshape(t, req.NS, rng.Min, commit, failpoint.SplitMergeCommit,
		func(table *catalog.Table) bool {
			return table.Collection().Epoch == req.Epoch && table.Owner(rng.Min).Range == rng
		})
}

// mergeAllChunks has the config server join all chunks of this shard that may be joined. When the
// outcome is unknown it is a failure: repeating the request is harmless.
func (s *Server) mergeAllChunks(
	t env.Task, _ env.NodeID, req *command.ShardsvrMergeAllChunks,
) (*command.Done, error) {
	commit := &command.CommitMergeAllChunks{NS: req.NS, Shard: s.name}
	return s.reshape(t, req.NS, key.Min, commit, failpoint.SplitAutoMerge,
		func(*catalog.Table) bool { return false })
}

// isSplit reports whether the range consists of chunks that meet at the points.
func isSplit(table *catalog.Table, rng key.Range, at []key.Key) bool {
	for _, k := range append(slices.Clone(at), rng.Min) {
		if table.Owner(k).Min != k {
			return false
		}
	}
	return rng.Max == key.Max || table.Owner(rng.Max).Min == rng.Max
}

// reshape has the config server commit a change of chunks and takes it over. The commit is sent
// once: when its outcome is unknown, what the refresh shows is the outcome, unless the collection
// is another one by now, or none, which may look the same. Without an answer of the config server
// the first chunk that changes must also be newer than all that the shard knew before: a member
// that lags shows what may have been undone since. A migration of the collection does not matter:
// the commits follow each other, and one that a chunk was taken away from is refused. A primary
// that was deposed meanwhile does not answer for its shard.
func (s *Server) reshape(
	t env.Task, ns string, first key.Key, commit env.Message, site failpoint.Site,
	happened func(*catalog.Table) bool,
) (*command.Done, error) {
	lead, err := s.cfg.Member.Lead()
	if err != nil {
		return nil, err
	}
	c, note := s.Collection(ns), env.Note{ID: ns}
	before := c.known
	if c.donor != nil {
		if err := t.Point(failpoint.SplitConcurrentWithMove, note); err != nil {
			return nil, err
		}
	}
	if err := t.Point(site, note); err != nil {
		return nil, err
	}
	_, err = rpc.CallPrimary[command.CommitReply](t, s.Set(ConfigSet), commit,
		s.cfg.Settings.CommandTimeout)
	if lost := t.Point(failpoint.SplitCommitReply, note); lost != nil {
		err = lost
	}
	table, unknown := s.afterReshaping(t, c)
	switch {
	case unknown != nil:
		return nil, unknown
	case err != nil && !(happened(table) &&
		(isRefusal(err) || before != nil && before.Version().Older(table.Owner(first).Version))):
		return nil, err
	}
	return &command.Done{}, lead.AwaitMajority(t)
}

// isRefusal reports whether the config server has looked at the chunks: what is read after that is
// no older than what it has seen.
func isRefusal(err error) bool {
	return errcode.Is(err, errcode.BadValue, errcode.ConflictingOperationInProgress)
}

func (s *Server) afterReshaping(t env.Task, c *Collection) (*catalog.Table, error) {
	if err := t.Point(failpoint.SplitRefreshAfter, env.Note{ID: c.ns}); err != nil {
		return nil, err
	}
	if err := c.settleAndRefresh(t); err != nil {
		return nil, err
	}
	if c.known == nil {
		return nil, errcode.New(errcode.Interrupted,
			"the metadata of %s was cleared after it was refreshed", c.ns)
	}
	return c.known.Table, nil
}

// Index gives the documents that the member has of a namespace, owned or not, by shard key.
func (s *Server) Index(ns string) splitvector.Index {
	return func(rng key.Range, down bool) iter.Seq2[key.Key, int] {
		return s.cfg.Member.Store().Sizes(ns, rng, down)
	}
}

// Extent is how much they are.
func (s *Server) Extent(ns string) (e splitvector.Extent) {
	e.Documents, e.Bytes = s.cfg.Member.Store().Extent(ns)
	return e
}

// dataSize looks at every document of the ranges.
func (s *Server) dataSize(
	_ env.Task, _ env.NodeID, req *command.DataSize,
) (*command.DataSizes, error) {
	if err := s.cfg.Member.NeedPrimary(); err != nil {
		return nil, err
	}
	sizes := &command.DataSizes{Bytes: make([]int64, len(req.Ranges))}
	for i, rng := range req.Ranges {
		for _, bytes := range s.Index(req.NS)(rng, false) {
			sizes.Bytes[i] += int64(bytes)
		}
	}
	return sizes, nil
}

// splitVector says where to split a range that the shard owns (autoSplitVector, protocol 13.1). The
// balancer takes a chunk without such a place for jumbo, so no former primary answers, nor one that
// does not know that it is one.
func (s *Server) splitVector(
	t env.Task, _ env.NodeID, req *command.SplitVector,
) (*command.SplitVectorReply, error) {
	lead, err := s.cfg.Member.Lead()
	if err != nil {
		return nil, err
	}
	if err := t.Point(failpoint.SplitAutoScan, env.Note{ID: req.NS}); err != nil {
		return nil, err
	}
	points := splitvector.Points(s.Index(req.NS), splitvector.Request{
		Range:      key.Range{Min: req.Min, Max: req.Max},
		Collection: s.Extent(req.NS),
		ChunkBytes: req.ChunkBytes,
		Limit:      req.Limit,
	})
	if err := t.Point(failpoint.SplitPickPoints, env.Note{ID: req.NS}); err != nil {
		return nil, err
	}
	if err := lead.Err(); err != nil {
		return nil, err
	}
	return &command.SplitVectorReply{Points: points}, s.cfg.Member.Confirm(t)
}
