package failpoint

// The phases of the donor of a migration, and of the node that completes it (failpoints 18.2).
var (
	DonorRegister = declare(Donor, "donor.register",
		"a second migration starts while one is running")
	DonorJoinExisting = declare(Donor, "donor.joinExisting",
		"a repeated request gets the result of a different migration")
	DonorPreRefresh = declare(Donor, "donor.preRefresh",
		"the migration is planned with an outdated routing table")
	DonorDrainRecovery = declare(Donor, "donor.drainPendingRecovery",
		"an earlier, undecided migration overlaps the new one")
	DonorComputeBound = declare(Donor, "donor.computeBound",
		"the bound is computed from a chunk that is changing")
	DonorPreconditions = declare(Donor, "donor.checkPreconditions",
		"the range is lost, or the collection replaced, right after the check")
	DonorWaitOverlap = declare(Donor, "donor.waitOverlappingRangeDeletion",
		"a range leaves while an earlier copy of it is still being deleted")
	DonorChangelogStart = declare(Donor, "donor.changelogStart",
		"the config server cannot be reached, and the start is half done")
	DonorAttachBefore = declare(Donor, "donor.attachCloner.before",
		"a write before capture starts is neither captured nor cloned")
	DonorAttachAfter = declare(Donor, "donor.attachCloner.after",
		"capture stays active after a migration that fails here")
	DonorRecordBefore = declare(Donor, "donor.coordinatorInsert.before",
		"no durable record of the migration exists yet")
	DonorRecordLocal = declare(Donor, "donor.coordinatorInsert.afterLocal",
		"the record of the migration is rolled back")
	DonorRecordMajority = declare(Donor, "donor.coordinatorInsert.afterMajority",
		"the record exists without a range deletion task")
	DonorTaskBefore = declare(Donor, "donor.rangeDeletionInsert.before",
		"a committed migration would leave orphans forever")
	DonorTaskLocal = declare(Donor, "donor.rangeDeletionInsert.afterLocal",
		"the task is rolled back while the migration continues")
	DonorTaskMajority = declare(Donor, "donor.rangeDeletionInsert.afterMajority",
		"a pending task remains of a migration that never started")
	DonorSessionInit = declare(Donor, "donor.sessionSourceInit",
		"session history written while the source is set up is missed")
	DonorScan = declare(Donor, "donor.scanRecordIds",
		"a document written during the scan is neither scanned nor captured")
	DonorSendStart = declare(Donor, "donor.sendRecvStart",
		"the start is lost, duplicated or arrives after the end of the migration")
	DonorAfterStart = declare(Donor, "donor.afterRecvStart",
		"the recipient works for a donor that has failed")
	DonorFirstChunk = declare(Donor, "donor.firstChunkCheck",
		"what the recipient owns changes right after the check")
	DonorStatusPoll = declare(Donor, "donor.statusPoll",
		"the status is of another migration, or older than a failure")
	DonorMemoryCheck = declare(Donor, "donor.memoryCheck",
		"writes arrive faster than they are transferred")
	DonorBeforeCritSec = declare(Donor, "donor.beforeCriticalSection",
		"the recipient falls behind again before writes are blocked")
	DonorLockAcquire = declare(Donor, "donor.lockAcquire",
		"writes that passed their version check are still in progress")
	DonorWritesBlocked = declare(Donor, "donor.criticalSectionWritesBlocked",
		"writes stay blocked if the donor stops here")
	DonorSignal = declare(Donor, "donor.secondarySignal",
		"secondaries keep reading with metadata from before the migration")
	DonorMinOpTimeInc = declare(Donor, "donor.minOpTimeIncrement",
		"a successor does not learn that the config server may have newer metadata")
	DonorSendCommit = declare(Donor, "donor.sendRecvCommit",
		"the recipient enters its critical section without the donor knowing")
	DonorAfterCommit = declare(Donor, "donor.afterRecvCommit",
		"the donor gives up although the recipient holds everything")
	DonorQueuesDrained = declare(Donor, "donor.queuesDrained",
		"a captured write was never fetched")
	DonorBlockReads = declare(Donor, "donor.blockReads",
		"a read on the donor misses a write on the recipient")
	DonorBuildCommit = declare(Donor, "donor.buildCommit",
		"the commit is prepared by a deposed primary")
	DonorSendConfig = declare(Donor, "donor.sendConfigCommit",
		"the commit arrives after a successor has decided otherwise")
	DonorConfigReply = declare(Donor, "donor.configCommitReply",
		"the range has moved, and the donor does not know")
	DonorValidate = declare(Donor, "donor.validateCommit",
		"a commit whose reply was lost is treated as refused")
	DonorLaunchRelease = declare(Donor, "donor.launchRecipientRelease",
		"the recipient stays in its critical section")
	DonorPostRefresh = declare(Donor, "donor.postCommitRefresh",
		"the donor serves a range that it has given away")
	DonorCacheFlush = declare(Donor, "donor.cacheFlush",
		"secondaries read a copy of the routing table from before the migration")
	DonorChangeStream = declare(Donor, "donor.changeStreamNoop",
		"the event for a shard's first or last chunk is missing or duplicated")
	DonorSetDecision = declare(Donor, "donor.setDecision",
		"the known outcome is forgotten")
	DonorLeaveCritSec = declare(Donor, "donor.leaveCriticalSection",
		"requests pass with metadata from before the migration")
	DonorMinOpTimeDec = declare(Donor, "donor.minOpTimeDecrement",
		"every later primary asks the config server, or none does")
	DonorRefreshTheirs = declare(Donor, "donor.refreshRecipient",
		"the recipient does not know what it owns until a request arrives")
	DonorCancelClone = declare(Donor, "donor.cancelClone",
		"the recipient continues an aborted migration")
	DonorConfigTime = declare(Donor, "donor.durableConfigTime",
		"a later primary refreshes to a routing table from before the migration")
	DonorPersistBefore = declare(Donor, "donor.persistDecision.before",
		"the outcome is not yet durable anywhere")
	DonorPersistAfter = declare(Donor, "donor.persistDecision.after",
		"the decision is durable, and none of it has been carried out")
	DonorWaitRelease = declare(Donor, "donor.waitRecipientRelease",
		"the recipient cannot be reached, and the migration never ends")
	DonorBumpTxn = declare(Donor, "donor.advanceTxnNumber",
		"messages of the migration take effect after its end")
	DonorFetchOrphans = declare(Donor, "donor.fetchOrphanCount",
		"orphans are counted twice")
	DonorDeleteTheirTask = declare(Donor, "donor.deleteRecipientTask",
		"the recipient deletes the range that it now owns")
	DonorQueryDrain = declare(Donor, "donor.queryDrainFuture",
		"documents are deleted while a query still needs them")
	DonorRegisterTask = declare(Donor, "donor.registerTask",
		"the task is registered, and its record lost")
	DonorMarkReady = declare(Donor, "donor.markReady",
		"the task of a newer migration of the same range is marked ready")
	DonorForgetBefore = declare(Donor, "donor.forget.before",
		"the completed migration is completed again")
	DonorForgetAfter = declare(Donor, "donor.forget.after",
		"the removal of the record is rolled back")
	DonorChangelogCommit = declare(Donor, "donor.changelogCommit",
		"a successful migration is reported as failed")
	DonorWaitForDelete = declare(Donor, "donor.waitForDelete",
		"the caller waits for a deletion that nobody runs")
	DonorAbortPersist = declare(Donor, "donor.abortPath.persist",
		"an aborted migration is decided again")
	DonorAbortLocalTask = declare(Donor, "donor.abortPath.deleteLocalTask",
		"the donor deletes the range that it keeps")
	DonorAbortBumpTxn = declare(Donor, "donor.abortPath.advanceTxnNumber",
		"the recipient writes after the range was cleaned up")
	DonorAbortReady = declare(Donor, "donor.abortPath.readyRecipientTask",
		"the partial clone stays forever")
	DonorJoinMigrations = declare(Donor, "donor.joinMigrations",
		"a DDL operation assumes that no migration is running")
	DonorServeClone = declare(Donor, "donor.serve.migrateClone",
		"a batch is lost, or sent twice")
	DonorServeSplice = declare(Donor, "donor.serve.transferMods.splice",
		"the two lists are taken at different times")
	DonorServeRead = declare(Donor, "donor.serve.transferMods.read",
		"a document is read from before the lists were taken")
	DonorServePushback = declare(Donor, "donor.serve.transferMods.pushback",
		"changes that did not fit are forgotten or overtaken")
	DonorServeSessions = declare(Donor, "donor.serve.sessionMods",
		"session history is sent that a failover rolls back")
)
