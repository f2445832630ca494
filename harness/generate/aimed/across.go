package aimed

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

const (
	// acrossShare is how many percent of the seeds with operations on whole collections have
	// requests stand still until such an operation has come further.
	acrossShare = 35
	// acrossFor is for about how many milliseconds a request stands still at most, longestAcross for
	// how long one that waits for an event.
	acrossFor     = 900
	longestAcross = acrossFor * time.Millisecond
)

// inRequests are where a request goes by what it knows of its collection, with how often a scenario
// passes that, more or less.
var inRequests = []struct {
	site   failpoint.Site
	passes int
}{
	{failpoint.RequestYield, 600}, {failpoint.RequestYield, 600}, {failpoint.RequestRestore, 450},
	{failpoint.RequestTakeFilter, 200}, {failpoint.RequestAcquireSnapshot, 500},
	{failpoint.RequestVersionCheck, 350}, {failpoint.RequestCommit, 150},
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
			When: scenario.Trigger{Site: in.site.String(), Nth: 1 + each.IntN("pass", in.passes)},
			For:  time.Duration(20+each.IntN("for", acrossFor)) * time.Millisecond,
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
const scanShare = 30

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
		at := max(0, o.At+time.Duration(each.IntN("at", 40)-25)*time.Millisecond)
		s.Ops = append(s.Ops, scenario.Op{
			ID: len(s.Ops) + 1, At: at, Client: each.IntN("client", s.Topology.Clients), NS: o.NS,
			Kind: scenario.Scan, To: int64(s.Collections[i].Keys), Batch: s.Collections[i].Keys,
		})
		s.AddFaults(pauseCommand(each, s, "Find", at, 300))
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}

// pauseCommand has the first task, from a time on, that carries out a command stand still somewhere
// in it, for so many milliseconds at most.
func pauseCommand(
	own keyed.Source, s *scenario.Scenario, command string, at time.Duration, most int,
) scenario.Fault {
	return scenario.Fault{
		Kind: "pause", Target: scenario.ShardName(own.IntN("shard", s.Topology.Shards)) + ".*",
		When: scenario.Trigger{At: at},
		Args: []scenario.Setting{
			{Name: "task", Value: command},
			{Name: "passes", Value: strconv.Itoa(own.IntN("passes", 8))},
		},
		For: time.Duration(20+own.IntN("stands", most)) * time.Millisecond,
	}
}

// watchShare is how many percent of the movePrimaries have questions of readers stand still. In a
// scenario with one of these, a reader follows an unsharded collection.
const watchShare = 35

// watchAcross has readers of change streams ask about unsharded collections that move: an answer
// that the old primary shard gives late must not say what it does not know any more.
func watchAcross(own keyed.Source, s *scenario.Scenario) {
	i := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool { return c.Unsharded })
	if i < 0 {
		return
	}
	watched := false
	for _, m := range s.Primaries {
		each := own.Fork(uint64(m.ID))
		if !each.Chance("watched", watchShare) {
			continue
		}
		watched = true
		for n := range 3 {
			at := m.At + time.Duration(each.Fork(uint64(n)).IntN("at", 150))*time.Millisecond
			s.AddFaults(pauseCommand(each.Fork(uint64(n)), s, "ReadChanges", at, 400))
		}
	}
	if watched {
		s.Streams = append(s.Streams, scenario.Stream{
			ID: len(s.Streams) + 1, NS: s.Collections[i].NS,
			At:     time.Duration(own.IntN("from", 60)) * time.Millisecond,
			Poll:   time.Duration(keyed.Pick(own, "poll", 5, 15, 30)) * time.Millisecond,
			Resume: keyed.Pick(own, "resume", 0, 1, 2, 4),
		})
	}
}
