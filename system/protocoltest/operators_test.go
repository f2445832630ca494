package protocoltest_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

func init() {
	for verb, do := range map[string]func(*rig, line) error{
		// addshard shard-c [max=N]
		"addshard": func(r *rig, l line) error {
			r.insist("addShard "+l.word(0), &command.AddShard{Name: l.word(0), MaxBytes: l.number("max", 0)})
			return nil
		},
		// removeshard shard-c: one state further; until-removed repeats it for as long as it takes.
		"removeshard": (*rig).removeShard,
		// addtozone shard-a east, removefromzone shard-a east
		"addtozone": func(r *rig, l line) error {
			r.insist(fmt.Sprintf("%s to %s", l.word(0), l.word(1)), &command.AddShardToZone{Shard: l.word(0), Zone: l.word(1)})
			return nil
		},
		"removefromzone": func(r *rig, l line) error {
			r.insist(fmt.Sprintf("%s from %s", l.word(0), l.word(1)), &command.RemoveShardFromZone{Shard: l.word(0), Zone: l.word(1)})
			return nil
		},
		// zone 0 10 east, zone 0 10 none: in=test.later for another collection, by=k what it will be sharded by.
		"zone": (*rig).zone,
		// balance off, balance on
		"balance": func(r *rig, l line) error {
			on := l.word(0) == "on"
			r.ask("balance "+l.word(0), "config", &command.ConfigureCollectionBalancing{NS: sharded, Enabled: &on})
			return nil
		},
		// defragment on
		"defragment": func(r *rig, l line) error {
			on := l.word(0) == "on"
			r.ask("defragment "+l.word(0), "config", &command.ConfigureCollectionBalancing{NS: sharded, Defragment: &on})
			return nil
		},
		// shard test.later key=k hashed bounds=(0,10) shards=(shard-a) initial=4: shardCollection.
		"shard": (*rig).shardCollection,
		// clearjumbo 15
		"clearjumbo": func(r *rig, l line) error {
			r.ask("clearJumboFlag", "config", &command.ClearJumboFlag{NS: sharded, At: bound(l.word(0))})
			return nil
		},
	} {
		errands[verb] = do
	}
	// administration: the shards and the zones as the catalogue has them; owners test.later: who owns how many chunks.
	verbs["owners"] = (*rig).owners
	verbs["administration"] = (*rig).administration
}

// insist sends a command that may be repeated to the config server.
func (r *rig) insist(what string, req env.Message) {
	r.send(r.operator(), func(t env.Task) {
		_, err := insistent[command.Done](t, r.operator().sets["config"], req)
		r.answer(what, err)
	})
}

// insistent asks until there is an answer, whoever is primary.
func insistent[Resp any](t env.Task, set *rpc.Set, req env.Message) (resp *Resp, err error) {
	for range 10 {
		if resp, err = rpc.AskPrimary[Resp](t, set, req, 5*time.Second); !rpc.Gone(err) {
			break
		}
		if err := t.Sleep(time.Second); err != nil {
			return nil, err
		}
	}
	return resp, err
}

func (r *rig) removeShard(l line) error {
	name := l.word(0)
	r.send(r.operator(), func(t env.Task) {
		for {
			reply, err := insistent[command.RemoveShardReply](t, r.operator().sets["config"], &command.RemoveShard{Name: name})
			switch {
			case err != nil:
				r.say("removeShard %s: %v", name, err)
				return
			case l.has("until-removed") && reply.State != command.RemovalCompleted:
				if t.Sleep(100*time.Millisecond) != nil {
					return
				}
				continue
			}
			r.say("removeShard %s: %s%s", name, reply.State, left(reply))
			return
		}
	})
	return nil
}

func left(reply *command.RemoveShardReply) (text string) {
	if reply.Chunks > 0 {
		text += fmt.Sprintf(", %d chunks left", reply.Chunks)
	}
	if reply.Jumbo > 0 {
		text += fmt.Sprintf(", %d of them jumbo", reply.Jumbo)
	}
	if len(reply.Databases) > 0 {
		text += ", primary of " + strings.Join(reply.Databases, " ")
	}
	if reply.Unfinished != "" {
		text += ": " + reply.Unfinished
	}
	return text
}

func (r *rig) zone(l line) error {
	rng, zone := l.span(), l.word(2)
	if zone == "none" {
		zone = ""
	}
	req := &command.UpdateZoneKeyRange{NS: l.arg("in", sharded), Min: rng.Min, Max: rng.Max, Zone: zone, Field: l.arg("by", "")}
	r.ask(fmt.Sprintf("%v to %s", rng, l.word(2)), "config", req)
	return nil
}

func (r *rig) shardCollection(l line) error {
	req := &command.ShardCollection{
		NS: l.word(0), Key: key.Pattern{Field: l.arg("key", "k"), Hashed: l.has("hashed")}, Shards: l.list("shards"),
		InitialChunks: int(l.number("initial", 0)),
	}
	for _, b := range l.list("bounds") {
		req.Bounds = append(req.Bounds, bound(b))
	}
	r.ask("shardCollection "+req.NS, "config", req)
	return nil
}

// administration shows the documents that operators change.
func (r *rig) administration(line) error {
	primary := r.cluster.Member(r.cluster.Primary(configsvr.Name))
	if primary == nil {
		return errors.New("the config server has no primary")
	}
	data := primary.Store()
	data.Scan(configsvr.Shards, store.Latest, func(_ string, raw bson.Raw) bool {
		var doc configsvr.Shard
		r.must(bson.Unmarshal(raw, &doc))
		r.say("%s%s%s", doc.Name, map[bool]string{true: " drains"}[doc.Draining], zones(doc.Zones))
		return true
	})
	data.Scan(configsvr.Tags, store.Latest, func(_ string, raw bson.Raw) bool {
		ns, field, z, err := catalog.DecodeAnyZone(raw)
		r.must(err)
		r.say("%s %s in %v: %s", ns, field, z.Range, z.Name)
		return true
	})
	data.Scan(configsvr.Collections, store.Latest, func(_ string, raw bson.Raw) bool {
		coll, err := catalog.DecodeCollection(raw)
		r.must(err)
		if coll.Balancing != (catalog.Balancing{}) {
			r.say("%s %+v", coll.NS, coll.Balancing)
		}
		return true
	})
	return nil
}

func (r *rig) owners(l line) error {
	table, err := r.cluster.Catalog(l.word(0))
	if err != nil {
		return err
	}
	var all []string
	for c := range table.Chunks() {
		all = append(all, fmt.Sprintf("%v %s", c.Range, c.Shard))
	}
	r.say("%s", strings.Join(all, ", "))
	return nil
}

func (r *rig) must(err error) {
	if err != nil {
		r.t.Fatal(err)
	}
}

func zones(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return ", in " + strings.Join(all, " and ")
}

// tellChange tells what an operator has changed.
func (r *rig) tellChange(e *trace.Event) {
	switch change := e.ClusterChange(); change {
	case trace.ShardAdded, trace.ShardDraining, trace.ShardRemoved:
		r.say("%s writes: %s %s", e.Node, e.Peer, map[trace.ClusterChange]string{
			trace.ShardAdded: "is a shard", trace.ShardDraining: "drains", trace.ShardRemoved: "is no shard",
		}[change])
	case trace.ShardZones:
		r.say("%s writes: %s is in the zones %q", e.Node, e.Peer, e.Zones())
	case trace.ZoneRange:
		if e.Zones() == "" {
			r.say("%s writes: the range of %s from %v is in no zone", e.Node, e.NS, key.Key(e.Min))
			return
		}
		r.say("%s writes: %v of %s is in zone %s", e.Node, key.Range{Min: key.Key(e.Min), Max: key.Key(e.Max)}, e.NS, e.Zones())
	default:
		r.say("%s writes: %s of %s", e.Node, change, e.NS)
	}
}
