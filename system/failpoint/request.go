package failpoint

// The phases of a request on a shard (role Q of failpoints 18.2).
var (
	RequestVersionCheck = declare(Request, "q.versionCheck",
		"the placement changes right after the version was found good")
	RequestWaitCritSec = declare(Request, "q.waitCritSec",
		"a request that waits behind a critical section misses its end, or runs before it")
	RequestAcquireSnapshot = declare(Request, "q.acquireSnapshot",
		"the data is read later than the version was checked")
	RequestTakeFilter = declare(Request, "q.takeFilter",
		"a query begins while the range it needs is already handed to the range deleter")
	RequestYield = declare(Request, "q.yield",
		"between two documents anything may happen: a migration, a failover, a deletion")
	RequestRestore = declare(Request, "q.restore",
		"a query goes on with what it knew before it was descheduled")
	RequestPreCommit = declare(Request, "q.preCommitRecheck",
		"a write that passed its version check is still uncaptured when the critical section "+
			"begins")
	RequestCommit = declare(Request, "q.commit",
		"the write is applied here, may still be rolled back, and nobody has been told")
	RequestReply = declare(Request, "q.replyLost",
		"the write is done but its client never learns it and tries again")
	RequestRetryLookup = declare(Request, "q.retryLookup",
		"a retry looks for its first execution while the history is moving")
	RequestRefreshFetch = declare(Request, "q.refresh.fetch",
		"the catalogue is read before the change that made the refresh necessary")
	RequestAwaitTime = declare(Request, "q.awaitClusterTime",
		"a read that must not be older than what its session saw is answered from an older state")
	RequestSecondaryFresh = declare(Request, "q.sec.refreshViaPrimary",
		"a secondary learns of a range whose documents it does not hold yet, or asks a primary "+
			"of the past")
	RequestSecondaryLearn = declare(Request, "q.sec.applyInvalidate",
		"what was learned is installed although the log has said meanwhile that it is void")
	RequestSecondaryRead = declare(Request, "q.sec.read",
		"a secondary reads on while the documents below are being deleted")
	RequestCacheBatch = declare(Request, "q.cacheBatch",
		"half of the copy from which secondaries learn the placement is written")
	RequestJoinCluster = declare(Request, "q.joinCluster",
		"a former shard comes back with collections that were dropped while it was away")
	RequestLeaveCluster = declare(Request, "q.leaveCluster",
		"a shard leaves while others have still to tell it how a migration ended")
	RequestRefreshInstall = declare(Request, "q.refresh.install",
		"an older table overwrites a newer one, or one that was cleared on purpose")
)
