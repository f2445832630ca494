package protocoltest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/store"
)

// administrationRequests are what operators change of shards, zones and collections.
func (r *Rig) administrationRequests() Verbs {
	return Verbs{
		// addshard shard-c [max=N]
		"addshard": func(l Line) error {
			req := &command.AddShard{Name: l.Word(0), MaxBytes: l.Number("max", 0)}
			r.askUntilAnswered("addShard "+l.Word(0), req)
			return nil
		},
		// removeshard shard-c: one state further; until-removed repeats it for as long as it takes.
		"removeshard": r.removeShard,
		// addtozone shard-a east, removefromzone shard-a east
		"addtozone": func(l Line) error {
			req := &command.AddShardToZone{Shard: l.Word(0), Zone: l.Word(1)}
			r.askUntilAnswered(fmt.Sprintf("%s to %s", l.Word(0), l.Word(1)), req)
			return nil
		},
		"removefromzone": func(l Line) error {
			req := &command.RemoveShardFromZone{Shard: l.Word(0), Zone: l.Word(1)}
			r.askUntilAnswered(fmt.Sprintf("%s from %s", l.Word(0), l.Word(1)), req)
			return nil
		},
		// zone 0 10 east, zone 0 10 none: in=test.later for another collection, by=k what that will
		// be sharded by.
		"zone": r.zone,
		// balance off, balance on; defragment on
		"balance": func(l Line) error {
			on := l.Word(0) == "on"
			what := "balance " + l.Word(0)
			return r.configure(what, command.ConfigureCollectionBalancing{Enabled: &on})
		},
		"defragment": func(l Line) error {
			on := l.Word(0) == "on"
			what := "defragment " + l.Word(0)
			return r.configure(what, command.ConfigureCollectionBalancing{Defragment: &on})
		},
		// clearjumbo 15
		"clearjumbo": func(l Line) error {
			req := &command.ClearJumboFlag{NS: Sharded, At: Bound(l.Word(0))}
			r.ask("clearJumboFlag", configsvr.Name, req)
			return nil
		},
	}
}

func (r *Rig) configure(what string, req command.ConfigureCollectionBalancing) error {
	req.NS = Sharded
	r.ask(what, configsvr.Name, &req)
	return nil
}

// askUntilAnswered sends a command that may be repeated to the config server.
func (r *Rig) askUntilAnswered(what string, req env.Message) {
	r.Request(r.Operator(), func(t env.Task) {
		_, err := askRepeatedly[command.Done](t, r.Operator().Sets[configsvr.Name], req)
		r.answer(what, err)
	})
}

// askRepeatedly asks until there is an answer, through changes of primary.
func askRepeatedly[Resp any](t env.Task, set *rpc.Set, req env.Message) (resp *Resp, err error) {
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

func (r *Rig) removeShard(l Line) error {
	name := l.Word(0)
	r.Request(r.Operator(), func(t env.Task) {
		config, req := r.Operator().Sets[configsvr.Name], &command.RemoveShard{Name: name}
		for {
			reply, err := askRepeatedly[command.RemoveShardReply](t, config, req)
			switch {
			case err != nil:
				r.Say("removeShard %s: %v", name, err)
				return
			case l.Has("until-removed") && reply.State != command.RemovalCompleted:
				if t.Sleep(100*time.Millisecond) != nil {
					return
				}
				continue
			}
			r.Say("removeShard %s: %s%s", name, reply.State, whatIsLeft(reply))
			return
		}
	})
	return nil
}

func whatIsLeft(reply *command.RemoveShardReply) (text string) {
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

func (r *Rig) zone(l Line) error {
	rng, zone := l.Range(), l.Word(2)
	if zone == "none" {
		zone = ""
	}
	req := &command.UpdateZoneKeyRange{
		NS: l.Arg("in", Sharded), Min: rng.Min, Max: rng.Max, Zone: zone, Field: l.Arg("by", ""),
	}
	r.ask(fmt.Sprintf("%v to %s", rng, l.Word(2)), configsvr.Name, req)
	return nil
}

// showAdministration shows the documents that operators change.
func (r *Rig) showAdministration(Line) error {
	primary := r.Member(r.Primary(configsvr.Name))
	if primary == nil {
		return errors.New("the config server has no primary")
	}
	for _, show := range []struct {
		ns   string
		line func(bson.Raw) (string, error)
	}{
		{configsvr.Shards, shardLine}, {configsvr.Tags, zoneLine},
		{configsvr.Collections, balancingLine},
	} {
		var wrong error
		primary.Store().Scan(show.ns, store.Latest, func(_ string, doc bson.Raw) bool {
			text, err := show.line(doc)
			if wrong = err; err == nil && text != "" {
				r.Say("%s", text)
			}
			return err == nil
		})
		if wrong != nil {
			return wrong
		}
	}
	return nil
}

func shardLine(doc bson.Raw) (string, error) {
	var s configsvr.Shard
	err := bson.Unmarshal(doc, &s)
	text := s.Name
	if s.Draining {
		text += " drains"
	}
	if len(s.Zones) > 0 {
		text += ", in " + strings.Join(s.Zones, " and ")
	}
	return text, err
}

func zoneLine(doc bson.Raw) (string, error) {
	ns, field, z, err := catalog.DecodeAnyZone(doc)
	return fmt.Sprintf("%s %s in %v: %s", ns, field, z.Range, z.Name), err
}

// balancingLine is empty for a collection that is balanced like any other.
func balancingLine(doc bson.Raw) (string, error) {
	coll, err := catalog.DecodeCollection(doc)
	if err != nil || coll.Balancing == (catalog.Balancing{}) {
		return "", err
	}
	return fmt.Sprintf("%s %+v", coll.NS, coll.Balancing), nil
}

func (r *Rig) showOwners(l Line) error {
	table, err := r.Cluster.Catalog(l.Word(0))
	if errcode.Is(err, errcode.NamespaceNotFound) {
		r.Say("%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	if l.Has("count") {
		r.Say("%d chunks", table.Len())
		return nil
	}
	var all []string
	for c := range table.Chunks() {
		all = append(all, fmt.Sprintf("%v %s", c.Range, c.Shard))
	}
	r.Say("%s", strings.Join(all, ", "))
	return nil
}
