package failpoint

// The phases of recovery after a failover or an unknown outcome (failpoints 18.2).
var (
	RecoveryStepUp = declare(Recovery, "recovery.stepUpBegin",
		"requests are served before recovery has looked for migrations")
	RecoveryBarrier = declare(Recovery, "recovery.majorityBarrier",
		"a decision is based on records that are rolled back")
	RecoveryList = declare(Recovery, "recovery.listMigrations",
		"one of several unfinished migrations is overlooked")
	RecoveryClear = declare(Recovery, "recovery.clearMetadata",
		"requests pass with metadata of an undecided migration")
	RecoveryEnsureRequest = declare(Recovery, "recovery.ensureVersion.request",
		"the late commit of the old primary is not fenced")
	RecoveryEnsureReply = declare(Recovery, "recovery.ensureVersion.reply",
		"the commit is fenced, and the new primary does not know")
	RecoveryRefreshBefore = declare(Recovery, "recovery.refresh.request",
		"the routing table is read before the fence")
	RecoveryRefreshAfter = declare(Recovery, "recovery.refresh.reply",
		"the routing table is older than the fence")
	RecoveryDecide = declare(Recovery, "recovery.decide",
		"the outcome is derived from where the range is now")
	RecoveryConfigWrite = declare(Recovery, "recovery.configWrite",
		"the catalog is read from before the old primary's commit")
	RecoveryDropDetected = declare(Recovery, "recovery.dropDetected",
		"tasks of a dropped collection remain")
	RecoveryComplete = declare(Recovery, "recovery.complete",
		"a decided migration is completed twice at the same time")
	RecoveryRegister = declare(Recovery, "recovery.recipientStepUp.register",
		"a new migration starts before the old one is recovered")
	RecoveryCritSec = declare(Recovery, "recovery.recipientStepUp.criticalSection",
		"writes pass before the critical section is held again")
)
