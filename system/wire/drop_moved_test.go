package wire_test

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/wire/deployment"
)

// TestCollectionsThatMoved: what a router lists, and drops with a database, is where the database
// is, also when it reads a member of the config server that has not heard of the move.
func TestCollectionsThatMoved(t *testing.T) {
	c := simulate(t, 1)
	lists, moves := c.behind(c.routers[0]), c.behind(c.routers[1])
	c.on(c.routers[0], func(task env.Task) {
		if _, err := lists.Create(task, "other.plain", nil, true); err != nil {
			t.Error(err)
		}
	})
	config, primary := c.cluster.Members("config"), c.cluster.Primary("config")
	behind := config[0]
	if behind == primary {
		behind = config[1]
	}
	// All have heard of it then.
	c.world.Run(func() bool { return false }, c.world.Now().Add(5*time.Second))
	for _, id := range config {
		if id != behind {
			c.world.Partition(id, behind, false)
			c.world.Partition(c.routers[0], id, false)
		}
	}
	c.on(c.routers[1], func(task env.Task) {
		known, err := moves.Database(task, "other")
		if err != nil {
			t.Error(err)
			return
		}
		to := map[string]string{"shard-a": "shard-b", "shard-b": "shard-a"}[known.Database.Primary]
		move := &command.MovePrimary{Database: "other", To: to}
		if err := deployment.Move(task, moves, move); err != nil {
			t.Error(err)
		}
	})
	c.on(c.routers[0], func(task env.Task) {
		all, err := lists.Collections(task, "other")
		if err == nil && len(all) != 1 {
			t.Errorf("the database that has moved is said to have %d collections", len(all))
		}
	})
	c.world.HealNetwork()
	c.on(c.routers[0], func(task env.Task) {
		if all, err := lists.Collections(task, "other"); len(all) != 1 || err != nil {
			t.Errorf("the database has %d collections, %v", len(all), err)
		}
	})
}
