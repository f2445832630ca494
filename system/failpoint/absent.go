package failpoint

// Missing is a phase that real systems have and this one does not.
type Missing struct{ Name, Why string }

// Absent lists the phases of the catalog of failpoints (failpoints 18.2) without a site here, and
// says of each why.
func Absent() []Missing {
	var all []Missing
	for _, m := range absent {
		if _, here := Parse(m.Name); !here {
			all = append(all, m)
		}
	}
	return all
}

const (
	noTransactions = "multi-document transactions are not modelled"
	notAPhase      = "not a phase of its own: faults at the sites of both roles produce it"
	inOneStep      = "part of one log entry with the step before: nothing can happen in between"
	pureChoice     = "chunks are chosen in one step between balancer.stats and balancer.enqueue"
)

var absent = []Missing{
	{"donor.prepareConflictBarrier", noTransactions},
	{"donor.forget.rollback", "a rollback of the removal is a failover at donor.forget.after"},
	{"donor.serve.transferMods.deferred", noTransactions},
	{
		"donor.opCapture.insert",
		"writes are captured inside their commit, between request.recheckBeforeCommit and " +
			"request.commit",
	},
	{"donor.opCapture.update", "like donor.opCapture.insert"},
	{"donor.opCapture.delete", "like donor.opCapture.insert"},
	{"donor.opCapture.txnCommit", noTransactions},
	{"donor.opCapture.preparedCommit", noTransactions},
	{"config.stepDown", notAPhase},
	{"balancer.stepDown", notAPhase},
	{"balancer.selectDrain", pureChoice},
	{"balancer.selectZone", pureChoice},
	{"balancer.selectLoad", pureChoice},
	{
		"split.tailRebalance",
		"the last points are moved in one step between split.autoSplitScan and split.pickPoints",
	},
	{"router.txn.firstStmt", noTransactions},
	{"router.txn.addParticipant", noTransactions},
	{"router.txn.pickConflictTime", noTransactions},
	{"router.txn.staleRetry", noTransactions},
	{"router.txn.commitSingle", noTransactions},
	{"router.txn.commit2PC", noTransactions},
	{"router.broadcastMulti", "every write names its shard key, so none goes to all shards"},
	{
		"rangeDeleter.writeConflict",
		"a task runs alone on its node between two waits: writes never conflict",
	},
	{"rangeDeleter.updateOrphanCount", inOneStep},
	{"rangeDeleter.stepDown", notAPhase},
	{"recovery.secondStepDownDuringRecovery", notAPhase},
	{"recovery.newMigrationDuringRecovery", notAPhase},
	{"recovery.configUnavailable", notAPhase},
	{"recovery.rollback", notAPhase},
}
