package balancer

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
)

// automerge periodically merges chunks that need not be separate any more (protocol 13.4). What
// fails is tried again when its time comes.
func (m *term) automerge(t env.Task) {
	// The interval may be zero; time must go on.
	for t.Sleep(settings.Pause(m.settings.MergeInterval)) == nil {
		if !m.automerges() {
			continue
		}
		m.tick(t)
		for _, merge := range m.merges() {
			if !m.automerges() {
				break
			}
			_ = m.merge(t, merge)
			if t.Sleep(m.settings.MergePause) != nil {
				return
			}
		}
	}
}

// automerges says whether chunks may be joined now: an operator who stops the balancer expects a
// quiescent cluster.
func (m *term) automerges() bool { return m.permits(m.options()) && m.enabled(autoMerge) }

// merges are the shards that have chunks to join, by collection. Those of the sessions are cut on
// purpose, and would be cut again.
func (m *term) merges() (all []policy.Merge) {
	v := clusterView{m, m.options()}
	for _, coll := range m.server.Sharded() {
		if c, err := v.collection(coll.NS); err == nil && coll.NS != catalog.Sessions {
			all = append(all, policy.Merges(&c, m.server.HistoryBegins())...)
		}
	}
	return all
}

func (m *term) merge(t env.Task, what policy.Merge) error {
	set := m.server.Set(what.Shard)
	if set == nil {
		return errcode.New(errcode.ShardNotFound, "there is no shard %q", what.Shard)
	}
	_, err := rpc.CallPrimary[command.Done](t, set, &command.ShardsvrMergeAllChunks{NS: what.NS},
		m.settings.CommandTimeout)
	return err
}

// tick advances cluster time when there are no writes, as MongoDB's servers do all the time: what
// may be joined is a matter of time.
func (b *Balancer) tick(t env.Task) {
	_ = b.server.Write(t, oplog.Op{Kind: oplog.Noop, Actor: uint8(trace.System), Tag: "tick"})
}
