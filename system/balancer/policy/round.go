// Package policy decides which chunks are to move and to be split (protocol 13, 14): the policy of
// 4.2 by numbers of chunks, that of 6.0.3 and later by amounts of data, one that moves at random,
// and when they may run. It is pure: no I/O, no clock, no node; the same cluster and the same order
// of collections give the same migrations.
//
// Promise: no two migrations of a round share a shard; none goes to a shard that is draining, full
// or not of the chunk's zone; none makes a chunk leave a shard that should rather have more. From
// any state of a cluster, rounds that are carried out converge: in the end nothing is chosen any
// more.
//
// Refusal: it does not move anything, and it does not make up for what a shard cannot give: a chunk
// marked jumbo stays where it is, even on a shard that is to be emptied, and a chunk that crosses
// the boundary of a zone stays until it is split.
package policy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
)

// Shard is what a round knows of a shard.
type Shard struct {
	Name string
	// Draining means that the shard is being removed: it takes nothing and is to give everything.
	Draining bool
	Zones    []string
	// Busy means that the shard takes part in a migration that an earlier round has chosen.
	Busy bool
	// Bytes is the data of all collections on the shard. From MaxBytes on it takes no more; 0 is no
	// limit (4.2, maxSize).
	Bytes, MaxBytes int64
}

// takes reports whether the shard may receive a chunk of the zone; "" is a chunk outside all zones.
func (s *Shard) takes(zone string) bool {
	full := s.MaxBytes > 0 && s.Bytes >= s.MaxBytes
	return !s.Draining && !full && s.has(zone)
}

func (s *Shard) has(zone string) bool { return zone == "" || slices.Contains(s.Zones, zone) }

// Collection is what a round knows of a collection.
type Collection struct {
	Table *catalog.Table
	Zones catalog.Zones
	// Off means that the collection is left alone: balancing is disabled.
	Off bool
	// Defragment means that the collection is to have fewer chunks: until it is Defragmented, the
	// other policies leave it alone.
	Defragment bool
	// Bytes is the collection's data on each shard, and ChunkBytes the size of a chunk that is
	// aimed at. The policy by size needs them, and neither takes from nor gives to a shard that
	// Bytes does not name: its answer is missing.
	Bytes      map[string]int64
	ChunkBytes int64
	// Sizes is the data in each chunk by its lower bound, for a collection that is defragmented. A
	// chunk that is missing is of a shard that did not answer: it stays where it is, and nothing is
	// joined with it.
	Sizes map[key.Key]int64
	// ForceJumbo lets chunks move that turn out to be too big (attemptToBalanceJumboChunks).
	ForceJumbo bool
}

func (c *Collection) fixed() bool { return c.Defragment || c.frozen() }

// frozen reports that not even defragmentation touches the collection.
func (c *Collection) frozen() bool { return c.Off || !c.Table.Collection().AllowMigrations }

// Reason says why a chunk is to move; the lower, the more urgent.
type Reason uint8

// The reasons.
const (
	Draining Reason = iota
	ZoneViolation
	Imbalance
	AtRandom
	TopChunk // a shard asked for it after a split
	Fragment // a small chunk goes to a neighbour that it can be joined with
)

// String is the reason as an operator reads it.
func (r Reason) String() string {
	return [...]string{
		"draining", "zone violation", "imbalance", "at random", "top chunk", "defragmentation",
	}[r]
}

// Migration is a chunk to be moved away from its shard.
type Migration struct {
	NS    string
	Chunk catalog.Chunk
	To    string
	// Open leaves it to the donor how much to move from the chunk's lower bound on (protocol 13.3);
	// otherwise the whole chunk moves.
	Open bool
	// ForceJumbo lets the chunk move even when it turns out to be too big: asked for by the
	// collection, and since 6.0.3 for every shard that drains (protocol 14.2).
	ForceJumbo bool
	Reason     Reason
}

// String is "test.docs [3, 17) shard-a to shard-b (imbalance)".
func (m Migration) String() string {
	return fmt.Sprintf("%s %v %s to %s (%v)", m.NS, m.Chunk.Range, m.Chunk.Shard, m.To, m.Reason)
}

// Round chooses migrations that can run at once, one collection after the other: what is chosen for
// one takes its two shards away from the next.
type Round struct {
	shards []Shard
	index  map[string]int
	used   []bool
	free   int
	chosen []Migration
	stuck  []OnlyJumbo
	// What a collection needs is kept for the next one.
	survey  tableSurvey
	load    []int64
	weights []int64
	closed  []bool // the zones of which no shard is left that takes chunks
}

// NewRound begins a round over the shards, in any order; their names differ.
func NewRound(shards []Shard) *Round {
	r := &Round{
		shards:  slices.Clone(shards),
		index:   make(map[string]int, len(shards)),
		used:    make([]bool, len(shards)),
		free:    len(shards),
		load:    make([]int64, len(shards)),
		weights: make([]int64, len(shards)),
	}
	slices.SortFunc(r.shards, func(a, b Shard) int { return cmp.Compare(a.Name, b.Name) })
	for i, s := range r.shards {
		r.index[s.Name] = i
		if s.Busy {
			r.used[i] = true
			r.free--
		}
	}
	return r
}

// Exhausted reports that no two shards are left, so that further collections need not be looked at.
func (r *Round) Exhausted() bool { return r.free < 2 }

// Migrations returns what was chosen: at most half as many migrations as there are shards.
func (r *Round) Migrations() []Migration { return r.chosen }

func (r *Round) choose(c *Collection, chunk catalog.Chunk, to int, reason Reason, open bool) {
	from := r.index[chunk.Shard]
	r.used[from], r.used[to] = true, true
	r.free -= 2
	r.chosen = append(r.chosen, Migration{
		NS:         c.Table.Collection().NS,
		Chunk:      chunk,
		To:         r.shards[to].Name,
		Open:       open,
		ForceJumbo: c.ForceJumbo || open && reason == Draining,
		Reason:     reason,
	})
}

// StatsBatch is of how many collections at once the policy by size asks shards for their data
// (protocol 14.2).
const StatsBatch = 100

// Choose makes a whole round: the policy looks at the collections in the given order, a permutation
// of them, batch by batch; known says what is known of a batch, and is not asked for the rest once
// no shards are left.
func Choose(
	shards []Shard, order []int, policy func(*Round, *Collection),
	known func(batch []int) []Collection,
) *Round {
	r := NewRound(shards)
	for batch := range slices.Chunk(order, StatsBatch) {
		if r.Exhausted() {
			break
		}
		some := known(batch)
		for i := range some {
			policy(r, &some[i])
		}
	}
	return r
}
