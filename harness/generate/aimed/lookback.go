package aimed

import (
	"cmp"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

const (
	// lookBackShare is how many percent of the seeds with operations on whole collections have
	// clients read what was while such an operation ran, lookedBack how many percent of the
	// operations they look back at.
	lookBackShare, lookedBack = 35, 50
	// looks is how often they look back at each.
	looks = 3
)

// lookBack has clients read snapshots of the time at which a collection was made, dropped, renamed
// or sharded, once that is over: what the name stood for at that time is what they must see, or an
// error.
func lookBack(own keyed.Source, s *scenario.Scenario) {
	if len(s.WholeTimes()) == 0 || !own.Chance("looks back", lookBackShare) {
		return
	}
	s.Set(scenario.Setting{Name: "minSnapshotHistoryWindowInSeconds", Value: "300s"})
	for _, o := range slices.Clone(s.Ops) {
		each := own.Fork(uint64(o.ID))
		if !o.Kind.Whole() || !each.Chance("looked back", lookedBack) {
			continue
		}
		for n := range looks {
			snapshotOf(each.Fork(uint64(n)), s, o)
		}
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}

// snapshotOf has a client read a name that an operation is about, as of about when that ran.
func snapshotOf(own keyed.Source, s *scenario.Scenario, o scenario.Op) {
	ns := o.NS
	if o.Into != "" && own.Chance("by the new name", 40) {
		ns = o.Into
	}
	i := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool { return c.NS == ns })
	if i < 0 {
		return
	}
	later := time.Duration(100+own.IntN("later", 500)) * time.Millisecond
	s.Ops = append(s.Ops, scenario.Op{
		ID: len(s.Ops) + 1, At: o.At + later, Client: own.IntN("client", s.Topology.Clients), NS: ns,
		Kind: scenario.Scan, To: int64(s.Collections[i].Keys), Batch: 1 + own.IntN("batch", 6),
		Concern: "snapshot",
		Age:     later - time.Duration(own.IntN("into", 120)-20)*time.Millisecond,
	})
}
