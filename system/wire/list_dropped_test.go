package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/wire/deployment"
)

// TestListBesideDrop: collections are listed although one of them is dropped meanwhile.
func TestListBesideDrop(t *testing.T) {
	c := simulate(t, 1)
	c.wantOK(bson.D{{Key: "create", Value: "plain"}})
	held := c.world.AddRule(sim.Rule{
		From: string(c.routers[0]), To: "config.*", Hold: true,
		Match: func(m *sim.Message) bool {
			if sent, ok := m.Body.(*rpc.Envelope); ok && m.Call {
				_, ok = sent.Body.(*command.GetRoutingTable)
				return ok
			}
			return false
		},
	})
	var all []command.ListedCollection
	over, failed := false, error(nil)
	c.world.Node(c.routers[0]).Spawn(nil, "list", func(task env.Task) {
		all, failed = c.behind(c.routers[0]).Collections(task, "test")
		over = true
	})
	c.on(c.routers[1], func(task env.Task) {
		d := c.behind(c.routers[1])
		if _, err := deployment.Ask[command.Done](task, d,
			&command.DropCollection{NS: "test.docs"}); err != nil {
			t.Fatal(err)
		}
	})
	c.world.Release(held)
	c.world.RemoveRule(held)
	c.until("the collections are listed", func() bool { return over })
	if failed != nil || len(all) != 1 || all[0].NS != "test.plain" {
		t.Errorf("the collections are %v, %v", all, failed)
	}
}
