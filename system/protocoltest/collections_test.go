package protocoltest_test

import (
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
)

// drop removes the sharded collection.
func (r *rig) drop(line) error {
	r.wrote = map[int64]string{}
	return r.onCollection("drop", func(c *client.Client, t env.Task) client.Answer { return c.DropCollection(t, sharded) })
}

// create makes the sharded collection anew, on one shard.
func (r *rig) create(l line) error {
	req := command.ShardCollection{NS: sharded, Key: key.Pattern{Field: "k"}, Shards: []string{l.arg("on", "shard-a")}}
	return r.onCollection("create", func(c *client.Client, t env.Task) client.Answer { return c.ShardCollection(t, req) })
}

// rename gives the sharded collection another name, with over that of another collection.
func (r *rig) rename(l line) error {
	r.wrote = map[int64]string{}
	to, over := l.word(0), l.has("over")
	return r.onCollection("rename", func(c *client.Client, t env.Task) client.Answer {
		return c.RenameCollection(t, sharded, to, over)
	})
}

func (r *rig) onCollection(what string, do func(*client.Client, env.Task) client.Answer) error {
	u := r.clients()[0]
	r.send(u, func(t env.Task) { r.answer(what, do(u.client, t).Err) })
	return nil
}
