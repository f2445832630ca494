package shardstore

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// knowsTime has the oracle judge as of which config time a primary would read the catalog, by what
// it says in a request or an answer of its own.
func (c *cluster) knowsTime(node env.NodeID, said *rpc.Envelope) {
	c.notBefore(node, uint64(said.Clock.Config))
}

// tookOver has the oracle judge as of which config time a new primary would read the catalog when
// it begins to serve: nobody who asks it may have to tell it what its set has on record.
func (c *cluster) tookOver(e *trace.Event) {
	node := env.NodeID(e.Node)
	m := c.Member(node)
	if e.Kind != trace.Writable || m == nil || isConfig(node) {
		return
	}
	c.notBefore(node, uint64(c.ConfigTime(node)))
	if doc := minOpTime(m, store.Latest); doc != nil {
		counted, _ := doc.Lookup("minOpTimeUpdaters").AsInt64OK()
		c.oracle.TakesOver(e.Node, e.Shard, timeIn(doc, "minOpTime"), counted > 0)
	}
}

func (c *cluster) notBefore(node env.NodeID, known uint64) {
	m := c.Member(node)
	if m == nil || isConfig(node) || !m.IsPrimary() {
		return
	}
	kept := max(c.keptTime(string(node)), timeIn(minOpTime(m, m.Committed().Index), "minOpTime"))
	if known < kept {
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
	doc := m.Store().Get(shard.ClockNS, string(key.String(vectorClock)), m.Committed().Index)
	return timeIn(doc, "configTime")
}

// minOpTime is the document by which a shard of 4.2 keeps the config time, as of an index of its
// log; nil when it was never written.
func minOpTime(m *replset.Member, at uint64) bson.Raw {
	return m.Store().Get(shard.VersionNS, string(key.String("minOpTimeRecovery")), at)
}

// timeIn is a time in a document, 0 without one.
func timeIn(doc bson.Raw, field string) uint64 {
	if doc == nil {
		return 0
	}
	at, _ := doc.Lookup(field).AsInt64OK()
	return uint64(at)
}
