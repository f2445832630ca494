package aimed

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/failpoint"
)

const (
	// acrossShare is how many percent of the seeds with operations on whole collections have
	// requests stand still until such an operation has come further.
	acrossShare = 35
	// acrossFor is for how many milliseconds a request stands still at most, longestAcross for how
	// long one that waits for an event.
	acrossFor     = 900
	longestAcross = acrossFor * time.Millisecond
)

// inRequests are where a request goes by what it knows of its collection.
var inRequests = []failpoint.Site{
	failpoint.RequestYield, failpoint.RequestYield, failpoint.RequestRestore,
	failpoint.RequestTakeFilter, failpoint.RequestAcquireSnapshot, failpoint.RequestVersionCheck,
	failpoint.RequestCommit,
}

// inOperations are what an operation on a whole collection does meanwhile. Operations on unsharded
// collections pass none of these.
var inOperations = []failpoint.Site{
	failpoint.RequestDDLApplied, failpoint.RequestDDLApplied, failpoint.RequestDDLParticipant,
	failpoint.ConfigDDLStep, failpoint.ConfigDDLCatalog, failpoint.ConfigDDLForget,
}

// holdAcross has some requests of clients stand still until an operation on a whole collection has
// come further: a query that is in its first batch, or a write that was let in, finds that its
// collection is gone, is another one, or has another name.
func holdAcross(own keyed.Source, s *scenario.Scenario) {
	if len(s.WholeTimes()) == 0 || !own.Chance("across", acrossShare) {
		return
	}
	for i := range 2 + own.IntN("how many", 4) {
		each := own.Fork(uint64(i))
		in := inRequests[each.IntN("site", len(inRequests))]
		f := scenario.Fault{
			Kind: "pause",
			When: scenario.Trigger{
				Site: in.String(), Nth: 1 + each.IntN("pass", max(1, faults.PassesARun(in))),
			},
			For: time.Duration(1+each.IntN("for", acrossFor)) * time.Millisecond,
		}
		if each.Chance("until an event", 50) {
			f.For, f.Until = longestAcross, &scenario.Trigger{
				Site: inOperations[each.IntN("event", len(inOperations))].String(),
				Nth:  keyed.Pick(each, "event pass", 1, 1, 2, 3),
			}
		}
		s.AddFaults(f)
	}
}

// scanShare is how many percent of the renames and drops have a query of their collection begin
// about then, which stands still in its first batch.
const scanShare = 60

// scanAcross has clients read a whole collection with one answer as it is renamed or dropped.
func scanAcross(own keyed.Source, s *scenario.Scenario) {
	for _, o := range slices.Clone(s.Ops) {
		each := own.Fork(uint64(o.ID))
		i := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool {
			return c.NS == o.NS
		})
		if o.Kind != scenario.Rename && o.Kind != scenario.Drop || i < 0 ||
			!each.Chance("scanned", scanShare) {
			continue
		}
		for n := range 3 {
			scanAt(each.Fork(uint64(n)), s, o, s.Collections[i])
		}
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}

// scanAt has a client read a whole collection about when an operation on it begins.
func scanAt(own keyed.Source, s *scenario.Scenario, o scenario.Op, c scenario.Collection) {
	at := max(0, o.At+time.Duration(own.IntN("at", 60)-20)*time.Millisecond)
	s.Ops = append(s.Ops, scenario.Op{
		ID: len(s.Ops) + 1, At: at, Client: own.IntN("client", s.Topology.Clients), NS: o.NS,
		Kind: scenario.Scan, To: int64(c.Keys), Batch: c.Keys,
	})
	shard := own.IntN("shard", s.Topology.Shards)
	if c.Unsharded {
		shard = primaryAt(s, catalog.DatabaseOf(o.NS), at)
	}
	s.AddFaults(pauseCommand(own, shard, command{"Find", o.NS}, at, 600))
}

// primaryAt is the primary shard of a database at a time, if every movePrimary before succeeds: the
// first shard before any.
func primaryAt(s *scenario.Scenario, database string, at time.Duration) (shard int) {
	for _, m := range s.Primaries {
		if m.Database == database && m.At < at {
			shard = m.To
		}
	}
	return shard
}

// command is what a task carries out, and on what: the latter is empty if it may be anything.
type command struct{ do, of string }

// pauseCommand has the first task of a shard that carries out a command from a time on stand still
// somewhere in it, for so many milliseconds at most.
func pauseCommand(
	own keyed.Source, shard int, c command, at time.Duration, most int,
) scenario.Fault {
	f := scenario.Fault{
		Kind: "pause", Target: scenario.ShardName(shard) + ".*",
		When: scenario.Trigger{At: at},
		Args: []scenario.Setting{
			{Name: "task", Value: c.do},
			{Name: "passes", Value: strconv.Itoa(own.IntN("passes", 8))},
		},
		For: time.Duration(1+own.IntN("stands", most)) * time.Millisecond,
	}
	if c.of != "" {
		f.Args = append(f.Args, scenario.Setting{Name: "about", Value: c.of})
	}
	return f
}

// watchShare is how many percent of the movePrimaries have a reader follow an unsharded collection
// of their database, whose questions to the old primary shard stand still.
const watchShare = 35

// watchAcross has readers of change streams ask about unsharded collections that move: an answer
// that the old primary shard gives late must not say what it does not know any more.
func watchAcross(own keyed.Source, s *scenario.Scenario) {
	watched := map[string]bool{}
	for _, m := range s.Primaries {
		each := own.Fork(uint64(m.ID))
		i := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool {
			return c.Unsharded && catalog.DatabaseOf(c.NS) == m.Database
		})
		if i < 0 || !each.Chance("watched", watchShare) {
			continue
		}
		for n := range 3 {
			one := each.Fork(uint64(n))
			at := m.At + time.Duration(one.IntN("at", 150))*time.Millisecond
			primary := primaryAt(s, m.Database, m.At)
			s.AddFaults(pauseCommand(one, primary, command{do: "ReadChanges"}, at, 400))
		}
		if ns := s.Collections[i].NS; !watched[ns] {
			watched[ns] = true
			s.Streams = append(s.Streams, scenario.Stream{
				ID: len(s.Streams) + 1, NS: ns,
				At:     time.Duration(each.IntN("from", 60)) * time.Millisecond,
				Poll:   time.Duration(keyed.Pick(each, "poll", 5, 15, 30)) * time.Millisecond,
				Resume: keyed.Pick(each, "resume", 0, 1, 2, 4),
			})
		}
	}
}
