package protocoltest

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

func (r *Rig) drop(l Line) error {
	if ns := l.Arg("in", ""); ns != "" {
		return r.onCollection("drop", func(c *client.Client, t env.Task) client.Answer {
			return c.DropUnsharded(t, ns)
		})
	}
	r.wrote = map[int64]string{}
	return r.onCollection("drop", func(c *client.Client, t env.Task) client.Answer {
		return c.DropCollection(t, Sharded, false)
	})
}

func (r *Rig) create(l Line) error {
	req := command.ShardCollection{
		NS: Sharded, Key: key.Pattern{Field: "k"}, Shards: []string{l.Arg("on", "shard-a")},
	}
	return r.onCollection("create", func(c *client.Client, t env.Task) client.Answer {
		return c.ShardCollection(t, req)
	})
}

func (r *Rig) rename(l Line) error {
	to, over := l.Word(0), l.Has("over")
	if ns := l.Arg("in", ""); ns != "" {
		return r.onCollection("rename", func(c *client.Client, t env.Task) client.Answer {
			return c.RenameUnsharded(t, ns, to, over)
		})
	}
	r.wrote = map[int64]string{}
	return r.onCollection("rename", func(c *client.Client, t env.Task) client.Answer {
		return c.RenameCollection(t, l.Arg("from", Sharded), to, over)
	})
}

func (r *Rig) createIndex(l Line) error {
	if ns := l.Arg("in", ""); ns != "" {
		of := bson.E{Key: l.Word(0), Value: int32(1)}
		if l.Has("hashed") {
			of.Value = "hashed"
		}
		spec := raw(bson.D{{Key: "key", Value: bson.D{of}}})
		return r.onCollection("createIndex", func(c *client.Client, t env.Task) client.Answer {
			return c.IndexUnsharded(t, ns, l.Word(0)+"_1", spec)
		})
	}
	return r.onCollection("createIndex", func(c *client.Client, t env.Task) client.Answer {
		return c.CreateIndex(t, Sharded, l.Word(0))
	})
}

func (r *Rig) dropIndex(l Line) error {
	return r.onCollection("dropIndex", func(c *client.Client, t env.Task) client.Answer {
		return c.DropIndex(t, Sharded, l.Word(0))
	})
}

// showIndexes shows which indexes the primary of each shard has, beside that of the shard key.
func (r *Rig) showIndexes(l Line) error {
	ns := l.Arg("in", Sharded)
	for _, name := range r.Cluster.Topology().ShardNames() {
		var names []string
		for _, i := range r.Member(r.Primary(name)).Store().Indexes(ns) {
			names = append(names, i.Name)
		}
		r.Say("%s: %q", name, names)
	}
	return nil
}

func (r *Rig) onCollection(what string, do func(*client.Client, env.Task) client.Answer) error {
	u := r.Clients()[0]
	r.Request(u, func(t env.Task) { r.answer(what, do(u.Client, t).Err) })
	return nil
}

func (r *Rig) shardCollection(l Line) error {
	req := &command.ShardCollection{
		NS: l.Word(0), Key: key.Pattern{Field: l.Arg("key", "k"), Hashed: l.Has("hashed")},
		Shards: l.List("shards"), InitialChunks: int(l.Number("initial", 0)),
	}
	for _, b := range l.List("bounds") {
		req.Bounds = append(req.Bounds, Bound(b))
	}
	r.ask("shardCollection "+req.NS, configsvr.Name, req)
	return nil
}

func (r *Rig) split(l Line) error {
	at := Bound(l.Word(0))
	r.throughRouter(fmt.Sprintf("split at %v", at), &command.SplitChunk{NS: Sharded, At: at})
	return nil
}

func (r *Rig) merge(l Line) error {
	rng := l.Range()
	req := &command.MergeChunks{NS: Sharded, Min: rng.Min, Max: rng.Max}
	r.throughRouter(fmt.Sprintf("merge of %v", rng), req)
	return nil
}

func (r *Rig) mergeAll(l Line) error {
	r.ask("merge of all on "+l.Word(0), l.Word(0), &command.ShardsvrMergeAllChunks{NS: Sharded})
	return nil
}

func (r *Rig) splitPoints(l Line) error {
	set := r.Operator().Sets[l.Word(0)]
	req := &command.SplitVector{
		NS: Sharded, Min: Bound(l.Word(1)), Max: Bound(l.Word(2)),
		ChunkBytes: l.Number("bytes", 400), Limit: int(l.Number("limit", 0)),
	}
	r.Request(r.Operator(), func(t env.Task) {
		reply, err := rpc.CallPrimary[command.SplitVectorReply](t, set, req, time.Minute)
		if err != nil {
			r.answer("points", err)
			return
		}
		r.Say("split at %v", reply.Points)
	})
	return nil
}

func (r *Rig) sizes(Line) error {
	table, err := r.Cluster.Catalog(Sharded)
	if err != nil {
		return err
	}
	req := &command.ShardsvrGetStatsForBalancing{
		Collections: []command.CollectionID{{NS: Sharded, UUID: table.Collection().UUID}},
	}
	r.Request(r.Operator(), func(t env.Task) {
		for _, shard := range r.Cluster.Topology().ShardNames() {
			set := r.Operator().Sets[shard]
			reply, err := rpc.CallPrimary[command.StatsForBalancing](t, set, req, time.Minute)
			if err != nil {
				r.answer("sizes", err)
				return
			}
			r.Say("%s has %d bytes", shard, reply.Bytes[0])
		}
	})
	return nil
}

// recreate drops a collection of a shard and makes it again, with another identity.
func (r *Rig) recreate(l Line) error {
	id := r.Primary(l.Word(0))
	m := r.Member(id)
	options := store.EncodeOptions("other", catalog.Unsharded)
	r.World.Node(id).Spawn(nil, "recreate", func(t env.Task) {
		_, err := m.Write(t,
			oplog.Op{Kind: oplog.Drop, NS: plain},
			oplog.Op{Kind: oplog.Create, NS: plain, Doc: options})
		if err == nil {
			id, other := string(key.Int(99)), doc(99, "other")
			insert := oplog.Op{Kind: oplog.Insert, NS: plain, ID: id, Doc: other}
			_, err = m.Write(t, insert)
		}
		if err != nil {
			r.Say("recreate: %v", err)
		}
	})
	return r.Pass(20 * time.Millisecond)
}
