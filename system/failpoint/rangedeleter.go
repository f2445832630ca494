package failpoint

// The phases of range deletion (role G of failpoints 18.2).
var (
	RangeRegister = declare(RangeDeleter, "g.registerTask",
		"a task is registered twice or not at all")
	RangePendingCleared = declare(RangeDeleter, "g.pendingCleared",
		"a task is readied for a range that is owned")
	RangeWaitQueries = declare(RangeDeleter, "g.waitQueries",
		"a query begins after the wait was set up")
	RangeDelay = declare(RangeDeleter, "g.delay",
		"the range comes back while its deletion waits")
	RangeEnqueue = declare(RangeDeleter, "g.enqueue",
		"tasks of overlapping ranges overtake each other")
	RangeMarkProcessing = declare(RangeDeleter, "g.markProcessing", "the mark is rolled back")
	RangeWarn           = declare(RangeDeleter, "g.startRangeDeletion",
		"secondaries read on while the documents below are being deleted")
	RangeCheckDoc = declare(RangeDeleter, "g.checkDocExists",
		"the deletion goes on after its task is gone")
	RangeCheckOwnership = declare(RangeDeleter, "g.checkOwnership", "owned documents are deleted")
	RangeBatchBefore    = declare(RangeDeleter, "g.batch.before",
		"the range is received again between check and deletion")
	RangeBatchAfter = declare(RangeDeleter, "g.batch.after",
		"a batch is deleted and rolled back")
	RangeMajority = declare(RangeDeleter, "g.majority",
		"deletions are not durable when the range is received again")
	RangeRemoveDoc = declare(RangeDeleter, "g.removeDoc",
		"the task is gone and orphans remain")
	RangeStepUp = declare(RangeDeleter, "g.stepUp.resubmit",
		"a pending task is taken up, or a ready one forgotten")
	RangeCleanupOrphaned = declare(RangeDeleter, "g.cleanupOrphaned",
		"an operator is told that a shard is clean while orphans remain")
	RangeDropped = declare(RangeDeleter, "g.dropCollection",
		"in the step that drops the collection: a deletion in it is under way")
	RangeRenamed = declare(RangeDeleter, "g.renameCollection",
		"in the step that renames the collection: a deletion in it goes on under the new name")
	RangeConflict = declare(RangeDeleter, "g.conflictWithIncoming",
		"a range is received while it is being deleted")
)
