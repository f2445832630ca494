package settings

// about says what each setting does, for lists. A default of 4.2 is named where it differs.
var about = [][2]string{
	{"electionTimeoutMillis", "a follower campaigns after one to two times this without a leader"},
	{"heartbeatIntervalMillis", "the time between two heartbeats, one raft tick"},
	{"oplogMinRetentionEntries", "log entries kept for lagging members and for session history"},
	{"stepDownCatchUpMillis", "how long a graceful stepdown waits for its successor to catch up"},
	{"defaultConfigCommandTimeoutMS", "the timeout of a command to the config server"},
	{"criticalSectionWaitMillis", "how long a stale request waits for a critical section to end"},
	{"writeConcernTimeoutMillis", "how long a write waits for its write concern"},
	{"cursorTimeoutMillis", "an idle cursor is closed after this time"},
	{"socketTimeoutMS", "how long a client waits for one reply of a router"},
	{"timeoutMS", "how long a client retries one operation"},
	{"moveRangeMaxWaitMillis", "how long the config server and routers wait for one migration"},
	{"maxNumStaleVersionRetries", "how often a router refreshes and retries one request"},
	{"orphanCleanupDelaySecs", "the delay before a donor deletes a range that has moved away"},
	{"rangeDeleterBatchSize", "documents deleted in one batch; 0 for no limit, 128 in 4.2"},
	{"rangeDeleterBatchDelayMS", "the pause between two batches of deletions"},
	{
		"terminateSecondaryReadsOnOrphanCleanup",
		"1 kills reads on secondaries whose range is to be deleted, as 8.2 does",
	},
	{
		"receiveChunkWaitForRangeDeleterTimeoutMS",
		"how long a recipient waits for an overlapping range deletion",
	},
	{"migrateCloneInsertionBatchSize", "documents inserted in one batch; 0 for no limit"},
	{"migrateCloneBatchBytes", "bytes cloned in one batch"},
	{"migrateCloneInsertionBatchDelayMS", "the pause between two batches of inserts"},
	{
		"chunkMigrationFetcherMaxBufferedSizeBytesPerThread",
		"bytes that a recipient may have fetched and not yet inserted",
	},
	{"transferModsBatchBytes", "bytes of captured changes in one batch; 1 MiB in 4.2"},
	{"transferModsMemoryBytes", "bytes of captured changes that a donor holds before it aborts"},
	{
		"maxCatchUpPercentageBeforeBlockingWrites",
		"the donor blocks writes once the changes left are at most this share of the chunk",
	},
	{"chunkSizeBytes", "the maximum size of a chunk; 64 MiB in 4.2"},
	{"moveChunkCatchUpMaxWaitMillis", "how long a donor waits for clone and catch-up"},
	{"steadyPollMillis", "how often a recipient that has caught up asks for more changes"},
	{"recvChunkStatusWaitMillis", "how long a recipient holds a status request before it answers"},
	{
		"sessionModsWaitMillis",
		"how long a donor holds a request for session history when there is none",
	},
	{"migrationRetryBackoffMillis", "the first pause before a step that must succeed is retried"},
	{
		"minSnapshotHistoryWindowInSeconds",
		"how long history is kept for snapshot reads; 10s in 4.2",
	},
	{
		"persistedChunkCacheUpdateMaxBatchSize",
		"chunks of a cached routing table in one log entry; 0 for no limit",
	},
	{
		"incrementChunkMajorVersionOnChunkSplits",
		"1 gives the first piece of a split a new major version",
	},
	{"incrementChunkMajorVersionOnChunkMerges", "1 gives a merged chunk a new major version"},
	{"useRandomSplitPoint", "1 ends a range with an open bound at a random document"},
	{"balancerRoundIntervalMillis", "the pause after a balancer round that found nothing to do"},
	{"balancerShortIntervalMillis", "the pause after a balancer round that did something"},
	{"balancerRandomMigrations", "1 makes the balancer choose migrations at random"},
	{"autoMergerIntervalSecs", "the time between two passes of the automerger (8.0)"},
	{"autoMergerThrottlingMS", "the pause of the automerger after each shard"},
	{"localTimeOffset", "how far east of UTC the time zone of all servers is, up to a day"},
}

// About says what the named setting does; empty for an unknown name.
func About(name string) string {
	for _, a := range about {
		if a[0] == name {
			return a[1]
		}
	}
	return ""
}
