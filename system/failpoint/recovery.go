package failpoint

// The phases of recovery after a failover or an unknown outcome (role V of failpoints 18.2).
var (
	RecoveryStepUp = declare(Recovery, "v.stepUpBegin",
		"requests are served before recovery has looked")
	RecoveryBarrier = declare(Recovery, "v.majorityBarrier",
		"a decision is made from records that are rolled back")
	RecoveryList = declare(Recovery, "v.listDocs",
		"one of several unfinished migrations is overlooked")
	RecoveryClear = declare(Recovery, "v.clearMetadata",
		"requests pass with metadata of an undecided migration")
	RecoveryEnsureRequest = declare(Recovery, "v.ensureVersion.request",
		"the late commit of the old primary is not fenced")
	RecoveryEnsureReply = declare(Recovery, "v.ensureVersion.reply",
		"fencing is done and not known")
	RecoveryRefreshBefore = declare(Recovery, "v.refresh.request",
		"the table is read before the fence")
	RecoveryRefreshAfter = declare(Recovery, "v.refresh.reply", "the table is older than the fence")
	RecoveryDecide       = declare(Recovery, "v.decide",
		"the outcome is concluded from where the range is by now")
	RecoveryConfigWrite = declare(Recovery, "v.configWrite",
		"the catalogue is read as it was before the old primary's commit")
	RecoveryDropDetected = declare(Recovery, "v.dropDetected",
		"tasks of a dropped collection remain")
	RecoveryComplete = declare(Recovery, "v.complete",
		"a decided migration is completed twice at once")
	RecoveryRegister = declare(Recovery, "v.recipientStepUp.register",
		"a new migration enters before the old one is recovered")
	RecoveryCritSec = declare(Recovery, "v.recipientStepUp.critSec",
		"writes pass before the critical section is held again")
)
