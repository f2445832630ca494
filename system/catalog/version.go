// Package catalog is the algebra of the sharding catalog: versions, chunks, routing tables and
// the changes that migrations, splits and merges make to them (protocol 3.1 to 3.3). It is pure: no
// I/O, no clock, no node.
//
// Promise: a Table is always a partition of the key space into chunks of one incarnation with
// distinct versions, and is never changed; a change that would break this is refused with an error.
// Every change leaves a higher collection version.
//
// Refusal: it does not decide whether a change is wanted, only what it does.
package catalog

import (
	"cmp"
	"fmt"

	"github.com/shardproof/shardproof/system/hlc"
)

// Version is the version of a chunk, of a shard (the highest of its chunks) or of a collection (the
// highest of all). The zero Version belongs to no collection. A Version of major and minor 0 with
// an epoch is that of a shard without chunks.
type Version struct {
	Major, Minor uint32
	// Epoch and Timestamp identify the collection's incarnation; versions of two incarnations have
	// no order.
	Epoch     string
	Timestamp hlc.Timestamp
}

// SameIncarnation reports whether v and u can be compared.
func (v Version) SameIncarnation(u Version) bool {
	return v.Epoch == u.Epoch && v.Timestamp == u.Timestamp
}

// Older reports whether v is of the same incarnation as u and before it.
func (v Version) Older(u Version) bool { return v.SameIncarnation(u) && v.Compare(u) < 0 }

// Compare orders versions of one incarnation by major, then minor.
func (v Version) Compare(u Version) int { return cmp.Compare(v.number(), u.number()) }

// IsZero reports whether the version says nothing at all.
func (v Version) IsZero() bool { return v == Version{} }

// OwnsNothing reports whether it is the version of a shard without chunks.
func (v Version) OwnsNothing() bool { return v.Major == 0 && v.Minor == 0 }

// String is "5|1||epoch".
func (v Version) String() string { return fmt.Sprintf("%d|%d||%s", v.Major, v.Minor, v.Epoch) }

func (v Version) number() uint64 { return uint64(v.Major)<<32 | uint64(v.Minor) }

func (v Version) nextMajor() Version { return v.with(v.Major+1, 0) }
func (v Version) nextMinor() Version { return v.with(v.Major, v.Minor+1) }

func (v Version) with(major, minor uint32) Version {
	v.Major, v.Minor = major, minor
	return v
}
