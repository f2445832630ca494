package generate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

const (
	// burstShare is how many percent of the seeds have operations that come together when ranges
	// move, meetShare how many percent of the migrations of these meet such a burst.
	burstShare, meetShare = 30, 60
	// burstBefore and burstAfter are from when to when operations wait for, or hurry to, a migration.
	burstBefore, burstAfter = 80 * time.Millisecond, 160 * time.Millisecond
	// burstLead and burst are how long before the migration is requested they begin, and how long
	// they go on: about as long as it takes.
	burstLead, burst = 5 * time.Millisecond, 45 * time.Millisecond
	// openShare is how many percent of the readers of change streams begin while a range moves.
	openShare = 50
)

// gather has operations come together while a range moves: a document is then written between its
// copy and the commit, often more than once, and the changes are more than one batch. Nothing is
// added.
func gather(own keyed.Source, s *scenario.Scenario) {
	if !own.Chance("bursts", burstShare) {
		return
	}
	for _, m := range s.Migrations {
		who := fmt.Sprintf("migration/%d", m.ID)
		if !own.Chance(who+"/meets", meetShare) {
			continue
		}
		for i := range s.Ops {
			op := &s.Ops[i]
			if op.NS != m.NS || op.Kind.Whole() || op.At < m.At-burstBefore ||
				op.At > m.At+burstAfter {
				continue
			}
			into := own.IntN(fmt.Sprintf("%s/%d", who, op.ID), int(burst))
			op.At = max(0, m.At-burstLead+time.Duration(into))
		}
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}

const (
	// restingShare is how many percent of the seeds with several migrations have clients that take
	// their time over what a scan returns, restShare how many percent of the scans of these.
	restingShare, restShare = 35, 40
	// longestScan is for how long such a scan rests in all at most.
	longestScan = 1500 * time.Millisecond
)

// takeTime has clients rest between the batches of scans, so that cursors stay open while ranges
// move, are deleted, and come back, and primaries change.
func takeTime(own keyed.Source, s *scenario.Scenario, z size) {
	if z.moves <= 1 || !own.Chance("resting", restingShare) {
		return
	}
	for i := range s.Ops {
		op := &s.Ops[i]
		each := own.Fork(uint64(op.ID))
		if op.Kind != scenario.Scan || !each.Chance("rests", restShare) {
			continue
		}
		rest := keyed.Pick(each, "rest", 5*time.Millisecond, 20*time.Millisecond,
			80*time.Millisecond, 300*time.Millisecond)
		batches := time.Duration(1 + (op.To-op.Key)/int64(op.Batch))
		op.Rest = min(rest, (longestScan / batches).Truncate(time.Millisecond))
	}
}

const (
	// belowShare is how many percent of the seeds with several migrations have scans on secondaries
	// while the ranges that they read are deleted, and metShare how many percent of the migrations
	// in these seeds meet such a scan.
	belowShare, metShare = 15, 60
	// belowLead is how long before the request for the migration such a scan begins at most.
	belowLead = 20 * time.Millisecond
)

// readBelow turns scans into ones that read a whole collection on secondaries, in small batches,
// from shortly before a range moves until the donor has deleted it: no secondary keeps the range
// for its queries, so they have to end. No operation is added.
func readBelow(own keyed.Source, s *scenario.Scenario, z size) {
	if z.moves <= 1 || !own.Chance("below", belowShare) {
		return
	}
	s.Set(scenario.Setting{
		Name: "orphanCleanupDelaySecs", Value: keyed.Pick(own, "delay", "0s", "0s", "5ms"),
	})
	s.Set(scenario.Setting{Name: "terminateSecondaryReadsOnOrphanCleanup", Value: "1"})
	next := 0
	for _, m := range s.Migrations {
		each := own.Fork(uint64(m.ID))
		if m.NS != mainNamespace || !each.Chance("meets", metShare) {
			continue
		}
		for next < len(s.Ops) && (s.Ops[next].Kind != scenario.Scan || s.Ops[next].NS != m.NS) {
			next++
		}
		if next == len(s.Ops) {
			break
		}
		op := &s.Ops[next]
		next++
		op.At = max(0, m.At-time.Duration(each.IntN("lead", int(belowLead))))
		op.Key, op.To, op.Batch = 0, int64(s.Collections[0].Keys), 1+each.IntN("batch", 2)
		op.Concern = keyed.Pick(each, "concern", "majority", "majority", "local")
		op.Prefer, op.Causal, op.Age = scenario.Secondary, false, 0
		batches := time.Duration(1 + op.To/int64(op.Batch))
		op.Rest = (longestScan / 2 / batches).Truncate(time.Millisecond)
	}
	slices.SortStableFunc(s.Ops, func(a, b scenario.Op) int { return cmp.Compare(a.At, b.At) })
}
