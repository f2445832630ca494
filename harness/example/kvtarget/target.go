// Package kvtarget puts the example store of package kvstore under test. It shows all that a system
// has to offer: what it promises and what can be asked of it, clients that claim no more than they
// know, movements in steps, and a survey.
//
// Promise: with the zero Target every promise holds under every fault that it names. With a planted
// bug it breaks only when a message is lost at the wrong moment, so that it has to be looked for.
//
// Refusal: it is an example, kept small; what it does not need of harness/target it leaves out.
package kvtarget

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/harness/example/kvstore"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Target is the example store. The zero Target is the store as it should be.
type Target struct {
	// ForgetsChanges and AsksOnce plant the bugs of kvstore.Config.
	ForgetsChanges, AsksOnce bool
}

var messages = faults.DeclareMessages(map[string]faults.Message{
	"Request": {Once: true},
	"Fetch":   {Role: faults.Control},
	"Copy":    {Role: faults.Control},
	"Install": {Role: faults.Control},
	"Switch":  {Role: faults.Commit},
	"CatchUp": {Role: faults.Commit},
	"Assign":  {Role: faults.Commit},
})

// All is the store as it should be, and with each of its planted bugs and both.
func All() []target.Target {
	return []target.Target{
		Target{}, Target{ForgetsChanges: true}, Target{AsksOnce: true},
		Target{ForgetsChanges: true, AsksOnce: true},
	}
}

// Describe is what is known of the store before it is started. The store with a bug has a name of
// its own, so that its failures are replayed on it.
func (of Target) Describe() *target.Description { return descriptions[of] }

var descriptions = map[Target]*target.Description{
	{}:                                     describe("kvstore"),
	{ForgetsChanges: true}:                 describe("kvstore-forgetful"),
	{AsksOnce: true}:                       describe("kvstore-hasty"),
	{ForgetsChanges: true, AsksOnce: true}: describe("kvstore-forgetful-and-hasty"),
}

func describe(name string) *target.Description {
	d := description
	d.Name = name
	d.Draw = func(seed uint64) *scenario.Scenario { return Draw(name, seed) }
	return &d
}

var description = target.Description{
	About: "a small key-value store that moves ranges between two servers: the example of " +
		"docs/extending.md",
	Promises: []checkers.Checker{
		checkers.UniqueWrites, checkers.Linearizability, endstate.Liveness, endstate.Convergence,
	},
	Ops: []scenario.OpKind{scenario.Read, scenario.Write, scenario.CAS, scenario.Delete},
	Faults: []string{
		"power-loss", "crash", "partial-partition", "duplicate", "error", "hold", "kill-operation",
		"lossy-link",
		"lost-reply", "lost-request",
		"partition", "pause", "slow-disk", "slow-link",
	},
	Sites: failpoint.Of(kvstore.System),
	Messages: target.Messages{
		Classify: func() func(env.Message) string {
			return func(m env.Message) string { return reflect.TypeOf(m).Elem().Name() }
		},
		Names:      func() []string { return slices.Sorted(maps.Keys(messages)) },
		Role:       func(class string) faults.MessageRole { return messages[class].Role },
		Repeatable: func(class string) bool { return !messages[class].Once },
	},
}

// Nodes are the directory and one server for each shard.
func (Target) Nodes(size scenario.Topology) []target.Node {
	all := []target.Node{{ID: kvstore.Directory, Set: "config"}}
	for n := range size.Shards {
		shard := scenario.ShardName(n)
		all = append(all, target.Node{ID: kvstore.ServerOf(shard), Set: shard})
	}
	return all
}

// Check says what the store does not have.
func (Target) Check(s *scenario.Scenario) error {
	size := s.Topology
	switch {
	case size.Shards != 2 || size.Members != 1 || size.ConfigMembers != 1:
		return &target.FactError{
			Fact: "topology",
			Err:  errors.New("kvstore has shards=2 members=1 config=1"),
		}
	case len(s.Collections) != 1 || s.Collections[0].Hashed || s.Collections[0].Unsharded ||
		s.Collections[0].Absent:
		return errors.New("kvstore has one collection, by ranges of its keys")
	case len(s.Primaries)+len(s.Commands)+len(s.Streams) > 0 || s.Balancer || s.Protocol != "":
		return errors.New(
			"kvstore has no databases, commands, change streams, balancer and protocols",
		)
	}
	return nil
}

// Start adds the nodes to the world.
func (of Target) Start(setup target.Setup) (target.System, error) {
	c := setup.Scenario.Collections[0]
	k := &cluster{world: setup.World, keys: c.Keys, servers: make(map[string]*kvstore.Server)}
	k.config = kvstore.Config{
		NS:             c.NS,
		Table:          firstTable(&c),
		Pairs:          make(map[int64]string),
		ForgetsChanges: of.ForgetsChanges,
		AsksOnce:       of.AsksOnce,
	}
	for n := range int64(c.Preload) {
		k.config.Pairs[n] = histories.PreloadValue(n)
	}
	setup.World.AddNode(kvstore.Directory, k.config.BootDirectory)
	for n := range setup.Scenario.Topology.Shards {
		shard := scenario.ShardName(n)
		k.shards = append(k.shards, shard)
		setup.World.AddNode(kvstore.ServerOf(shard), func(t env.Task) {
			delete(k.servers, shard)
			k.servers[shard] = k.config.Boot(t, shard)
		})
	}
	return k, nil
}

// firstTable gives the ranges between the bounds to the shards in turn.
func firstTable(c *scenario.Collection) (table []kvstore.Owned) {
	owners := c.Owners
	if owners == 0 {
		owners = 2
	}
	from := int64(math.MinInt64)
	for i, to := range append(slices.Clone(c.Bounds), math.MaxInt64) {
		table = append(table,
			kvstore.Owned{Min: from, Max: to, Shard: scenario.ShardName(i % owners)})
		from = to
	}
	return table
}

// cluster is a started store.
type cluster struct {
	world  target.World
	config kvstore.Config
	keys   int
	shards []string
	// servers are the processes that have booted last.
	servers map[string]*kvstore.Server
}

// server is the running process of a shard, nil while it is down or boots.
func (k *cluster) server(shard string) *kvstore.Server {
	if s := k.servers[shard]; s != nil && k.world.Up(kvstore.ServerOf(shard)) {
		return s
	}
	return nil
}

// Ready reports whether all servers have booted.
func (k *cluster) Ready() bool {
	return !slices.ContainsFunc(k.shards, func(shard string) bool { return k.server(shard) == nil })
}

// Linger is zero: what a client has given up is executed at once or never.
func (k *cluster) Linger() time.Duration { return 0 }

// Outstanding names the servers that boot, and the movements that have not ended.
func (k *cluster) Outstanding() (all []string) {
	for _, shard := range k.shards {
		if s := k.server(shard); s != nil {
			all = append(all, s.Moving()...)
		} else {
			all = append(all, "the boot of "+shard)
		}
	}
	return all
}

// NewMovements makes the node an operator's.
func (k *cluster) NewMovements(node env.Node) target.Movements { return operator{k} }

// operator leads a movement through its steps.
type operator struct{ *cluster }

// How long an operator waits for the answer to a step, and how long he looks at the copy before he
// goes on.
const (
	operatorPatience = time.Second
	review           = 10 * time.Millisecond
)

func (o operator) MoveRange(m scenario.Migration) []target.Step {
	name := fmt.Sprintf("m%d", m.ID)
	given := kvstore.Owned{Min: m.Min, Max: m.Max, Shard: scenario.ShardName(m.To)}
	from := kvstore.ServerOf(scenario.ShardName(1 - m.To))
	return []target.Step{
		func(t env.Task) error {
			_, err := t.Call(from, &kvstore.Copy{Move: name, Given: given}, operatorPatience)
			return err
		},
		func(t env.Task) error { return t.Sleep(review) },
		func(t env.Task) error {
			_, err := t.Call(from, &kvstore.Switch{Move: name}, operatorPatience)
			return err
		},
	}
}

func (operator) MovePrimary(scenario.MovePrimary) []target.Step { return nil }

// NewSurvey looks into the servers.
func (k *cluster) NewSurvey(env.Node) target.Survey { return survey{k} }

type survey struct{ *cluster }

func (s survey) Copies(t env.Task) []endstate.Audit {
	a := endstate.Audit{NS: s.config.NS, Keys: s.keys}
	if m, err := t.Call(kvstore.Directory, &kvstore.Fetch{}, operatorPatience); err == nil {
		a.Table = m.(*kvstore.Table).Chunks()
	}
	for _, shard := range s.shards {
		m := endstate.Member{Shard: shard, Node: string(kvstore.ServerOf(shard)), Primary: true}
		server := s.server(shard)
		if m.Unreachable = server == nil; !m.Unreachable {
			m.Applied, m.Leftovers = fmt.Sprint(server.Applied()), server.Moving()
			for _, p := range server.Pairs() {
				m.Documents = append(m.Documents,
					endstate.Document{Shard: kvstore.Bound(p.Key), Key: p.Key, Value: p.Value})
			}
		}
		a.Members = append(a.Members, m)
	}
	return []endstate.Audit{a}
}

// Repair has nothing to do: the store needs no operator to clean up behind it.
func (survey) Repair(env.Task) []string { return nil }

func (survey) Statistics(env.Task) map[string]int64 { return nil }
