package shardstore

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/shard"
)

// knowsTime has the oracle judge as of which config time a primary would read the catalog, by what
// it says in a request or an answer of its own.
func (c *cluster) knowsTime(node env.NodeID, said *rpc.Envelope) {
	c.notBefore(node, uint64(said.Clock.Config))
}

// tookOver has the oracle judge as of which config time a new primary would read the catalog when
// it begins to serve: nobody who asks it may have to tell it what its set has on record.
func (c *cluster) tookOver(e *trace.Event) {
	if e.Kind == trace.Writable {
		node := env.NodeID(e.Node)
		c.notBefore(node, uint64(c.ConfigTime(node)))
	}
}

func (c *cluster) notBefore(node env.NodeID, known uint64) {
	m := c.Member(node)
	if m == nil || isConfig(node) || !m.IsPrimary() {
		return
	}
	if kept := max(c.keptTime(string(node)), c.minOpTime(m)); known < kept {
		c.oracle.KnowsLess(string(node), known, kept)
	}
}

// vectorClock is the document by which a shard keeps the config time.
const vectorClock = "vectorClockState"

// keptTime is the config time that a majority of a member's shard has on record, as far as the
// member knows.
func (c *cluster) keptTime(node string) uint64 {
	m := c.Member(env.NodeID(node))
	if m == nil {
		return 0
	}
	return timeOnRecord(m, shard.ClockNS, vectorClock, "configTime")
}

// minOpTime is the config time that a majority of a member's shard has on record in 4.2.
func (c *cluster) minOpTime(m *replset.Member) uint64 {
	return timeOnRecord(m, shard.VersionNS, "minOpTimeRecovery", "minOpTime")
}

// timeOnRecord is a field of a document as a majority has it, as far as the member knows.
func timeOnRecord(m *replset.Member, ns, id, field string) uint64 {
	doc := m.Store().Get(ns, string(key.String(id)), m.Committed().Index)
	if doc == nil {
		return 0
	}
	at, _ := doc.Lookup(field).AsInt64OK()
	return uint64(at)
}
