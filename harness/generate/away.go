package generate

import (
	"cmp"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// awayShare is how many percent of the seeds with a shard that leaves and joins again have a
// collection replaced meanwhile.
const awayShare = 40

// replaceWhileAway drops a collection while a shard is out of the cluster, and makes it again once
// the shard has joined: what the shard has kept is of another incarnation.
func replaceWhileAway(own keyed.Source, s *scenario.Scenario) {
	join := slices.IndexFunc(s.Commands, func(c scenario.Command) bool {
		return c.Do == commandkind.AddShard && leaves(s, &c)
	})
	if join < 0 || !own.Chance("away", awayShare) {
		return
	}
	c := lastSharded(s)
	if c == nil {
		return
	}
	if c.Made == "" {
		c.Made = scenario.MadeDealt
	}
	dropped := s.Commands[join].At +
		time.Duration(300+own.IntN("removal takes", 900))*time.Millisecond
	s.Commands[join].At = dropped + time.Duration(10+own.IntN("away for", 120))*time.Millisecond
	made := s.Commands[join].At + // by when it has joined, mostly
		time.Duration(150+own.IntN("joins within", 750))*time.Millisecond
	client, next := own.IntN("client", s.Topology.Clients), len(s.Ops)+1
	s.Ops = append(s.Ops,
		scenario.Op{ID: next, At: dropped, Client: client, NS: c.NS, Kind: scenario.Drop},
		scenario.Op{ID: next + 1, At: made, Client: client, NS: c.NS, Kind: scenario.Create})
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
	s.SortCommands()
}

// leaves reports whether the shard is removed before it is added.
func leaves(s *scenario.Scenario, added *scenario.Command) bool {
	return slices.ContainsFunc(s.Commands, func(c scenario.Command) bool {
		return c.Do == commandkind.RemoveShard && c.Name == added.Name && c.At < added.At
	})
}

// lastSharded is the last collection that is there, sharded, from the beginning.
func lastSharded(s *scenario.Scenario) *scenario.Collection {
	for i := range slices.Backward(s.Collections) {
		if c := &s.Collections[i]; !c.Unsharded && !c.Absent {
			return c
		}
	}
	return nil
}
