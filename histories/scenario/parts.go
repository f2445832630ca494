package scenario

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// SortCommands puts the commands in the order of their times, after some were added at the end.
func (s *Scenario) SortCommands() {
	slices.SortStableFunc(s.Commands, func(a, b Command) int { return cmp.Compare(a.At, b.At) })
}

// AddFaults adds faults, with the numbers that come next.
func (s *Scenario) AddFaults(all ...Fault) {
	for _, f := range all {
		f.ID = len(s.Faults) + 1
		s.Faults = append(s.Faults, f)
	}
}

// NextMigration is a number higher than those of all migrations.
func (s *Scenario) NextMigration() int {
	next := 1
	for i := range s.Migrations {
		next = max(next, s.Migrations[i].ID+1)
	}
	return next
}

// WholeTimes are the times at which operations on a whole collection start.
func (s *Scenario) WholeTimes() (times []time.Duration) {
	for i := range s.Ops {
		if s.Ops[i].Kind.Whole() {
			times = append(times, s.Ops[i].At)
		}
	}
	return times
}

// Sharded is the sharded collection that has a name at first; nil for none.
func (s *Scenario) Sharded(ns string) *Collection {
	i := slices.IndexFunc(s.Collections, func(c Collection) bool {
		return c.NS == ns && !c.Unsharded
	})
	if i < 0 {
		return nil
	}
	return &s.Collections[i]
}

// Bound is a key as a bound of chunks. For a hashed collection it is one of the bounds that divide
// the hashes into Keys+1 equal parts.
func (c Collection) Bound(key int) int64 {
	if !c.Hashed {
		return int64(key)
	}
	return math.MinInt64 + (int64(key)+1)*(math.MaxInt64/int64(c.Keys+1)*2)
}
