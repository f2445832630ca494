package failpoint

// The phases of the donor of a migration, and of the primary that completes it (role D of
// failpoints 18.2).
var (
	DonorRegister     = declare(Donor, "d.register", "a second migration begins while one runs")
	DonorJoinExisting = declare(Donor, "d.joinExisting",
		"a repeated request is answered for a migration that ended otherwise")
	DonorPreRefresh = declare(Donor, "d.preRefresh",
		"the migration is planned with an outdated table")
	DonorDrainRecovery = declare(Donor, "d.drainPendingRecovery",
		"an undecided earlier migration meets the new one")
	DonorComputeBound = declare(Donor, "d.computeBound",
		"the bound is computed from a chunk that changes")
	DonorPreconditions = declare(Donor, "d.checkPreconditions",
		"the range is lost or the collection replaced right after the check")
	DonorWaitOverlap = declare(Donor, "d.waitOverlappingRangeDeletion",
		"a range leaves while its earlier copy is still being cleaned up")
	DonorChangelogStart = declare(Donor, "d.changelogStart",
		"the config server cannot be told and the start is half done")
	DonorAttachBefore = declare(Donor, "d.attachCloner.before",
		"a write before the capture begins is in neither list nor clone")
	DonorAttachAfter = declare(Donor, "d.attachCloner.after",
		"the capture outlives a migration that fails here")
	DonorRecordBefore = declare(Donor, "d.coordinatorInsert.before",
		"nothing durable tells of the migration yet")
	DonorRecordLocal = declare(Donor, "d.coordinatorInsert.afterLocal",
		"the record of the migration is rolled back")
	DonorRecordMajority = declare(Donor, "d.coordinatorInsert.afterMajority",
		"the record exists without a range deletion task")
	DonorTaskBefore = declare(Donor, "d.rangeDeletionInsert.before",
		"a committed migration would leave orphans forever")
	DonorTaskLocal = declare(Donor, "d.rangeDeletionInsert.afterLocal",
		"the task is rolled back while the migration goes on")
	DonorTaskMajority = declare(Donor, "d.rangeDeletionInsert.afterMajority",
		"a pending task remains of a migration that never started")
	DonorSessionInit = declare(Donor, "d.sessionSourceInit",
		"history written while the source is set up is missed")
	DonorScan = declare(Donor, "d.scanRecordIds",
		"a document that is written during the scan is in neither scan nor capture")
	DonorSendStart = declare(Donor, "d.sendRecvStart",
		"the start is lost, doubled or arrives after the migration has ended")
	DonorAfterStart = declare(Donor, "d.afterRecvStart",
		"the recipient works for a donor that has gone")
	DonorFirstChunk = declare(Donor, "d.firstChunkCheck",
		"what the recipient owns changes right after it was looked at")
	DonorStatusPoll = declare(Donor, "d.statusPoll",
		"the answer is of another migration, or older than a failure")
	DonorMemoryCheck = declare(Donor, "d.memoryCheck",
		"writes come faster than they are handed over")
	DonorBeforeCritSec = declare(Donor, "d.beforeCritSec",
		"the recipient falls behind again before writes are blocked")
	DonorLockAcquire = declare(Donor, "d.lockAcquire",
		"writes that passed their version check are still under way")
	DonorWritesBlocked = declare(Donor, "d.critSecWritesBlocked",
		"writes stay blocked when the donor stops here")
	DonorSignal = declare(Donor, "d.secondarySignal",
		"secondaries go on reading with metadata from before the migration")
	DonorMinOpTimeInc = declare(Donor, "d.minOpTimeInc",
		"a successor does not learn that the config server may know more than it")
	DonorSendCommit = declare(Donor, "d.sendRecvCommit",
		"the recipient enters its critical section unknown to the donor")
	DonorAfterCommit = declare(Donor, "d.afterRecvCommit",
		"the donor gives up though the recipient holds everything")
	DonorQueuesDrained = declare(Donor, "d.queuesDrained", "a captured write was never fetched")
	DonorBlockReads    = declare(Donor, "d.blockReads",
		"a read on the donor misses a write on the recipient")
	DonorBuildCommit = declare(Donor, "d.buildCommit",
		"the commit is prepared by a primary that has been deposed")
	DonorSendConfig = declare(Donor, "d.sendConfigCommit",
		"the commit arrives after a successor has decided otherwise")
	DonorConfigReply = declare(Donor, "d.configCommitReply",
		"the range has moved and the donor does not know")
	DonorValidate = declare(Donor, "d.validateCommit",
		"a commit whose answer was lost is taken for refused")
	DonorLaunchRelease = declare(Donor, "d.launchRecipientRelease",
		"the recipient stays in its critical section")
	DonorPostRefresh = declare(Donor, "d.postCommitRefresh",
		"the donor serves the range it has given away")
	DonorCacheFlush = declare(Donor, "d.cacheFlush",
		"secondaries read a copy of the table from before the migration")
	DonorChangeStream = declare(Donor, "d.changeStreamNoop",
		"the announcement of a first or last chunk is missing or doubled")
	DonorSetDecision  = declare(Donor, "d.setDecision", "the known outcome is forgotten")
	DonorLeaveCritSec = declare(Donor, "d.leaveCritSec",
		"requests pass with metadata from before the migration")
	DonorMinOpTimeDec = declare(Donor, "d.minOpTimeDec",
		"every later primary asks the config server, or none does")
	DonorRefreshTheirs = declare(Donor, "d.refreshRecipient",
		"the recipient does not know what it owns until somebody asks for it")
	DonorCancelClone = declare(Donor, "d.cancelClone",
		"the recipient goes on with an aborted migration")
	DonorConfigTime = declare(Donor, "d.durableConfigTime",
		"a later primary refreshes to a table from before the migration")
	DonorPersistBefore = declare(Donor, "d.persistDecision.before",
		"the outcome is known to nobody durably")
	DonorPersistAfter = declare(Donor, "d.persistDecision.after",
		"the decision is durable and nothing of it is done")
	DonorWaitRelease = declare(Donor, "d.waitRecipientRelease",
		"the recipient cannot be reached and the migration never ends")
	DonorBumpTxn = declare(Donor, "d.bumpTxn",
		"messages of the migration act after its end")
	DonorFetchOrphans    = declare(Donor, "d.fetchNumOrphans", "orphans are counted twice")
	DonorDeleteTheirTask = declare(Donor, "d.deleteRecipientTask",
		"the recipient deletes the range it now owns")
	DonorQueryDrain = declare(Donor, "d.queryDrainFuture",
		"documents are deleted below a query that needs them")
	DonorRegisterTask = declare(Donor, "d.registerTask",
		"the task is registered and its record lost")
	DonorMarkReady = declare(Donor, "d.markReady",
		"the task of a newer migration on the same range is readied")
	DonorForgetBefore = declare(Donor, "d.forget.before",
		"the completed migration is completed again")
	DonorForgetAfter = declare(Donor, "d.forget.after",
		"the removal of the record is rolled back")
	DonorChangelogCommit = declare(Donor, "d.changelogCommit",
		"a migration that succeeded is reported as failed")
	DonorWaitForDelete = declare(Donor, "d.waitForDelete",
		"the caller waits for a deletion that nobody does")
	DonorAbortPersist = declare(Donor, "d.abortPath.persist",
		"an aborted migration is decided again")
	DonorAbortLocalTask = declare(Donor, "d.abortPath.deleteLocalTask",
		"the donor deletes the range it keeps")
	DonorAbortBumpTxn = declare(Donor, "d.abortPath.bumpTxn",
		"the recipient writes after the range was cleaned up")
	DonorAbortReady = declare(Donor, "d.abortPath.readyRecipientTask",
		"the partial clone stays forever")
	DonorJoinMigrations = declare(Donor, "d.joinMigrations",
		"a change of the collection believes that no migration runs")
	DonorServeClone = declare(Donor, "d.serve.migrateClone",
		"a batch is lost, or handed out twice")
	DonorServeSplice = declare(Donor, "d.serve.transferMods.splice",
		"the two lists are taken at different times")
	DonorServeRead = declare(Donor, "d.serve.transferMods.read",
		"a document is read from before the lists were taken")
	DonorServePushback = declare(Donor, "d.serve.transferMods.pushback",
		"what did not fit is forgotten or overtaken")
	DonorServeSessions = declare(Donor, "d.serve.sessionMods",
		"history is handed over that a failover takes back")
)
