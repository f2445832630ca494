package generate

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

const (
	// twiceShare is how many percent of the seeds with several migrations have some that are asked
	// for twice, againShare how many percent of the migrations of these.
	twiceShare, againShare = 10, 40
	// twiceWithin is how much later the second request comes at most: mostly while the migration
	// runs.
	twiceWithin = 60 * time.Millisecond
)

// otherShare is how many percent of the second requests are for another range than the first.
const otherShare = 35

// askTwice has another client ask for a migration that may be running. The second request is either
// the same, and then joins the migration, or wants to wait for the deletion where the first did
// not, or the reverse, or it shares only one end of the range, or part of it, with the first.
func askTwice(s *scenario.Scenario, d keyed.Source, z size) {
	own := d.Fork(0x7d)
	if z.moves <= 1 || !own.Chance("asked twice", twiceShare) {
		return
	}
	next := s.NextMigration()
	for _, m := range slices.Clone(s.Migrations) {
		who := fmt.Sprintf("migration/%d", m.ID)
		if !own.Chance(who+"/again", againShare) {
			continue
		}
		m.ID, next = next, next+1
		m.At += time.Duration(own.IntN(who+"/behind", int(twiceWithin)))
		m.WaitDelete = own.Chance(who+"/waits", 60)
		if m.Open == "" && own.Chance(who+"/another range", otherShare) {
			otherRange(own, who, s, &m)
		}
		s.Migrations = append(s.Migrations, m)
	}
}

// otherRange gives a migration another end, or two, out of those that others of its collection have.
func otherRange(own keyed.Source, who string, s *scenario.Scenario, m *scenario.Migration) {
	var ends []int64
	for _, other := range s.Migrations {
		if other.NS == m.NS && other.Open == "" {
			ends = append(ends, other.Min, other.Max)
		}
	}
	lo, hi := m.Min, m.Max
	if own.IntN(who+"/which end", 3) > 0 {
		hi = ends[own.IntN(who+"/upper", len(ends))]
	} else {
		lo = ends[own.IntN(who+"/lower", len(ends))]
	}
	if lo < hi {
		m.Min, m.Max = lo, hi
	}
}
