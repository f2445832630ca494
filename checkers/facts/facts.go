// Package facts says what commands of operators and clients are to bring about, as what is so in
// the catalog once they have.
//
// Promise: a fact is looked up in what a majority of the config server has, and in nothing that a
// server says.
//
// Refusal: it does not know whether a command was acknowledged, or when to look.
package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/checkers/zoning"
	"github.com/shardproof/shardproof/histories/trace"
)

// World is the state that a majority of the config server has.
type World interface {
	// Cluster is nil as long as nothing is known of it.
	Cluster() *model.Cluster
	Table(ns string) model.Table
	Sharded(ns string) bool
	// Unbalanced says whether the balancer may not move chunks of a collection, since the
	// collection is what the name stands for.
	Unbalanced(ns string) bool
}

// Fact is what a command is to bring about.
type Fact struct {
	// What is a clause for people, NS the collection that it is about, if any.
	What, NS string
	// Holds looks whether it is so. What it says may also depend on what it has seen before.
	Holds func(World) bool
	// About are the encoded shard keys that it concerns, nil if it is about none: those for which it
	// has not been so yet.
	About func() []verdict.KeyRange
	// Record names the document that the command writes, if it is one that several commands write.
	Record string
	// Service is what is switched on or off, if anything.
	Service string
	On      bool
	// Zone is set for a command about the range of a zone.
	Zone *zoning.Command
}

// AutoSplit is a service that operators may switch off, as config.settings names it: that shards of
// 4.2 cut chunks by themselves.
const AutoSplit = "autosplit"

// ServiceIs is that a service runs, or does not; what is judged is what it does afterwards.
func ServiceIs(name string, on bool) *Fact {
	return &Fact{
		What: name + " is switched", Holds: func(World) bool { return true },
		Service: name, On: on,
	}
}

// Recorded is that a document, which record names, is as a command leaves it; holds looks. It is
// not judged while another command on the document has no answer.
func Recorded(what, record string, holds func() bool) *Fact {
	return &Fact{What: what, Record: record, Holds: func(World) bool { return holds() }}
}

// inCluster is a fact about shards, zones or the balancer, of which nothing holds before they are
// known.
func inCluster(what string, holds func(*model.Cluster) bool) *Fact {
	return &Fact{What: what, Holds: func(w World) bool {
		c := w.Cluster()
		return c != nil && holds(c)
	}}
}

// either is a clause for people.
func either(is bool, so, not string) string {
	if is {
		return so
	}
	return not
}

// ShardOfZone is that a shard is of a zone, or is not.
func ShardOfZone(shard, zone string, is bool) *Fact {
	return inCluster(shard+either(is, " is of zone ", " is not of zone ")+zone,
		func(c *model.Cluster) bool { return c.Has(shard) && c.InZone(shard, zone) == is })
}

// ShardExists is that a shard is one of the cluster, or is not.
func ShardExists(shard string, is bool) *Fact {
	return inCluster(shard+either(is, " is a shard", " is no shard"),
		func(c *model.Cluster) bool { return c.Has(shard) == is })
}

// LimitedShard is that a shard is one of the cluster and has a limit; 0 is none.
func LimitedShard(shard string, maxBytes int64) *Fact {
	return inCluster(fmt.Sprintf("%s is a shard of at most %d bytes", shard, maxBytes),
		func(c *model.Cluster) bool { return c.Has(shard) && c.MaxBytes(shard) == maxBytes })
}

// BalancerIs is that the balancer is in a mode.
func BalancerIs(mode trace.BalancerMode) *Fact {
	return inCluster("the balancer's mode is "+mode.String(),
		func(c *model.Cluster) bool { return c.Mode == mode })
}

// RangeOfZone is that all of a range is of a zone; without one, that exactly this range is of none.
func RangeOfZone(ns, lo, hi, zone string) *Fact {
	return &Fact{What: "a range of " + ns + " is of zone " + zone, NS: ns,
		Zone: &zoning.Command{NS: ns, ZoneRange: model.ZoneRange{Min: lo, Max: hi, Name: zone}},
		Holds: func(w World) bool {
			c := w.Cluster()
			if zone == "" {
				return !c.Assigned(ns, lo, hi)
			}
			return c.Zone(ns, lo, hi) == zone
		}}
}

// BalancedIs is whether the balancer may move chunks of a collection, which it may of a new one.
func BalancedIs(ns string, on bool) *Fact {
	return &Fact{What: ns + either(on, " is balanced", " is not balanced"), NS: ns,
		Holds: func(w World) bool { return on != w.Unbalanced(ns) }}
}

func inTable(what, ns string, holds func(trace.Chunk) bool) *Fact {
	return &Fact{What: what, NS: ns,
		Holds: func(w World) bool { return slices.ContainsFunc(w.Table(ns), holds) }}
}

// BoundAt is that a chunk begins at a key.
func BoundAt(ns, at string) *Fact {
	return inTable("a chunk of "+ns+" begins at the key", ns,
		func(c trace.Chunk) bool { return c.Min == at })
}

// OneChunk is that one chunk has all of a range.
func OneChunk(ns, lo, hi string) *Fact {
	return inTable("one chunk of "+ns+" has the range", ns,
		func(c trace.Chunk) bool { return c.Min <= lo && hi <= c.Max })
}

// NotJumbo is that the chunk with a key is not jumbo.
func NotJumbo(ns, at string) *Fact {
	return inTable("the chunk of "+ns+" is not jumbo", ns,
		func(c trace.Chunk) bool { return c.Min <= at && at < c.Max && !c.Jumbo })
}

// OwnedBy is that a shard owns a key of a collection, or has a database. A collection that is gone
// is where its database is: there is nothing to move.
func OwnedBy(ns, at, shard string) *Fact {
	f := Moved(ns, at, at+"\x00", shard)
	f.What = ns + " is on " + shard
	return f
}

// Moved is that each part of a range, up to hi, was on a shard at some time, or its collection was
// gone then: what has arrived may move on before the rest has arrived.
func Moved(ns, lo, hi, shard string) *Fact {
	missing := []verdict.KeyRange{{Min: lo, Max: hi}}
	return &Fact{
		What: "the whole range of " + ns + " is on " + shard, NS: ns,
		About: func() []verdict.KeyRange { return missing },
		Holds: func(w World) bool {
			database, _, _ := strings.Cut(ns, ".")
			missing = without(missing, w.Table(ns).Owned(shard))
			return len(missing) == 0 ||
				!w.Sharded(ns) && w.Table(database).Owner(lo) == shard
		},
	}
}

// without are the parts of ranges that none of the chunks has, which are in the order of their
// keys.
func without(ranges []verdict.KeyRange, chunks []trace.Chunk) (rest []verdict.KeyRange) {
	for _, r := range ranges {
		for _, c := range chunks {
			if c.Max <= r.Min || r.Max <= c.Min {
				continue
			}
			if r.Min < c.Min {
				rest = append(rest, verdict.KeyRange{Min: r.Min, Max: c.Min})
			}
			r.Min = c.Max
		}
		if r.Min < r.Max {
			rest = append(rest, r)
		}
	}
	return rest
}

// Sharded is that a collection is in the catalog, or is not.
func Sharded(ns string, is bool) *Fact {
	return &Fact{What: ns + either(is, " is sharded", " is not sharded"), NS: ns,
		Holds: func(w World) bool { return w.Sharded(ns) == is }}
}

// Renamed is that a collection has another name.
func Renamed(from, to string) *Fact {
	return &Fact{What: from + " is called " + to, NS: to,
		Holds: func(w World) bool { return w.Sharded(to) && !w.Sharded(from) }}
}
