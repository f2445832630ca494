package balancer

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
)

// split has chunks split that cross a boundary of zones, and those of the sessions until there are
// enough (protocol 13.2). One that fails is tried again in the next round, and delays nothing.
func (r *round) split(t env.Task) error {
	for _, coll := range r.server.Sharded() {
		c, err := r.collection(coll.NS)
		if err != nil {
			continue
		}
		splits := policy.ZoneSplits(&c)
		if coll.NS == catalog.Sessions {
			splits = append(splits, policy.SessionSplits(&c, r.settings.SessionChunks)...)
		}
		for _, s := range splits {
			_ = r.cut(t, s)
		}
	}
	return t.Err()
}

// cut has the owner split a chunk.
func (m *term) cut(t env.Task, s policy.Split) error {
	owner := m.server.Set(s.Chunk.Shard)
	if owner == nil {
		return errcode.New(errcode.ShardNotFound, "there is no shard %q", s.Chunk.Shard)
	}
	_, err := rpc.CallPrimary[command.Done](t, owner, &command.ShardsvrSplitChunk{
		NS: s.NS, Epoch: s.Chunk.Version.Epoch, Min: s.Chunk.Min, Max: s.Chunk.Max, At: s.Points,
	}, m.settings.CommandTimeout)
	return err
}

// splitOrMarkJumbo handles a chunk that is too big to be moved: when its owner finds no key to
// split it at, it is marked, and left alone until an operator clears the mark, splits or moves it
// (protocol 13.5, errata E10). Without an answer the next round comes across it again.
func (m *term) splitOrMarkJumbo(t env.Task, q *moveRequest) {
	if t.Point(failpoint.BalancerSplitOrJumbo, q.note()) != nil {
		return
	}
	points, err := m.splitPoints(t, q)
	switch {
	case err != nil:
	case len(points) > 0:
		_ = m.cut(t, policy.Split{NS: q.NS, Chunk: q.Chunk, Points: points})
	default:
		_ = m.server.Locked(t, func() error { return m.markJumbo(t, q) })
	}
}

// splitPoints asks the owner where the chunk can be split into parts of the size that is aimed at.
func (m *term) splitPoints(t env.Task, q *moveRequest) ([]key.Key, error) {
	owner := m.server.Set(q.Chunk.Shard)
	if owner == nil {
		return nil, errcode.New(errcode.ShardNotFound, "there is no shard %q", q.Chunk.Shard)
	}
	reply, err := rpc.CallPrimary[command.SplitVectorReply](t, owner, &command.SplitVector{
		NS: q.NS, Min: q.Chunk.Min, Max: q.Chunk.Max, ChunkBytes: q.chunkBytes,
	}, m.settings.CommandTimeout)
	if err != nil {
		return nil, err
	}
	return reply.Points, t.Err()
}

// leaveAlone keeps the balancer from a collection with a hashed key of which a shard lacks the
// index: each of its migrations would fail (protocol 14.2). An operator has it balanced again.
func (m *term) leaveAlone(t env.Task, q *moveRequest) {
	_ = m.server.Locked(t, func() error {
		table, err := m.server.Table(q.NS)
		if err != nil {
			return err
		}
		coll := table.Collection()
		if !coll.Key.Hashed || coll.Epoch != q.Chunk.Version.Epoch {
			return nil
		}
		as := coll.Balancing
		as.NoBalance = true
		return m.server.Describe(t, table, as, trace.BalancingOff.String())
	})
}

// markJumbo marks the chunk if it still is what was too big.
func (m *term) markJumbo(t env.Task, q *moveRequest) error {
	table, err := m.server.Table(q.NS)
	if err != nil || table.Owner(q.Chunk.Min).Version != q.Chunk.Version {
		return err
	}
	changed, err := catalog.MarkJumbo(table, q.Chunk.Range)
	if err != nil || len(changed) == 0 {
		return err
	}
	return m.server.Replace(t, table, changed, trace.Jumbo.String())
}
