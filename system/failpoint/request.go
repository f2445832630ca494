package failpoint

// The phases of a request on a shard (failpoints 18.2).
var (
	RequestVersionCheck = declare(Request, "request.versionCheck",
		"the placement changes right after the version was accepted")
	RequestWaitCritSec = declare(Request, "request.waitCriticalSection",
		"a request that waits for a critical section misses its end, or runs before it")
	RequestAcquireSnapshot = declare(Request, "request.acquireSnapshot",
		"the data is read later than the version was checked")
	RequestTakeFilter = declare(Request, "request.takeFilter",
		"a query starts while its range is already handed to the range deleter")
	RequestYield = declare(Request, "request.yield",
		"a migration, failover or deletion happens between two documents of a query")
	RequestRestore = declare(Request, "request.restore",
		"a query resumes with metadata from before it yielded")
	RequestPreCommit = declare(Request, "request.recheckBeforeCommit",
		"a write that passed its check is not captured before the critical section begins")
	RequestCommit = declare(Request, "request.commit",
		"the write is applied locally, unacknowledged, and may still be rolled back")
	RequestReply = declare(Request, "request.reply",
		"the write is executed, but its client never learns that and retries")
	RequestRetryLookup = declare(Request, "request.retryLookup",
		"a retry looks up its first execution while session history is moving")
	RequestRefreshFetch = declare(Request, "request.refresh.fetch",
		"the catalog is read before the change that made the refresh necessary")
	RequestAwaitTime = declare(Request, "request.awaitClusterTime",
		"a causal read is answered from a state older than its session requires")
	RequestSecondaryFresh = declare(Request, "request.secondary.refreshViaPrimary",
		"a secondary learns of a range before it has the documents, or asks an old primary")
	RequestSecondaryLearn = declare(Request, "request.secondary.applyInvalidation",
		"metadata is installed although the oplog has invalidated it in the meantime")
	RequestSecondaryRead = declare(Request, "request.secondary.read",
		"a secondary keeps reading documents that are being deleted")
	RequestCacheBatch = declare(Request, "request.cacheBatch",
		"the routing table copy for secondaries is half written")
	RequestJoinCluster = declare(Request, "request.joinCluster",
		"a former shard returns with collections that were dropped in the meantime")
	RequestLeaveCluster = declare(Request, "request.leaveCluster",
		"a shard leaves before others could report the outcome of a migration to it")
	RequestRefreshInstall = declare(Request, "request.refresh.install",
		"an older routing table overwrites a newer one, or one cleared on purpose")
)
