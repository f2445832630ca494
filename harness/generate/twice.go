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
	twiceShare, againShare = 14, 40
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
		if m.Open == "" && own.Chance(who+"/another range", otherShare) {
			otherRange(own, who, s, &m)
		} else {
			m.WaitDelete = own.Chance(who+"/waits", 60)
		}
		s.Migrations = append(s.Migrations, m)
	}
}

// otherRange gives a migration another end: mostly a key within its collection, so that the two
// requests begin, or end, in one chunk; of a hashed one, an end that another migration has.
func otherRange(own keyed.Source, who string, s *scenario.Scenario, m *scenario.Migration) {
	at, known := otherEnd(own, who, s, m)
	if !known {
		return
	}
	if own.IntN(who+"/which end", 3) > 0 {
		if at > m.Min {
			m.Max = at
		}
	} else if at < m.Max {
		m.Min = at
	}
}

func otherEnd(
	own keyed.Source, who string, s *scenario.Scenario, m *scenario.Migration,
) (at int64, known bool) {
	i := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool { return c.NS == m.NS })
	if i >= 0 && !s.Collections[i].Hashed {
		return int64(1 + own.IntN(who+"/key", s.Collections[i].Keys)), true
	}
	var ends []int64
	for _, other := range s.Migrations {
		if other.NS == m.NS && other.Open == "" && other.Max != m.Max {
			ends = append(ends, other.Max)
		}
	}
	if len(ends) == 0 {
		return 0, false
	}
	return ends[own.IntN(who+"/end", len(ends))], true
}
