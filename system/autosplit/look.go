package autosplit

import (
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/splitvector"
)

// look splits a chunk that has become too big, and has the part at an end of all keys moved.
func (s *Splitter) look(t env.Task, ns string, chunk catalog.Chunk) error {
	policy, err := askConfig[command.SplitPolicy](t, s, &command.GetSplitPolicy{NS: ns})
	if err != nil || !policy.AutoSplit {
		return err
	}
	s.chunkBytes[ns] = policy.ChunkBytes
	points, top, err := s.points(t, ns, chunk, policy.ChunkBytes)
	if err != nil || len(points) == 0 {
		return err
	}
	err = s.shard.Split(t, &command.ShardsvrSplitChunk{
		NS:    ns,
		Epoch: chunk.Version.Epoch,
		Min:   chunk.Min,
		Max:   chunk.Max,
		At:    points,
	})
	if err != nil {
		return err
	}
	s.shard.Node().Sometimes("a chunk is split as much was written to it")
	if top.Empty() || !policy.Balancing {
		return nil
	}
	if err := t.Point(failpoint.SplitTopChunk, env.Note{ID: ns}); err != nil {
		return err
	}
	_, err = askConfig[command.Done](t, s,
		&command.RebalanceChunk{NS: ns, Epoch: chunk.Version.Epoch, Min: top.Min, Max: top.Max})
	return err
}

// points says where to split, and which part to give away then. The parts aimed at are half as big
// as a chunk, so that they have room to grow; two halves are no reason to split: between half and
// the whole size a chunk is as it should be. The size is what the config server said for this look:
// another one that runs meanwhile may have been told of a newer.
func (s *Splitter) points(
	t env.Task, ns string, chunk catalog.Chunk, chunkBytes int64,
) (points []key.Key, top key.Range, err error) {
	if err := t.Point(failpoint.SplitAutoScan, env.Note{ID: ns}); err != nil {
		return nil, top, err
	}
	index := s.shard.Index(ns)
	points = splitvector.Points(index, splitvector.Request{
		Range:      chunk.Range,
		Collection: s.shard.Extent(ns),
		ChunkBytes: chunkBytes / 2,
	})
	if err := t.Point(failpoint.SplitPickPoints, env.Note{ID: ns}); err != nil || len(points) < 2 {
		return nil, top, err
	}
	md := s.shard.Collection(ns).Metadata()
	if md == nil || md.Table.Collection().Key.Hashed {
		return points, top, nil // hashed keys do not grow
	}
	points, top = splitvector.Top(index, chunk.Range, points)
	return points, top, nil
}

// askConfig sends a question to the config server.
func askConfig[Resp any](t env.Task, s *Splitter, req env.Message) (*Resp, error) {
	return rpc.CallPrimary[Resp](t, s.shard.Set(shard.ConfigSet), req,
		s.shard.Settings().CommandTimeout)
}
