package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
)

// deadEnd has a shard record that it does not know all that a session has done: with a range has
// come a history that was cut off.
func (c *simulated) deadEnd(set, session string, txn int64) {
	c.Helper()
	id := c.cluster.Primary(set)
	c.on(id, func(t env.Task) {
		m := c.cluster.Member(id)
		at := oplog.Time{Term: m.Term(), Index: m.Applied().Index + 1}
		row := marshal(c.T, bson.D{{Key: "_id", Value: session}, {Key: "txn", Value: txn},
			{Key: "lastOp", Value: bson.D{
				{Key: "t", Value: int64(at.Term)}, {Key: "i", Value: int64(at.Index)}}}})
		if _, err := m.Write(t,
			oplog.Op{Kind: oplog.Noop, NS: "test.docs", Actor: uint8(trace.Session), FromMigrate: true,
				Stmt: &oplog.Stmt{Session: session, Txn: txn, NS: "test.docs", DeadEnd: true}},
			oplog.Op{Kind: oplog.Update, NS: shard.SessionsNS, ID: string(key.String(session)),
				Doc: row, Actor: uint8(trace.System)},
		); err != nil {
			c.Error(err)
		}
	})
}

// TestStatementBesideDeadEnd: a statement without the shard key that is sent again is answered by
// the shard that has executed it, though another one does not know all of the session's history.
// Only if none has executed it, nobody knows whether it was.
func TestStatementBesideDeadEnd(t *testing.T) {
	c := simulate(t, 1)
	c.wantOK(bson.D{{Key: "insert", Value: "docs"}, {Key: "documents", Value: bson.A{
		bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: 20}, {Key: "x", Value: 1}}}}})
	update := func(txn int64) bson.D {
		return bson.D{{Key: "update", Value: "docs"},
			{Key: "updates", Value: bson.A{bson.D{
				{Key: "q", Value: bson.D{{Key: "x", Value: 1}}},
				{Key: "u", Value: bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}}}}},
			{Key: "lsid", Value: bson.D{{Key: "id", Value: bson.Binary{
				Subtype: 4, Data: make([]byte, 16)}}}},
			{Key: "txnNumber", Value: txn}}
	}
	session := "client/00000000000000000000000000000000"
	c.wantOK(update(1)) // on the second shard
	c.deadEnd("shard-a", session, 1)
	again := c.answer(c.routers[0], update(1))
	if n, _ := again.Lookup("nModified").AsInt64OK(); n != 1 {
		t.Errorf("the statement that is sent again was answered with %v", again)
	}
	c.wantCount(1, "docs", bson.D{{Key: "n", Value: 1}})
	c.deadEnd("shard-a", session, 2)
	const incompleteHistory = 217
	unknown := c.answer(c.routers[0], update(2))
	code, _ := unknown.Lookup("writeErrors", "0", "code").AsInt64OK()
	if code != incompleteHistory {
		t.Errorf("what nobody knows to be executed was answered with %v", unknown)
	}
	c.wantCount(1, "docs", bson.D{{Key: "n", Value: 1}})
}
