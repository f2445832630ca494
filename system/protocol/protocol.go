// Package protocol distinguishes the two versions of the protocol that this system speaks: 4.2 and
// 8.0.
//
// Promise: a profile is a value, and each of its methods is one difference of protocol 4 and 5 that
// the code asks for where the versions part. Everything that nobody asks a profile about is the
// same in both.
//
// Refusal: no version in between, and no cluster in which servers speak different ones.
package protocol

import "fmt"

// Profile is a version of the protocol. The zero value is V80.
type Profile uint8

// The profiles.
const (
	V80 Profile = iota
	V42
)

// All lists the profiles, the newest first.
func All() []Profile { return []Profile{V80, V42} }

// String is the version as operators write it: 8.0 or 4.2.
func (p Profile) String() string { return [...]string{"8.0", "4.2"}[p] }

// Parse returns the profile of a version; the empty one is 8.0.
func Parse(version string) (Profile, error) {
	for _, p := range All() {
		if version == p.String() {
			return p, nil
		}
	}
	if version == "" {
		return V80, nil
	}
	return V80, fmt.Errorf("there is no protocol %q, only 8.0 and 4.2", version)
}

// CoordinatesMigrations: the donor keeps a durable record of a migration until both sides have
// ended it, and a new primary decides it after it has fenced the old one (protocol 9). Without, a
// counter informs a new primary that the config server may know more than it does
// (minOpTimeRecovery), and the commit is neither fenced nor idempotent (protocol 4).
func (p Profile) CoordinatesMigrations() bool { return p == V80 }

// PersistsRangeDeletions: range deletions survive the primary that was asked for them (protocol
// 10.3). Without, they are in its memory only, and what they would have deleted stays as orphans
// (protocol 10.2).
func (p Profile) PersistsRangeDeletions() bool { return p == V80 }

// HasRecipientSection: the recipient blocks writes from before the commit until it knows the new
// placement (protocol 5.2).
func (p Profile) HasRecipientSection() bool { return p == V80 }

// BlocksWithChangesLeft: the donor enters its critical section when little is left to transfer, not
// nothing (protocol 6.5).
func (p Profile) BlocksWithChangesLeft() bool { return p == V80 }

// MovesPartOfChunk: a migration may take a part of a chunk (moveRange); without, exactly one chunk
// (moveChunk).
func (p Profile) MovesPartOfChunk() bool { return p == V80 }

// BalancesBySize: the balancer compares how much data shards have (6.0.3 and later, protocol 14.2).
// Without, how many chunks.
func (p Profile) BalancesBySize() bool { return p == V80 }

// SplitsOnWrites: the primary of a shard splits a chunk once much was written to it (until 6.0.3,
// protocol 13.2). Without, a chunk is cut when a part of it moves.
func (p Profile) SplitsOnWrites() bool { return p == V42 }

// MergesByItself: small chunks are joined without being asked for (the automerger, from 7.0 on,
// protocol 13.4).
func (p Profile) MergesByItself() bool { return p == V80 }

// LocksCollections: the config server holds a lock of the collection for the whole migration and a
// document that a new config primary resumes it from (config.locks, config.migrations; protocol 4
// step 1, 9.5).
func (p Profile) LocksCollections() bool { return p == V42 }

// DonorDatesCommit: the donor says from when on the new placement counts, not the config server
// (errata E17).
func (p Profile) DonorDatesCommit() bool { return p == V42 }

// CoordinatesMovePrimary: the move of a database's primary is recorded, refuses writes and survives
// failovers (protocol 15).
func (p Profile) CoordinatesMovePrimary() bool { return p == V80 }

// ForcesJumbo: a chunk that is too big may be moved nevertheless, by force (forceJumbo, from 4.4
// on).
func (p Profile) ForcesJumbo() bool { return p == V80 }

// TakesMissingShardKey: a document may lack the shard key, which then counts as null (from 4.4 on).
func (p Profile) TakesMissingShardKey() bool { return p == V80 }

// JumboSlack is how many percent of the size that balancing aims at a chunk may have before it is
// too big (errata E9).
func (p Profile) JumboSlack() int {
	if p == V42 {
		return 130
	}
	return 200
}
