package wire_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// TestSessionsExpire: a shard remembers what a driver's session has written for half an hour, also
// over a failover, and forgets it some time after that.
func TestSessionsExpire(t *testing.T) {
	c := simulate(t, 1)
	c.wantOK(bson.D{{Key: "create", Value: "plain"}})
	write := func(session byte, id int, txn int64) bson.Raw {
		return c.answer(c.routers[0], bson.D{{Key: "update", Value: "plain"},
			{Key: "updates", Value: bson.A{bson.D{
				{Key: "q", Value: bson.D{{Key: "_id", Value: id}}},
				{Key: "u", Value: bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}},
				{Key: "upsert", Value: true}}}},
			{Key: "lsid", Value: bson.D{{Key: "id", Value: bson.Binary{
				Subtype: 4, Data: []byte{15: session}}}}},
			{Key: "txnNumber", Value: txn}})
	}
	rows := func() (n int) {
		primary := c.cluster.Member(c.cluster.Primary("shard-a"))
		primary.Store().Scan(shard.SessionsNS, store.Latest, func(_ string, doc bson.Raw) bool {
			if id, _ := doc.Lookup("_id").StringValueOK(); id[:7] == "client/" {
				n++
			}
			return true
		})
		return n
	}
	const sessions, busy, late = 40, 99, 7
	txn := int64(0)
	pass := func(minutes int) {
		for range minutes { // and one session goes on all the time
			c.pass(time.Minute)
			txn++
			write(busy, busy, txn)
		}
	}
	again := func() {
		c.Helper()
		write(late, late, 1)
		if n := c.answer(c.routers[0], bson.D{{Key: "count", Value: "plain"}, {Key: "query",
			Value: bson.D{{Key: "_id", Value: late}, {Key: "n", Value: 1}}}}); n.Lookup(
			"n").AsInt64() != 1 {
			t.Errorf("a write was executed twice")
		}
	}
	for i := range byte(sessions) {
		write(i, int(i), 1)
	}
	pass(29)
	again()
	if n := rows(); n != sessions+1 {
		t.Errorf("%d sessions are remembered after 29 minutes, not %d", n, sessions+1)
	}
	pass(3)
	if n := rows(); n != 2 {
		t.Errorf("%d sessions are remembered after 32 minutes, not the two in use", n)
	}
	old := c.cluster.Primary("shard-a")
	c.world.Crash(old)
	pass(20)
	again()
	c.world.Restart(old)
	pass(45)
	if n := rows(); n != 1 {
		t.Errorf("%d sessions are remembered in the end, not the one that goes on", n)
	}
}
