package failpoint

// The phases of the recipient of a migration (role R of failpoints 18.2).
var (
	RecipientStart = declare(Recipient, "r.recvStart",
		"a late or doubled start begins a migration that has ended")
	RecipientRegister    = declare(Recipient, "r.register", "two migrations run on one shard")
	RecipientCheckout    = declare(Recipient, "r.sessionCheckout", "a fenced migration begins")
	RecipientWaitOverlap = declare(Recipient, "r.waitOverlap",
		"an older deletion of the range removes what is received")
	RecipientCreate = declare(Recipient, "r.createCollection",
		"the collection is of another incarnation")
	RecipientIndexes = declare(Recipient, "r.createIndexes",
		"the indexes differ from those of other shards")
	RecipientTaskBefore = declare(Recipient, "r.taskInsert.before",
		"documents arrive that nobody would clean up")
	RecipientTaskLocal = declare(Recipient, "r.taskInsert.local",
		"the task is rolled back while documents arrive")
	RecipientTaskMajority = declare(Recipient, "r.taskInsert.majority",
		"the task remains of a migration without documents")
	RecipientNotePending = declare(Recipient, "r.notePending",
		"an earlier copy of the range is taken for cloned documents")
	RecipientStateClone = declare(Recipient, "r.stateClone",
		"the donor has gone before the first batch")
	RecipientFetch = declare(Recipient, "r.fetch",
		"a batch is fetched twice, or its answer lost")
	RecipientInsert  = declare(Recipient, "r.insert", "half a batch remains")
	RecipientOrphans = declare(Recipient, "r.numOrphansInc",
		"the count differs from what was inserted")
	RecipientCloneDone = declare(Recipient, "r.cloneDone",
		"a clone that ended early is taken for complete")
	RecipientCatchUpFetch = declare(Recipient, "r.catchupFetch", "a batch of changes is lost")
	RecipientDeletes      = declare(Recipient, "r.applyDeletes",
		"a document outside the range is deleted")
	RecipientBetween = declare(Recipient, "r.betweenDeletesAndReloads",
		"half a batch of changes is applied")
	RecipientReloads = declare(Recipient, "r.applyReloads",
		"a document outside the range is overwritten")
	RecipientReplWait = declare(Recipient, "r.replWait",
		"the clone runs ahead of replication")
	RecipientMajority = declare(Recipient, "r.majorityBeforeSteady",
		"cloned documents are lost in a failover after the commit")
	RecipientSteady = declare(Recipient, "r.steadyTransition",
		"the recipient calls itself steady too early")
	RecipientSteadyFetch  = declare(Recipient, "r.steadyFetch", "an abort is not seen under load")
	RecipientCommitBefore = declare(Recipient, "r.recvCommit.before",
		"a commit of another migration is obeyed")
	RecipientCommitAfter = declare(Recipient, "r.recvCommit.after",
		"the recipient stops fetching before the last write was captured")
	RecipientFinalFetch = declare(Recipient, "r.finalFetch",
		"the fetch was answered before writes were blocked")
	RecipientFinalFlush = declare(Recipient, "r.finalFlush",
		"the last changes are not majority-committed")
	RecipientSessionFetch = declare(Recipient, "r.sessionFetch",
		"history is fetched twice, or its answer lost")
	RecipientSessionApply = declare(Recipient, "r.sessionApply",
		"history is recorded for a session that has gone on")
	RecipientSessionDrain1 = declare(Recipient, "r.sessionDrained1",
		"the answer was given before the commit was signalled")
	RecipientSessionDrain2 = declare(Recipient, "r.sessionDrained2",
		"history that was written last is missing")
	RecipientSessionJoin = declare(Recipient, "r.sessionJoin",
		"the migration commits without the history")
	RecipientRecoveryDoc = declare(Recipient, "r.recoveryDocInsert",
		"a failover forgets that the critical section is to be held")
	RecipientCritSecAcquire = declare(Recipient, "r.critSecAcquire",
		"the critical section is held in memory only")
	RecipientEntered = declare(Recipient, "r.enteredCritSec",
		"the donor never learns that everything is here")
	RecipientReplyCommit = declare(Recipient, "r.replyToCommit",
		"the reply is lost and the donor aborts")
	RecipientWaitRelease = declare(Recipient, "r.waitRelease",
		"nobody releases the critical section")
	RecipientRecvRelease = declare(Recipient, "r.recvRelease",
		"a release of another migration is obeyed, or repeated after the end")
	RecipientRefresh     = declare(Recipient, "r.refresh", "the refresh does not see the commit")
	RecipientRefreshFail = declare(Recipient, "r.refreshFail",
		"metadata from before the migration stays installed")
	RecipientCritSecRelease = declare(Recipient, "r.critSecRelease", "writes stay blocked forever")
	RecipientCacheFlush     = declare(Recipient, "r.cacheFlush",
		"secondaries read a copy of the table from before the migration")
	RecipientConfigTime = declare(Recipient, "r.durableConfigTime",
		"a later primary refreshes to a table from before the migration")
	RecipientRecoveryDelete = declare(Recipient, "r.recoveryDocDelete",
		"the next primary enters the critical section again")
	RecipientDone  = declare(Recipient, "r.done", "the end is not known to the donor")
	RecipientAbort = declare(Recipient, "r.abort",
		"an abort arrives for another migration or too late")
	RecipientFail = declare(Recipient, "r.fail",
		"the failed migration keeps its place in the registry")
)
