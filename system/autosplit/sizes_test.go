package autosplit_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

// TestSizesOfCollections: that chunks of one collection may get large keeps nobody from splitting
// those of another.
func TestSizesOfCollections(t *testing.T) {
	const large, small = "test.large", "test.small"
	w := sim.New(sim.Options{Seed: 1, Codec: codec.BSON, YieldMax: -1})
	defer w.Close()
	s := settings.Default(protocol.V42)
	s.MaxChunkBytes = 1000
	var colls []system.Collection
	for _, ns := range []string{large, small} {
		colls = append(colls, system.Collection{NS: ns, Key: key.Pattern{Field: "k"}})
	}
	c, err := system.Assemble(w, system.Topology{
		Shards: 1, Members: 1, ConfigMembers: 1, Routers: 1, Clients: 1, Profile: protocol.V42,
		BalancerOff: true,
	}, &s, colls...)
	if err != nil {
		t.Fatal(err)
	}
	w.AddNode("client.0", func(env.Task) {})
	w.Run(c.Ready, w.Now().Add(time.Minute))
	over := false
	w.Node("client.0").Spawn(nil, "test", func(task env.Task) {
		defer func() { over = true }()
		_, sets := c.Operator(task.Node())
		bytes := int64(1 << 20)
		if _, err := rpc.AskPrimary[command.Done](task, sets["config"],
			&command.ConfigureCollectionBalancing{NS: large, ChunkBytes: &bytes}, time.Minute,
		); err != nil {
			t.Error(err)
			return
		}
		user := c.NewClient(task.Node())
		for _, ns := range []string{large, small} {
			fill(task, t, user, ns)
		}
	})
	w.Run(func() bool { return over }, w.Now().Add(time.Minute))
	w.Run(func() bool { return false }, w.Now().Add(5*time.Second))
	for ns, split := range map[string]bool{large: false, small: true} {
		table, err := c.Catalog(ns)
		if err != nil {
			t.Fatal(err)
		}
		if n := table.Count("shard-a"); split != (n > 1) {
			t.Errorf("%s has %d chunks", ns, n)
		}
	}
}

// fill writes documents of 50 bytes.
func fill(task env.Task, t *testing.T, user *client.Client, ns string) {
	for k := range 60 {
		doc, err := bson.Marshal(bson.D{
			{Key: "_id", Value: k}, {Key: "k", Value: k}, {Key: "v", Value: "some twenty letters"}})
		if err != nil {
			t.Error(err)
		}
		if a := user.Insert(task, command.Insert{
			NS: ns, Docs: []bson.Raw{doc}, Concern: command.Majority,
		}); a.Certainty != client.OK {
			t.Errorf("an insert into %s: %v", ns, a.Err)
		}
	}
}
