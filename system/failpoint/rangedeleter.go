package failpoint

// The phases of range deletion (failpoints 18.2).
var (
	RangeRegister = declare(RangeDeleter, "rangeDeleter.registerTask",
		"a task is registered twice, or not at all")
	RangePendingCleared = declare(RangeDeleter, "rangeDeleter.pendingCleared",
		"a task is marked ready for a range that is owned")
	RangeWaitQueries = declare(RangeDeleter, "rangeDeleter.waitQueries",
		"a query starts after the wait was set up")
	RangeDelay = declare(RangeDeleter, "rangeDeleter.delay",
		"the range comes back while its deletion is delayed")
	RangeEnqueue = declare(RangeDeleter, "rangeDeleter.enqueue",
		"tasks of overlapping ranges run in the wrong order")
	RangeMarkProcessing = declare(RangeDeleter, "rangeDeleter.markProcessing",
		"the mark is rolled back")
	RangeWarn = declare(RangeDeleter, "rangeDeleter.startRangeDeletion",
		"secondaries keep reading documents that are being deleted")
	RangeCheckDoc = declare(RangeDeleter, "rangeDeleter.checkTaskExists",
		"the deletion continues after its task was removed")
	RangeCheckOwnership = declare(RangeDeleter, "rangeDeleter.checkOwnership",
		"owned documents are deleted")
	RangeBatchBefore = declare(RangeDeleter, "rangeDeleter.batch.before",
		"the range is received again between check and deletion")
	RangeBatchAfter = declare(RangeDeleter, "rangeDeleter.batch.after",
		"a deleted batch is rolled back")
	RangeMajority = declare(RangeDeleter, "rangeDeleter.majority",
		"deletions are not durable when the range is received again")
	RangeRemoveDoc = declare(RangeDeleter, "rangeDeleter.removeTask",
		"the task is removed while orphans remain")
	RangeStepUp = declare(RangeDeleter, "rangeDeleter.stepUp.resubmit",
		"a pending task is resumed, or a ready one forgotten")
	RangeCleanupOrphaned = declare(RangeDeleter, "rangeDeleter.cleanupOrphaned",
		"cleanupOrphaned reports a clean shard while orphans remain")
	RangeDropped = declare(RangeDeleter, "rangeDeleter.dropCollection",
		"the collection is dropped while a range deletion in it is running")
	RangeRenamed = declare(RangeDeleter, "rangeDeleter.renameCollection",
		"the collection is renamed while a range deletion in it is running")
	RangeConflict = declare(RangeDeleter, "rangeDeleter.conflictWithIncoming",
		"a range is received while it is being deleted")
)
