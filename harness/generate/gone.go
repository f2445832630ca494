package generate

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

const (
	// goneShare is how many percent of the seeds with faults of several kinds and without operators
	// have a shard that leaves and answers nobody from then on.
	goneShare = 24
	// removalTakes is for how long faults go on after the command at least, so that shards leave
	// meanwhile.
	removalTakes = 4 * time.Second
)

// switchOffRemoved has a shard removed that answers nobody any more as soon as it has agreed to
// leave, as one does that is switched off: what others have read there, or still have to tell it,
// must not keep them waiting. The balancer has nothing else to do, so that it is soon done. Shards
// of collections with chunks that cannot be moved or split are left in.
func switchOffRemoved(own keyed.Source, s *scenario.Scenario) {
	stuck := func(c scenario.Collection) bool { return c.IDs > 0 || c.Share > 1 }
	if s.Balancer || s.Topology.Shards < 3 || namesShards(s) || lastSharded(s) == nil ||
		slices.ContainsFunc(s.Collections, stuck) || !own.Chance("gone", goneShare) {
		return
	}
	shard := own.IntN("shard", s.Topology.Shards)
	at := warmUp + time.Duration(own.IntN("at", 200))*time.Millisecond
	s.Balancer = true
	s.Set(scenario.Setting{
		Name: "balancerRoundIntervalMillis", Value: keyed.Pick(own, "rounds", "10ms", "30ms"),
	})
	sendElsewhere(s, shard, at)
	name, removed := scenario.ShardName(shard), failpoint.ConfigDrainRemove.String()
	s.Commands = append(s.Commands, scenario.Command{
		At: at, Do: commandkind.RemoveShard, Name: name,
	})
	s.AddFaults(scenario.Fault{
		Kind:   keyed.Pick(own, "how", "power-loss", "power-loss", "power-loss", "partition"),
		Target: name + ".*", When: scenario.Trigger{Site: removed, Nth: 1},
		For: time.Duration(400+own.IntN("out of reach for", 2500)) * time.Millisecond,
	})
	s.FaultsEnd = max(s.FaultsEnd, at+removalTakes)
	watchRemoved(own.Fork(1), s)
	if s.Protocol != "4.2" && own.Chance("something is sent", 60) { // which waits for it
		sendToRemoved(own.Fork(2), s, shard, at)
	}
	if own.Chance("again", 40) {
		s.Commands = append(s.Commands, scenario.Command{
			At: at + time.Duration(own.IntN("joins", 3000))*time.Millisecond,
			Do: commandkind.AddShard, Name: name,
		})
	}
	s.SortCommands()
}

// sendElsewhere has what would be given to the shard from a time on go to the next one.
func sendElsewhere(s *scenario.Scenario, shard int, from time.Duration) {
	next := (shard + 1) % s.Topology.Shards
	for i := range s.Migrations {
		if m := &s.Migrations[i]; m.To == shard && m.At > from {
			m.To = next
		}
	}
	for i := range s.Primaries {
		if m := &s.Primaries[i]; m.To == shard && m.At > from {
			m.To = next
		}
	}
}

// watchRemoved adds a reader, before the shard has given away what it has of a collection. Some
// look but seldom, so that they have not heard of that.
func watchRemoved(own keyed.Source, s *scenario.Scenario) {
	s.Streams = append(s.Streams, scenario.Stream{
		ID: len(s.Streams) + 1, NS: lastSharded(s).NS,
		At:    time.Duration(own.IntN("at", 60)) * time.Millisecond,
		Poll:  time.Duration(keyed.Pick(own, "poll", 15, 60, 700, 1500, 3000)) * time.Millisecond,
		Batch: keyed.Pick(own, "batch", 0, 20),
	})
}

// sendToRemoved has another shard begin to send something just before the shard is removed, and
// stand still until it has left: what follows is addressed to a shard that is none.
func sendToRemoved(own keyed.Source, s *scenario.Scenario, shard int, at time.Duration) {
	c, site := lastSharded(s), failpoint.DonorSendStart
	from := (shard + 1 + own.IntN("from", s.Topology.Shards-1)) % s.Topology.Shards
	m := scenario.Migration{
		ID: s.NextMigration(), NS: c.NS, Min: scenario.MinKey, Max: scenario.MaxKey, To: shard,
		At: max(0, at-time.Duration(own.IntN("before", 40))*time.Millisecond),
	}
	if n := len(c.Bounds); n > 0 { // the chunk that is there at first
		from %= n + 1
	}
	if from > 0 && from <= len(c.Bounds) {
		m.Min = c.Bounds[from-1]
	}
	if from < len(c.Bounds) {
		m.Max = c.Bounds[from]
	}
	s.Migrations = append(s.Migrations, m)
	if i := slices.IndexFunc(s.Primaries, func(m scenario.MovePrimary) bool {
		return m.At <= at
	}); i >= 0 && own.Chance("primary", 50) {
		s.Primaries[i].To, site = shard, failpoint.MovePrimarySessions
	}
	s.AddFaults(scenario.Fault{
		Kind: "pause",
		When: scenario.Trigger{
			Site: site.String(), Nth: 1 + own.IntN("pass", 2),
			Node: scenario.ShardName(from) + ".primary",
		},
		Until: &scenario.Trigger{
			Site: failpoint.ConfigDrainRemove.String(), Nth: 1, After: time.Millisecond,
		},
	})
}
