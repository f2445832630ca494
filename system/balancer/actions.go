package balancer

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// ActionLog is where the balancer records what it does (protocol 2.1): its rounds, and when it was
// started and stopped.
const ActionLog = "config.actionlog"

// logAction adds a record, and removes the oldest when there are enough (actionLogMaxRecords, in
// place of a capped collection). It is not waited for: a failover may take it back.
func (b *Balancer) logAction(t env.Task, what string, details bson.D) {
	number := b.lastAction() + 1
	doc, err := bson.Marshal(bson.D{
		{Key: "_id", Value: number}, {Key: "server", Value: string(b.node.ID())},
		{Key: "time", Value: bson.DateTime(b.server.Endpoint().Clock().Now().Cluster.Millis())},
		{Key: "what", Value: what}, {Key: "ns", Value: ""}, {Key: "details", Value: details},
	})
	b.node.Assert(err == nil, "the record %s %v cannot be encoded: %v", what, details, err)
	ops := []oplog.Op{{
		Kind:  oplog.Insert,
		NS:    ActionLog,
		ID:    string(key.Int(number)),
		Doc:   doc,
		Actor: uint8(trace.System),
		Tag:   what,
	}}
	_ = b.server.Write(t, append(ops, b.outdated(number, what)...)...)
}

// outdated removes the records that are too many once there is one of that number: several after
// an operator has lowered the limit.
func (b *Balancer) outdated(number int64, what string) (ops []oplog.Op) {
	most := int64(b.settings.ActionRecords)
	if most == 0 {
		return nil
	}
	b.member.Store().Scan(ActionLog, store.Latest, func(id string, _ bson.Raw) bool {
		old := key.Key(id) <= key.Int(number-most)
		if old {
			ops = append(ops, oplog.Op{
				Kind:  oplog.Delete,
				NS:    ActionLog,
				ID:    id,
				Actor: uint8(trace.System),
				Tag:   what,
			})
		}
		return old
	})
	return ops
}

// warn records shards that cannot give what they should, as all of it is jumbo: each once a term,
// however many rounds meet it.
func (m *term) warn(t env.Task, stuck []policy.OnlyJumbo) {
	for _, one := range stuck {
		if slices.Contains(m.warned, one) {
			continue
		}
		m.warned = append(m.warned, one)
		m.logAction(t, "balancer.warning", bson.D{
			{Key: "shard", Value: one.Shard}, {Key: "ns", Value: one.NS},
			{Key: "zone", Value: one.Zone}, {Key: "warning", Value: one.String()},
		})
	}
}

// lastAction is the number of the newest record.
func (b *Balancer) lastAction() (last int64) {
	b.member.Store().Scan(ActionLog, store.Latest, func(_ string, doc bson.Raw) bool {
		last, _ = doc.Lookup("_id").AsInt64OK()
		return true
	})
	return last
}
