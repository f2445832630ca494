// Package kvstore is an example of a system that can be put under test: a key-value store on two
// servers and a directory, written against system/env, that moves a range of keys from one server
// to the other while clients use it.
//
// The directory says who owns what. Its table has a version, and every answer to a Fetch with Fence
// raises it. A movement has two steps, which an operator asks the owner for. Copy fetches the table
// with a fence, sends all pairs of the range to the other server, and remembers which keys are
// written meanwhile. Switch stops the range, sends what was written since, and has the directory
// assign the range to the other server if the table still has the version of the beginning.
//
// Promise: what was acknowledged is on the disk of its owner; a range has one owner that answers;
// whatever fails on the way, the movement is carried out as a whole or not at all.
//
// Refusal: one server a shard, no replication, no scans. It is small so that it can be read.
package kvstore

import (
	"math"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
)

// System is the name under which the store registers its failpoint sites.
const System = "kvstore"

// The sites at which its nodes can be paused, fail or crash.
var (
	SiteCopy = failpoint.Register(System, failpoint.Donor, "kv.copy",
		"the range is owned by another server, or is moved already")
	SiteBatch = failpoint.Register(System, failpoint.Donor, "kv.batch",
		"pairs are written while they are being copied")
	SiteCatchUp = failpoint.Register(System, failpoint.Donor, "kv.catchUp",
		"what was written during the copy does not arrive")
	SiteAssign = failpoint.Register(System, failpoint.Donor, "kv.assign",
		"the directory assigns the range, or not, and the owner does not hear of it")
	SiteInstall = failpoint.Register(System, failpoint.Recipient, "kv.install",
		"pairs arrive twice, late, or for a movement that is over")
	SiteTable = failpoint.Register(System, failpoint.Config, "kv.table",
		"two movements change the table at once")
	SiteRequest = failpoint.Register(System, failpoint.Request, "kv.request",
		"the range moves between the arrival of a request and its execution")
)

// The codes of its refusals. A refused request was not executed.
const (
	NotOwner errcode.Code = "NotOwner" // the key belongs to another server: fetch the table
	Stopped  errcode.Code = "Stopped"  // the range is changing hands: try again
	Refused  errcode.Code = "Refused"  // a step of a movement that does not fit what is going on
)

// Directory is the node that knows who owns what.
const Directory env.NodeID = "config.0"

// Config is what a store begins with.
type Config struct {
	// NS names the data in events.
	NS string
	// Table is who owns what at first, Pairs what is there.
	Table []Owned
	Pairs map[int64]string
	// ForgetsChanges plants a bug: what was written during the copy is taken off the list when it
	// is first sent, so that nothing is left to be sent again when that was lost.
	ForgetsChanges bool
	// AsksOnce plants another: the source of a movement asks the directory only once how it has
	// ended, so that the movement stays open if that request is lost.
	AsksOnce bool
}

// Owned is a range [Min, Max) and the shard that owns it. The smallest and the largest number are
// the ends of all keys.
type Owned struct {
	Min, Max int64
	Shard    string
}

func (o *Owned) has(k int64) bool { return o.Min <= k && (k < o.Max || o.Max == math.MaxInt64) }

// Table is the directory's table, and the answer to Fetch and Assign.
type Table struct {
	Version int
	Ranges  []Owned
}

// Owner is the shard that owns a key.
func (t *Table) Owner(k int64) string {
	if i := slices.IndexFunc(t.Ranges, func(o Owned) bool { return o.has(k) }); i >= 0 {
		return t.Ranges[i].Shard
	}
	return ""
}

// owns reports whether a shard owns all of a range.
func (t *Table) owns(shard string, lo, hi int64) bool {
	for _, o := range t.Ranges {
		if o.Min < hi && lo < o.Max && o.Shard != shard {
			return false
		}
	}
	return true
}

// with is the ranges after one was given to a shard.
func (t *Table) with(given Owned) (next []Owned) {
	for _, o := range t.Ranges {
		if o.Max <= given.Min || given.Max <= o.Min {
			next = append(next, o)
			continue
		}
		if o.Min < given.Min {
			next = append(next, Owned{o.Min, given.Min, o.Shard})
		}
		if given.Max < o.Max {
			next = append(next, Owned{given.Max, o.Max, o.Shard})
		}
	}
	next = append(next, given)
	slices.SortFunc(next, func(a, b Owned) int {
		if a.Min < b.Min {
			return -1
		}
		return 1
	})
	return next
}

// Chunks are the ranges as events have them.
func (t *Table) Chunks() (rows []trace.Chunk) {
	for i, o := range t.Ranges {
		rows = append(rows, trace.Chunk{
			Min:   Bound(o.Min),
			Max:   Bound(o.Max),
			Shard: o.Shard,
			Major: uint32(t.Version),
			Minor: uint32(i),
			Epoch: System,
		})
	}
	return rows
}

// Bound is the encoded bound of a range.
func Bound(n int64) string {
	switch n {
	case math.MinInt64:
		return string(key.Min)
	case math.MaxInt64:
		return string(key.Max)
	}
	return string(key.Int(n))
}

// ServerOf is the node of a shard.
func ServerOf(shard string) env.NodeID { return env.NodeID(shard + ".0") }

// How long a node waits for an answer, and how soon it tries again. A movement that no operator
// switches is given up.
const (
	patience  = 100 * time.Millisecond
	retry     = 20 * time.Millisecond
	tries     = 4
	moveLimit = 2 * time.Second
)

// call sends a request and wants an answer of that type.
func call[A any](t env.Task, to env.NodeID, req env.Message) (*A, error) {
	m, err := t.Call(to, req, patience)
	if err != nil {
		return nil, err
	}
	return m.(*A), nil
}

// insist repeats a call until it is answered, or only the node's end ends it.
func insist[A any](t env.Task, to env.NodeID, req env.Message) (*A, error) {
	for {
		a, err := call[A](t, to, req)
		if err == nil || t.Sleep(retry) != nil {
			return a, err
		}
	}
}
