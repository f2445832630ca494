package wire_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// fromConfig keeps the config server from the members of a shard, and returns what undoes it.
func (c *simulated) fromConfig(shard string) (heal func()) {
	each := func(do func(config, member int)) {
		for i := range c.cluster.Members("config") {
			for j := range c.cluster.Members(shard) {
				do(i, j)
			}
		}
	}
	configs, members := c.cluster.Members("config"), c.cluster.Members(shard)
	each(func(i, j int) { c.world.Partition(configs[i], members[j], false) })
	return func() { each(func(i, j int) { c.world.Heal(configs[i], members[j], false) }) }
}

func (c *simulated) pass(d time.Duration) {
	c.world.Run(func() bool { return false }, c.world.Now().Add(d))
}

// operations are commands that a sharded collection is concerned by as a whole.
var operations = []bson.D{
	{{Key: "drop", Value: "docs"}},
	{{Key: "dropDatabase", Value: 1}},
	{{Key: "renameCollection", Value: "test.docs"}, {Key: "to", Value: "test.more"}},
	{{Key: "createIndexes", Value: "docs"}, {Key: "indexes", Value: bson.A{bson.D{
		{Key: "name", Value: "x"}, {Key: "key", Value: bson.D{{Key: "x", Value: 1}}}}}}},
	{{Key: "shardCollection", Value: "test.new"},
		{Key: "key", Value: bson.D{{Key: "k", Value: 1}}}},
}

// isOK reports whether a command has succeeded.
func isOK(answer bson.Raw) bool {
	ok, _ := answer.Lookup("ok").AsInt64OK()
	return ok == 1
}

// TestLongOperation: a command about a whole sharded collection that takes long is answered when it
// has ended, and not before by an error though it goes on. A database that is dropped is dropped as
// a whole.
func TestLongOperation(t *testing.T) {
	for _, cmd := range operations {
		c := simulate(t, 1)
		c.wantOK(bson.D{{Key: "create", Value: "plain"}})
		for _, router := range c.routers { // what they need of the catalog they know
			c.answer(router, bson.D{{Key: "count", Value: "docs"}})
		}
		heal := c.fromConfig("shard-b")
		var answer bson.Raw
		c.ask(c.routers[0], cmd, func(doc bson.Raw) { answer = doc })
		c.pass(time.Minute)
		if answer != nil {
			t.Errorf("%v is not over, and was answered with %v", cmd, answer)
		}
		heal()
		c.until("the command is answered", func() bool { return answer != nil })
		if !isOK(answer) {
			t.Errorf("%v was answered with %v", cmd, answer)
		}
		left := c.answer(c.routers[0], bson.D{{Key: "listCollections", Value: 1}})
		names, _ := left.Lookup("cursor", "firstBatch").Array().Values()
		if cmd[0].Key == "dropDatabase" && len(names) > 0 {
			t.Errorf("of the dropped database there is left %v", names)
		}
	}
}

// TestOperationOverFailover: who takes an operation over answers for it as who began it would have.
func TestOperationOverFailover(t *testing.T) {
	for _, cmd := range operations {
		c := simulate(t, 1)
		c.wantOK(bson.D{{Key: "create", Value: "plain"}})
		c.answer(c.routers[0], bson.D{{Key: "count", Value: "docs"}})
		heal := c.fromConfig("shard-b")
		var answer bson.Raw
		c.ask(c.routers[0], cmd, func(doc bson.Raw) { answer = doc })
		c.pass(2 * time.Second)
		if answer != nil {
			t.Fatalf("%v is not over, and was answered with %v", cmd, answer)
		}
		old := c.cluster.Primary("config")
		c.world.Crash(old)
		c.pass(20 * time.Second)
		c.world.Restart(old)
		heal()
		c.until("the command is answered", func() bool { return answer != nil })
		if !isOK(answer) {
			t.Errorf("%v was answered with %v", cmd, answer)
		}
	}
}

// TestMaxTime: a client that says how long it waits is answered then, and what it has asked for
// goes on.
func TestMaxTime(t *testing.T) {
	const expired = 50
	c := simulate(t, 1)
	heal := c.fromConfig("shard-b")
	c.wantCode(expired,
		bson.D{{Key: "drop", Value: "docs"}, {Key: "maxTimeMS", Value: int64(2000)}})
	heal()
	c.pass(10 * time.Second)
	c.wantOK(bson.D{{Key: "create", Value: "docs"}, {Key: "maxTimeMS", Value: int64(2000)}})
	c.wantCode(2, bson.D{{Key: "drop", Value: "docs"}, {Key: "maxTimeMS", Value: int64(-1)}})
}

// TestOperationWithoutPrimary: nobody waits for ever for a config server that is not there.
func TestOperationWithoutPrimary(t *testing.T) {
	c := simulate(t, 1)
	c.wantOK(bson.D{{Key: "create", Value: "plain"}})
	c.answer(c.routers[0], bson.D{{Key: "count", Value: "docs"}})
	members := c.cluster.Members("config")
	heal := c.fromConfig("shard-b")
	var answer bson.Raw
	c.ask(c.routers[0], bson.D{{Key: "renameCollection", Value: "test.docs"},
		{Key: "to", Value: "test.more"}}, func(doc bson.Raw) { answer = doc })
	c.pass(5 * time.Second)
	for _, id := range members {
		c.world.Crash(id)
	}
	c.pass(2 * time.Minute)
	if answer == nil || isOK(answer) {
		t.Errorf("after two minutes without a config server the answer is %v", answer)
	}
	for _, id := range members {
		c.world.Restart(id)
	}
	heal()
	c.pass(10 * time.Second)
	c.wantNames("more", "plain")
}
