package failpoint

// The phases of the recipient of a migration (failpoints 18.2).
var (
	RecipientStart = declare(Recipient, "recipient.recvStart",
		"a late or duplicated start begins a migration that has ended")
	RecipientRegister = declare(Recipient, "recipient.register",
		"two migrations run on one shard")
	RecipientCheckout = declare(Recipient, "recipient.sessionCheckout",
		"a fenced migration starts")
	RecipientWaitOverlap = declare(Recipient, "recipient.waitOverlap",
		"an older deletion of the range removes received documents")
	RecipientCreate = declare(Recipient, "recipient.createCollection",
		"the collection belongs to a different incarnation")
	RecipientIndexes = declare(Recipient, "recipient.createIndexes",
		"the indexes differ from those of other shards")
	RecipientTaskBefore = declare(Recipient, "recipient.taskInsert.before",
		"documents arrive that no task would clean up")
	RecipientTaskLocal = declare(Recipient, "recipient.taskInsert.afterLocal",
		"the task is rolled back while documents arrive")
	RecipientTaskMajority = declare(Recipient, "recipient.taskInsert.afterMajority",
		"the task remains of a migration without documents")
	RecipientNotePending = declare(Recipient, "recipient.notePending",
		"an earlier copy of the range is mistaken for cloned documents")
	RecipientStateClone = declare(Recipient, "recipient.beginClone",
		"the donor has failed before the first batch")
	RecipientFetch = declare(Recipient, "recipient.fetch",
		"a batch is fetched twice, or its reply lost")
	RecipientInsert = declare(Recipient, "recipient.insert",
		"half a batch remains")
	RecipientOrphans = declare(Recipient, "recipient.incrementOrphanCount",
		"the count differs from what was inserted")
	RecipientCloneDone = declare(Recipient, "recipient.cloneDone",
		"a clone that ended early is treated as complete")
	RecipientCatchUpFetch = declare(Recipient, "recipient.catchUpFetch",
		"a batch of changes is lost")
	RecipientDeletes = declare(Recipient, "recipient.applyDeletes",
		"a document outside the range is deleted")
	RecipientBetween = declare(Recipient, "recipient.betweenDeletesAndReloads",
		"half a batch of changes is applied")
	RecipientReloads = declare(Recipient, "recipient.applyReloads",
		"a document outside the range is overwritten")
	RecipientReplWait = declare(Recipient, "recipient.replicationWait",
		"cloning runs ahead of replication")
	RecipientMajority = declare(Recipient, "recipient.majorityBeforeSteady",
		"cloned documents are lost in a failover after the commit")
	RecipientSteady = declare(Recipient, "recipient.steadyTransition",
		"the recipient reports the steady state too early")
	RecipientSteadyFetch = declare(Recipient, "recipient.steadyFetch",
		"an abort is not noticed under load")
	RecipientCommitBefore = declare(Recipient, "recipient.recvCommit.before",
		"the commit of another migration is accepted")
	RecipientCommitAfter = declare(Recipient, "recipient.recvCommit.after",
		"the recipient stops fetching before the last write was captured")
	RecipientFinalFetch = declare(Recipient, "recipient.finalFetch",
		"the fetch was answered before writes were blocked")
	RecipientFinalFlush = declare(Recipient, "recipient.finalFlush",
		"the last changes are not majority-committed")
	RecipientSessionFetch = declare(Recipient, "recipient.sessionFetch",
		"session history is fetched twice, or its reply lost")
	RecipientSessionApply = declare(Recipient, "recipient.sessionApply",
		"history is recorded for a session that has advanced")
	RecipientSessionDrain1 = declare(Recipient, "recipient.sessionDrained.first",
		"the reply was sent before the commit was signalled")
	RecipientSessionDrain2 = declare(Recipient, "recipient.sessionDrained.second",
		"the session history written last is missing")
	RecipientSessionJoin = declare(Recipient, "recipient.sessionJoin",
		"the migration commits without the session history")
	RecipientRecoveryDoc = declare(Recipient, "recipient.recoveryDocInsert",
		"after a failover nobody knows that the critical section must be held")
	RecipientCritSecAcquire = declare(Recipient, "recipient.criticalSectionAcquire",
		"the critical section is held in memory only")
	RecipientEntered = declare(Recipient, "recipient.enteredCriticalSection",
		"the donor never learns that the recipient has everything")
	RecipientReplyCommit = declare(Recipient, "recipient.replyToCommit",
		"the reply is lost, and the donor aborts")
	RecipientWaitRelease = declare(Recipient, "recipient.waitRelease",
		"nobody releases the critical section")
	RecipientRecvRelease = declare(Recipient, "recipient.recvRelease",
		"the release of another migration is accepted, or a release is repeated after the end")
	RecipientRefresh = declare(Recipient, "recipient.refresh",
		"the refresh does not see the commit")
	RecipientRefreshFail = declare(Recipient, "recipient.refreshFailed",
		"metadata from before the migration stays installed")
	RecipientCritSecRelease = declare(Recipient, "recipient.criticalSectionRelease",
		"writes stay blocked forever")
	RecipientCacheFlush = declare(Recipient, "recipient.cacheFlush",
		"secondaries read a copy of the routing table from before the migration")
	RecipientConfigTime = declare(Recipient, "recipient.durableConfigTime",
		"a later primary refreshes to a routing table from before the migration")
	RecipientRecoveryDelete = declare(Recipient, "recipient.recoveryDocDelete",
		"the next primary enters the critical section again")
	RecipientDone = declare(Recipient, "recipient.done",
		"the donor does not know that the recipient is done")
	RecipientAbort = declare(Recipient, "recipient.abort",
		"an abort arrives for another migration, or too late")
	RecipientFail = declare(Recipient, "recipient.fail",
		"the failed migration keeps its place in the registry")
)
