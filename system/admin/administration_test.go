package admin_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

const ns = "test.later"

var (
	names = []string{"shard-a", "shard-b", "shard-c"}
	zones = []string{"east", "west"}
)

// operator is a cluster of three shards and who gives it commands.
type operator struct {
	world  *sim.World
	config *rpc.Set
}

func open(t *rapid.T) *operator {
	o := &operator{world: sim.New(sim.Options{Seed: 1, Codec: codec.BSON, YieldMax: -1})}
	s := settings.Default80()
	c, err := system.Assemble(o.world, system.Topology{
		Shards:        len(names),
		Members:       1,
		ConfigMembers: 1,
		Routers:       1,
		Clients:       1,
	}, &s)
	if err != nil {
		t.Fatal(err)
	}
	o.world.AddNode("client.0", func(task env.Task) {
		_, sets := c.Operator(task.Node())
		o.config = sets["config"]
	})
	o.world.Run(c.Ready, o.world.Now().Add(time.Minute))
	return o
}

// ask gives a command and returns the code that it is answered with.
func ask[Resp any](o *operator, req env.Message) (resp *Resp, code errcode.Code) {
	answered := false
	o.world.Node("client.0").Spawn(nil, "ask", func(t env.Task) {
		var err error
		resp, err = rpc.AskPrimary[Resp](t, o.config, req, time.Minute)
		code, answered = errcode.Of(err), true
	})
	o.world.Run(func() bool { return answered }, o.world.Now().Add(10*time.Minute))
	return resp, code
}

// cluster is what operators have said, as they understand it.
type cluster struct {
	shards map[string]*member
	ranges []span
}

type member struct {
	drains bool
	zones  []string
}

type span struct {
	min, max int64
	zone     string
}

// stays reports whether a shard other than but does not drain, in the zone if that is not empty.
func (c *cluster) stays(but, zone string) bool {
	for name, m := range c.shards {
		if name != but && !m.drains && (zone == "" || slices.Contains(m.zones, zone)) {
			return true
		}
	}
	return false
}

func (c *cluster) used(zone string) bool {
	return slices.ContainsFunc(c.ranges, func(s span) bool { return s.zone == zone })
}

func (c *cluster) mayLose(name, zone string) bool { return !c.used(zone) || c.stays(name, zone) }

// TestCommands gives commands in any order. Each is answered as its rules say, and there is never a
// zone with ranges, or a cluster, without a shard that stays.
func TestCommands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := open(t)
		defer o.world.Close()
		c := &cluster{shards: map[string]*member{}}
		for _, name := range names {
			c.shards[name] = &member{}
		}
		name, zone := rapid.SampledFrom(names), rapid.SampledFrom(zones)
		t.Repeat(map[string]func(*rapid.T){
			"add":    func(t *rapid.T) { c.add(t, o, name.Draw(t, "shard")) },
			"remove": func(t *rapid.T) { c.remove(t, o, name.Draw(t, "shard")) },
			"enter": func(t *rapid.T) {
				c.enter(t, o, name.Draw(t, "shard"), zone.Draw(t, "zone"))
			},
			"leave": func(t *rapid.T) {
				c.leave(t, o, name.Draw(t, "shard"), zone.Draw(t, "zone"))
			},
			"assign":   func(t *rapid.T) { c.assign(t, o, drawSpan(t), zone.Draw(t, "zone")) },
			"unassign": func(t *rapid.T) { c.assign(t, o, drawSpan(t), "") },
			"":         c.check,
		})
	})
}

func drawSpan(t *rapid.T) span {
	min := rapid.Int64Range(0, 5).Draw(t, "min")
	return span{min: min, max: min + rapid.Int64Range(0, 3).Draw(t, "width")}
}

func expect(t *rapid.T, what string, got, want errcode.Code) bool {
	if got != want {
		t.Fatalf("%s is answered with %q, not %q", what, got, want)
	}
	return got == ""
}

func (c *cluster) add(t *rapid.T, o *operator, name string) {
	_, code := ask[command.Done](o, &command.AddShard{Name: name})
	if expect(t, "addShard", code, "") && c.shards[name] == nil {
		c.shards[name] = &member{}
	}
}

func (c *cluster) remove(t *rapid.T, o *operator, name string) {
	reply, code := ask[command.RemoveShardReply](o, &command.RemoveShard{Name: name})
	want, m := errcode.Code(""), c.shards[name]
	switch {
	case m == nil:
		want = errcode.ShardNotFound
	case m.drains:
	case !c.stays(name, ""):
		want = errcode.IllegalOperation
	case slices.ContainsFunc(m.zones, func(zone string) bool { return !c.mayLose(name, zone) }):
		want = errcode.ZoneStillInUse
	}
	if !expect(t, "removeShard", code, want) {
		return
	}
	state := command.RemovalStarted
	if m.drains {
		state = command.RemovalCompleted
		delete(c.shards, name)
	}
	m.drains = true
	if reply.State != state {
		t.Fatalf("the removal of %s is %s, not %s", name, reply.State, state)
	}
}

func (c *cluster) enter(t *rapid.T, o *operator, name, zone string) {
	_, code := ask[command.Done](o, &command.AddShardToZone{Shard: name, Zone: zone})
	m := c.shards[name]
	if m == nil {
		expect(t, "addShardToZone", code, errcode.ShardNotFound)
		return
	}
	if expect(t, "addShardToZone", code, "") && !slices.Contains(m.zones, zone) {
		m.zones = append(m.zones, zone)
	}
}

func (c *cluster) leave(t *rapid.T, o *operator, name, zone string) {
	_, code := ask[command.Done](o, &command.RemoveShardFromZone{Shard: name, Zone: zone})
	want, m := errcode.Code(""), c.shards[name]
	switch {
	case m == nil:
		want = errcode.ShardNotFound
	case slices.Contains(m.zones, zone) && !c.mayLose(name, zone):
		want = errcode.ZoneStillInUse
	}
	if expect(t, "removeShardFromZone", code, want) {
		m.zones = slices.DeleteFunc(m.zones, func(z string) bool { return z == zone })
	}
}

func (c *cluster) assign(t *rapid.T, o *operator, s span, zone string) {
	s.zone = zone
	_, code := ask[command.Done](o, &command.UpdateZoneKeyRange{
		NS:    ns,
		Min:   key.Int(s.min),
		Max:   key.Int(s.max),
		Zone:  zone,
		Field: "k",
	})
	if zone == "" {
		expect(t, "updateZoneKeyRange", code, "")
		c.ranges = slices.DeleteFunc(c.ranges, func(old span) bool {
			return old.min == s.min && old.max == s.max
		})
		return
	}
	overlaps := func(old span) bool { return old != s && old.min < s.max && s.min < old.max }
	want := errcode.Code("")
	switch {
	case !c.stays("", zone):
		want = errcode.ZoneNotFound
	case s.min == s.max:
		want = errcode.BadValue
	case slices.ContainsFunc(c.ranges, overlaps):
		want = errcode.RangeOverlapConflict
	}
	if expect(t, "updateZoneKeyRange", code, want) && !slices.Contains(c.ranges, s) {
		c.ranges = append(c.ranges, s)
	}
}

func (c *cluster) check(t *rapid.T) {
	if !c.stays("", "") {
		t.Fatal("no shard stays")
	}
	for _, zone := range zones {
		if c.used(zone) && !c.stays("", zone) {
			t.Fatalf("zone %s has ranges and no shard that stays", zone)
		}
	}
}
