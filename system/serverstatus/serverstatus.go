// Package serverstatus counts what a member of a shard does in migrations, under the names that
// operators know from the section shardingStatistics of MongoDB's serverStatus.
//
// Promise: a counter only grows while its process lives, and starts at zero with the process: like
// the real ones, it survives no crash and is never replicated. Times are virtual. The two about
// pending range deletions are not counters but what is on record.
//
// Refusal: nothing in the store decides by a counter.
package serverstatus

import (
	"reflect"
	"time"
)

// Sharding is one process's counters. The zero value has counted nothing.
type Sharding struct {
	// Of the donor.
	DonorStarted   int64         `name:"countDonorMoveChunkStarted"`
	DonorCommitted int64         `name:"countDonorMoveChunkCommitted"`
	DonorAborted   int64         `name:"countDonorMoveChunkAborted"`
	DonorTime      time.Duration `name:"totalDonorMoveChunkTimeMillis"`
	DonorCloneTime time.Duration `name:"totalDonorChunkCloneTimeMillis"`
	DocsGiven      int64         `name:"countDocsClonedOnDonor"`
	BytesGiven     int64         `name:"countBytesClonedOnDonor"`
	SectionTime    time.Duration `name:"totalCriticalSectionTimeMillis"`
	CommitTime     time.Duration `name:"totalCriticalSectionCommitTimeMillis"`
	Unfinished     int64         `name:"unfinishedMigrationFromPreviousPrimary"`
	// Our own: ChunkTooBig.
	TooBig int64 `name:"countDonorMoveChunkTooBig"`
	// Our own: ExceededMemoryLimit.
	MemoryExceeded  int64 `name:"countDonorMoveChunkMemoryExceeded"`
	CommitUncertain int64 `name:"countDonorMoveChunkCommitUncertain"`
	LockTimeouts    int64 `name:"countDonorMoveChunkLockTimeout"`

	// Of the recipient.
	RecipientStarted     int64         `name:"countRecipientMoveChunkStarted"`
	RecipientFailed      int64         `name:"countRecipientMoveChunkFailed"` // our own
	DocsCloned           int64         `name:"countDocsClonedOnRecipient"`
	BytesCloned          int64         `name:"countBytesClonedOnRecipient"`
	DocsCaughtUp         int64         `name:"countDocsClonedOnCatchUpOnRecipient"`
	BytesCaughtUp        int64         `name:"countBytesClonedOnCatchUpOnRecipient"`
	RecipientSectionTime time.Duration `name:"totalRecipientCriticalSectionTimeMillis"`

	// Of requests: those that were refused for their version.
	StaleConfig int64 `name:"countStaleConfigErrors"`

	// Of range deletion.
	DocsDeleted  int64 `name:"countDocsDeletedByRangeDeleter"`
	BytesDeleted int64 `name:"countBytesDeletedByRangeDeleter"`
	// What is on record on a primary, zero on other members: tasks, and the orphans that they
	// count.
	Tasks   int64 `name:"rangeDeleterTasks"`
	Orphans int64 `name:"numOrphanDocs"`
}

// Value is one counter; times are in milliseconds.
type Value struct {
	Name  string
	Count int64
}

// Values lists all counters in the order of their declaration.
func (s *Sharding) Values() []Value {
	v := reflect.ValueOf(s).Elem()
	all := make([]Value, v.NumField())
	for i := range all {
		all[i] = Value{v.Type().Field(i).Tag.Get("name"), v.Field(i).Int()}
		if v.Field(i).Type() == reflect.TypeFor[time.Duration]() {
			all[i].Count = time.Duration(all[i].Count).Milliseconds()
		}
	}
	return all
}
