package settings

// The units of settings: what a plain number counts.
const (
	Milliseconds = "ms"
	Seconds      = "s"
	Bytes        = "bytes"
	Percent      = "%"
	Number       = "number" // of what the description says
	Switch       = "switch" // true or false
)

// fact is what lists say of a setting. A setting is read at each use, so that
// a change counts from then on. A default of 4.2 is named where it differs.
type fact struct{ name, unit, reader, does string }

var about = []fact{
	{
		"electionTimeoutMillis", Milliseconds, "members",
		"a follower campaigns after one to two times this without a leader",
	},
	{
		"heartbeatIntervalMillis", Milliseconds, "members",
		"the time between two heartbeats, one raft tick",
	},
	{
		"oplogMinRetentionEntries", Number, "members",
		"log entries kept for lagging members and for session history",
	},
	{
		"stepDownCatchUpMillis", Milliseconds, "members",
		"how long a graceful stepdown waits for its successor to catch up",
	},
	{
		"defaultConfigCommandTimeoutMS", Milliseconds, "servers",
		"how long a server waits for the reply to one command",
	},
	{
		"criticalSectionWaitMillis", Milliseconds, "shards",
		"how long a stale request waits for a critical section to end",
	},
	{
		"writeConcernTimeoutMillis", Milliseconds, "members",
		"how long a write waits for its write concern",
	},
	{"cursorTimeoutMillis", Milliseconds, "shards", "an idle cursor is closed after this time"},
	{
		"socketTimeoutMS", Milliseconds, "clients",
		"how long a client waits for one reply of a router",
	},
	{"timeoutMS", Milliseconds, "clients", "how long a client retries one operation"},
	{
		"retryWrites", Switch, "clients",
		"whether writes to single documents are retryable, for which they need sessions",
	},
	{
		"shardRequestTimeoutMillis", Milliseconds, "routers",
		"how long a router waits for one reply of a shard",
	},
	{
		"moveRangeMaxWaitMillis", Milliseconds, "config server",
		"how long the config server and routers wait for one migration",
	},
	{
		"maxNumStaleVersionRetries", Number, "routers",
		"how often a router refreshes and retries one request",
	},
	{
		"orphanCleanupDelaySecs", Seconds, "range deleter",
		"the delay before a donor deletes a range that has moved away",
	},
	{
		"rangeDeleterBatchSize", Number, "range deleter",
		"documents deleted in one batch; 0 for no limit, 128 in 4.2",
	},
	{
		"rangeDeleterBatchDelayMS", Milliseconds, "range deleter",
		"the pause between two batches of deletions",
	},
	{
		"terminateSecondaryReadsOnOrphanCleanup", Switch, "shards",
		"true kills reads on secondaries whose range is to be deleted, as 8.2 does",
	},
	{
		"rangeDeleterHighPriority", Switch, "range deleter",
		"true keeps range deletions from making way for users",
	},
	{
		"disableResumableRangeDeleter", Switch, "range deleter",
		"true stops range deletion, and refuses to receive ranges (8.0)",
	},
	{
		"receiveChunkWaitForRangeDeleterTimeoutMS", Milliseconds, "recipient",
		"how long a recipient waits for an overlapping range deletion",
	},
	{
		"drainOverlappingRangeDeletionsOnStartTimeoutMS", Milliseconds, "donor",
		"how long a donor waits for an overlapping range deletion (8.0)",
	},
	{
		"migrationLockAcquisitionMaxWaitMS", Milliseconds, "donor",
		"how long a donor waits for the lock under which it blocks writes",
	},
	{
		"chunkMigrationConcurrency", Number, "recipient",
		"how many tasks fetch a chunk; fixed from 8.0.5 on",
	},
	{
		"migrateCloneInsertionBatchSize", Number, "recipient",
		"documents that a recipient inserts in one batch; 0 for no limit",
	},
	{
		"cloneScanBatchSize", Number, "donor",
		"documents that a donor scans for the clone before it yields; 0 for no limit",
	},
	{"migrateCloneBatchBytes", Bytes, "donor", "bytes cloned in one batch"},
	{
		"migrateCloneInsertionBatchDelayMS", Milliseconds, "recipient",
		"the pause between two batches of inserts",
	},
	{
		"chunkMigrationFetcherMaxBufferedSizeBytesPerThread", Bytes, "recipient",
		"bytes that a recipient may have fetched and not yet inserted; 0 for no limit",
	},
	{
		"transferModsBatchBytes", Bytes, "donor",
		"bytes of captured changes in one batch; 1 MiB in 4.2",
	},
	{
		"transferModsMemoryBytes", Bytes, "donor",
		"bytes of captured changes that a donor holds before it aborts",
	},
	{
		"maxCatchUpPercentageBeforeBlockingWrites", Percent, "donor",
		"the donor blocks writes once the changes left are at most this share of the chunk",
	},
	{"chunkSizeBytes", Bytes, "balancer", "the maximum size of a chunk; 64 MiB in 4.2"},
	{
		"moveChunkCatchUpMaxWaitMillis", Milliseconds, "donor",
		"how long a donor waits for clone and catch-up",
	},
	{
		"steadyPollMillis", Milliseconds, "recipient",
		"how often a recipient that has caught up asks for more changes",
	},
	{
		"recvChunkStatusWaitMillis", Milliseconds, "recipient",
		"how long a recipient holds a status request before it answers",
	},
	{
		"sessionModsWaitMillis", Milliseconds, "donor",
		"how long a donor holds a request for session history when there is none",
	},
	{
		"sessionModsBatchSize", Number, "donor",
		"statements after which a message of session history takes in no further session; " +
			"0 for no limit",
	},
	{
		"migrationRetryBackoffMillis", Milliseconds, "donor",
		"the first pause before a step that must succeed is retried",
	},
	{
		"minSnapshotHistoryWindowInSeconds", Seconds, "config server",
		"how long history is kept for snapshot reads; 10s in 4.2",
	},
	{
		"transactionLifetimeLimitSeconds", Seconds, "config server",
		"history is kept for at least this time (8.0)",
	},
	{
		"shortestHistoryWindowSecs", Seconds, "config server",
		"history is kept for at least this time; a constant of MongoDB",
	},
	{
		"persistedChunkCacheUpdateMaxBatchSize", Number, "shards",
		"chunks of a cached routing table in one log entry; 0 for no limit",
	},
	{
		"incrementChunkMajorVersionOnChunkSplits", Switch, "config server",
		"true gives the first piece of a split a new major version",
	},
	{
		"incrementChunkMajorVersionOnChunkMerges", Switch, "config server",
		"true gives a merged chunk a new major version",
	},
	{
		"useRandomSplitPoint", Switch, "donor",
		"true ends a range with an open bound at a random document",
	},
	{
		"balancerRoundIntervalMillis", Milliseconds, "balancer",
		"the pause after a balancer round that found nothing to do",
	},
	{
		"balancerShortIntervalMillis", Milliseconds, "balancer",
		"the pause after a balancer round that did something",
	},
	{
		"actionLogMaxRecords", Number, "balancer",
		"records that config.actionlog keeps; 0 for no limit",
	},
	{
		"balancerRandomMigrations", Switch, "balancer",
		"true makes the balancer choose migrations at random",
	},
	{
		"minNumChunksForSessionsCollection", Number, "balancer",
		"how many chunks config.system.sessions is split into",
	},
	{
		"logicalSessionRefreshMillis", Milliseconds, "config server",
		"how often the config server looks whether config.system.sessions has to be made",
	},
	{
		"autoMergerIntervalSecs", Seconds, "balancer",
		"the time between two passes of the automerger (8.0)",
	},
	{
		"autoMergerThrottlingMS", Milliseconds, "balancer",
		"the pause of the automerger after each shard",
	},
	{
		"localTimeOffset", Seconds, "balancer",
		"how far east of UTC the time zone of all servers is, up to a day",
	},
}

func factOf(name string) (f fact) {
	for _, f := range about {
		if f.name == name {
			return f
		}
	}
	return f
}

// About says what the named setting does; empty for an unknown name.
func About(name string) string { return factOf(name).does }

// Unit is what a plain number given to the named setting counts.
func Unit(name string) string { return factOf(name).unit }

// Reader is who goes by the named setting.
func Reader(name string) string { return factOf(name).reader }

// StartupOnly reports whether the named setting counts only from the start of a server on.
func StartupOnly(name string) bool { return name == "disableResumableRangeDeleter" }
