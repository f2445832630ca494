// Package settings holds every limit, delay and size that an operator can set while a cluster runs
// (protocol 16), with the names by which MongoDB's operators know them, and those of our own
// transport and replication.
//
// Promise: a setting is known by one name, with a default for each protocol version; a value that
// it cannot have is refused with the values that it can.
//
// Refusal: it does not know who reads a setting when; a change takes effect at the next read.
package settings

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/shardproof/shardproof/system/protocol"
)

// Settings are one cluster's values. Durations are virtual time. Every field says its default.
type Settings struct {
	// Replication.
	// 500ms; real systems 10s. A follower campaigns after 1 to 2 times this.
	ElectionTimeout time.Duration `name:"electionTimeoutMillis"`
	// 100ms; one raft tick.
	HeartbeatInterval time.Duration `name:"heartbeatIntervalMillis"`
	// 2000 entries kept for lagging members and session history.
	LogRetention int `name:"oplogMinRetentionEntries"`
	// 1s a graceful stepdown waits for its successor.
	CatchUpTimeout time.Duration `name:"stepDownCatchUpMillis"`

	// Commands.
	// 30s a server waits for another's answer to one command.
	CommandTimeout time.Duration `name:"defaultConfigCommandTimeoutMS"`
	// 5m a stale request waits behind a critical section; 0: no limit.
	StaleWait time.Duration `name:"criticalSectionWaitMillis"`
	// 5s a write waits for its write concern; 0: no limit.
	WriteConcernTimeout time.Duration `name:"writeConcernTimeoutMillis"`
	// 10m; idle cursors are closed after it.
	CursorTimeout time.Duration `name:"cursorTimeoutMillis"`

	// Clients and routers.
	// 5s a client waits for one answer of a router.
	AttemptTimeout time.Duration `name:"socketTimeoutMS"`
	// 20s a client goes on retrying one operation.
	ClientDeadline time.Duration `name:"timeoutMS"`
	// 1; 0: a write has no session and is sent once, whatever becomes of it.
	RetryWrites int `name:"retryWrites"`
	// 3s a router waits for one answer of a shard; real ones wait as long as their client does.
	ShardTimeout time.Duration `name:"shardRequestTimeoutMillis"`
	// 24h the config server and the router wait for one migration, which gives up long before.
	MoveWait time.Duration `name:"moveRangeMaxWaitMillis"`
	// 10 tables a router tries for one request.
	StaleRetries int `name:"maxNumStaleVersionRetries"`

	// Migration.
	// 900s; scenarios draw small values.
	OrphanCleanupDelay time.Duration `name:"orphanCleanupDelaySecs"`
	// 0: no limit.
	RangeDeleterBatch int `name:"rangeDeleterBatchSize"`
	// 20ms.
	RangeDeleterDelay time.Duration `name:"rangeDeleterBatchDelayMS"`
	// 0; 1, as from 8.2 on: a deletion ends the secondaries' reads that it overtakes.
	TerminateReads int `name:"terminateSecondaryReadsOnOrphanCleanup"`
	// 0; 1: deletions do not make way for users' operations.
	HighPriority int `name:"rangeDeleterHighPriority"`
	// 0; 1: ranges are not deleted, and none is received (8.0).
	DeleterDisabled int `name:"disableResumableRangeDeleter"`
	// 10s a recipient waits for overlapping deletions; 0: no limit.
	OverlapWait time.Duration `name:"receiveChunkWaitForRangeDeleterTimeoutMS"`
	// 10s a donor waits (8.0); 0: no limit.
	DrainWait time.Duration `name:"drainOverlappingRangeDeletionsOnStartTimeoutMS"`
	// 500ms a donor waits for the lock under which it blocks writes.
	LockWait time.Duration `name:"migrationLockAcquisitionMaxWaitMS"`
	// 1, and nothing else.
	Concurrency int `name:"chunkMigrationConcurrency"`
	// 0: no limit but what was fetched at once.
	CloneBatchDocs int `name:"migrateCloneInsertionBatchSize"`
	// 256 documents a donor lists at once; 0: no limit.
	CloneScanBatch int `name:"cloneScanBatchSize"`
	// 16 MiB.
	CloneBatchBytes int `name:"migrateCloneBatchBytes"`
	// 0.
	CloneBatchDelay time.Duration `name:"migrateCloneInsertionBatchDelayMS"`
	// 64 MiB and 64 KiB that a recipient has fetched and not inserted; 0: no limit (errata E4).
	FetchBufferBytes int `name:"chunkMigrationFetcherMaxBufferedSizeBytesPerThread"`
	// 16 MiB.
	ModsBatchBytes int `name:"transferModsBatchBytes"`
	// 500 MiB.
	ModsMemoryLimit int `name:"transferModsMemoryBytes"`
	// 10.
	CatchUpPercent int `name:"maxCatchUpPercentageBeforeBlockingWrites"`
	// 128 MiB.
	MaxChunkBytes int `name:"chunkSizeBytes"`
	// 6h.
	CatchUpWait time.Duration `name:"moveChunkCatchUpMaxWaitMillis"`
	// 10ms; no less than 1ms.
	SteadyPoll time.Duration `name:"steadyPollMillis"`
	// 1s the recipient holds a status request; 0: it answers at once.
	StatusPoll time.Duration `name:"recvChunkStatusWaitMillis"`
	// 1s the donor holds a request for session history.
	SessionsPoll time.Duration `name:"sessionModsWaitMillis"`
	// 64 statements from which on the next session's are left for the next message; 0: no limit.
	SessionsBatch int `name:"sessionModsBatchSize"`
	// 1s first pause of steps that are retried until they succeed; no less than 1ms.
	RetryBackoff time.Duration `name:"migrationRetryBackoffMillis"`
	// 300s.
	HistoryWindow time.Duration `name:"minSnapshotHistoryWindowInSeconds"`
	// 60s; placements are kept for no less (8.0).
	TransactionLifetime time.Duration `name:"transactionLifetimeLimitSeconds"`
	// 10s; placements are kept for no less, whatever the two above say. A constant of MongoDB.
	ShortestHistory time.Duration `name:"shortestHistoryWindowSecs"`
	// 1000 chunks of a shard's own copy of the table in one entry; 0: no limit.
	CacheBatch int `name:"persistedChunkCacheUpdateMaxBatchSize"`

	// Chunks. Versions of MongoDB differ in what a split and a merge do to versions (protocol 3.2).
	// 0; 1: the first piece of a split gets a new major version.
	MajorOnSplit int `name:"incrementChunkMajorVersionOnChunkSplits"`
	// 0; 1: and so does a merged chunk.
	MajorOnMerge int `name:"incrementChunkMajorVersionOnChunkMerges"`
	// 0; 1: a range with an open bound ends at any document.
	RandomSplit int `name:"useRandomSplitPoint"`

	// Balancer (protocol 14, errata E1).
	// 10s from one round to the next when there was nothing to do.
	BalancerInterval time.Duration `name:"balancerRoundIntervalMillis"`
	// 1s after a round in which something was done.
	BalancerPause time.Duration `name:"balancerShortIntervalMillis"`
	// 1000 records of the balancer's actions, in place of a capped collection; 0: no limit.
	ActionRecords int `name:"actionLogMaxRecords"`
	// 0; 1: the balancer moves at random (failpoint balancerShouldReturnRandomMigrations).
	BalancerRandom int `name:"balancerRandomMigrations"`
	// 1024.
	SessionChunks int `name:"minNumChunksForSessionsCollection"`
	// 5m from one look of the config server whether there is a collection of sessions to the next;
	// no less than 1ms.
	SessionRefresh time.Duration `name:"logicalSessionRefreshMillis"`
	// 1h from one pass of the automerger to the next (8.0); no less than 1ms.
	MergeInterval time.Duration `name:"autoMergerIntervalSecs"`
	// 15s after each shard that it has merge.
	MergePause time.Duration `name:"autoMergerThrottlingMS"`
	// 0; how far east of UTC the server's time zone is, up to a day.
	LocalTimeOffset time.Duration `name:"localTimeOffset"`
}

// Default returns the values that a version starts with, with replication as quick as a simulation
// likes.
func Default(p protocol.Profile) Settings {
	if p == protocol.V42 {
		return Default42()
	}
	return Default80()
}

// Default42 returns the values of the 4.2 profile: smaller chunks and batches, a history as short
// as it may be, and no wait for overlapping deletions, which the recipient carries out itself
// (protocol 16, errata E8).
func Default42() Settings {
	s := Default80()
	s.MaxChunkBytes, s.ModsBatchBytes = 64<<20, 1<<20
	s.HistoryWindow = 10 * time.Second
	s.RangeDeleterBatch = 128
	return s
}

// Default80 returns the values of the 8.0 profile.
func Default80() Settings {
	return Settings{
		ElectionTimeout:     500 * time.Millisecond,
		HeartbeatInterval:   100 * time.Millisecond,
		LogRetention:        2000,
		CatchUpTimeout:      time.Second,
		CommandTimeout:      30 * time.Second,
		StaleWait:           5 * time.Minute,
		WriteConcernTimeout: 5 * time.Second,
		CursorTimeout:       10 * time.Minute,
		AttemptTimeout:      5 * time.Second,
		ClientDeadline:      20 * time.Second,
		RetryWrites:         1,
		ShardTimeout:        3 * time.Second,
		MoveWait:            24 * time.Hour,
		StaleRetries:        10,
		OrphanCleanupDelay:  900 * time.Second,
		RangeDeleterDelay:   20 * time.Millisecond,
		OverlapWait:         10 * time.Second,
		CloneScanBatch:      256,
		CloneBatchBytes:     16 << 20,
		DrainWait:           10 * time.Second,
		LockWait:            500 * time.Millisecond,
		Concurrency:         1,
		FetchBufferBytes:    4 * (16<<20 + 16<<10),
		ModsBatchBytes:      16 << 20,
		ModsMemoryLimit:     500 << 20,
		CatchUpPercent:      10,
		MaxChunkBytes:       128 << 20,
		CatchUpWait:         6 * time.Hour,
		SteadyPoll:          10 * time.Millisecond,
		StatusPoll:          time.Second,
		SessionsPoll:        time.Second,
		SessionsBatch:       64,
		RetryBackoff:        time.Second,
		HistoryWindow:       300 * time.Second,
		TransactionLifetime: time.Minute,
		ShortestHistory:     10 * time.Second,
		CacheBatch:          1000,
		BalancerInterval:    10 * time.Second,
		BalancerPause:       time.Second,
		ActionRecords:       1000,
		SessionChunks:       1024,
		SessionRefresh:      5 * time.Minute,
		MergeInterval:       time.Hour,
		MergePause:          15 * time.Second,
	}
}

// settingNames are the settings in the order of their declaration, and fields the place of each.
var settingNames, settingFields = func() ([]string, map[string]int) {
	typ := reflect.TypeFor[Settings]()
	list, places := make([]string, typ.NumField()), make(map[string]int, typ.NumField())
	for i := range list {
		list[i] = typ.Field(i).Tag.Get("name")
		places[list[i]] = i
	}
	return list, places
}()

// Names lists the settings in the order of their declaration.
func Names() []string { return slices.Clone(settingNames) }

// Set parses value into the named setting: a Go duration such as 900s, or a whole number in the
// setting's unit; a switch is true or false, or 1 or 0.
func (s *Settings) Set(name, value string) error {
	i, ok := settingFields[name]
	if !ok {
		return fmt.Errorf("there is no setting %q; `shardproof list settings` names them all", name)
	}
	if name == fixed && value != "1" {
		return fmt.Errorf("setting %s is 1 and cannot be changed from 8.0.5 on", name)
	}
	return parseInto(reflect.ValueOf(s).Elem().Field(i), name, value)
}

// fixed is the setting that later versions have fixed (protocol 16).
const fixed = "chunkMigrationConcurrency"

func parseInto(field reflect.Value, name, value string) error {
	if field.Type() == reflect.TypeFor[time.Duration]() {
		d, err := parseDuration(name, value)
		if err != nil {
			return err
		}
		field.SetInt(int64(d))
		return nil
	}
	if on, err := strconv.ParseBool(value); Unit(name) == Switch && err == nil {
		value = "0"
		if on {
			value = "1"
		}
	}
	n, err := strconv.Atoi(value)
	switch {
	case err != nil || n < 0:
		return fmt.Errorf("setting %s needs a whole number of zero or more, not %q", name, value)
	case Unit(name) == Switch && n > 1:
		return fmt.Errorf("setting %s is true or false, not %q", name, value)
	}
	field.SetInt(int64(n))
	return nil
}

func parseDuration(name, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if n, isNumber := strconv.ParseInt(value, 10, 64); isNumber == nil {
		each := time.Millisecond
		if Unit(name) == Seconds {
			each = time.Second
		}
		d, err = time.Duration(n)*each, nil
		if n > int64(math.MaxInt64/each) {
			err = isNumber
			d = -1
		}
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("setting %s needs a duration of zero or more such as 20ms "+
			"or a number of %s, not %q", name, Unit(name), value)
	}
	return d, nil
}

// Get prints the named setting as Set parses it; the second result is false for an unknown name.
func (s *Settings) Get(name string) (string, bool) {
	i, ok := settingFields[name]
	if !ok {
		return "", false
	}
	return fmt.Sprint(reflect.ValueOf(s).Elem().Field(i).Interface()), true
}
