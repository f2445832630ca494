package failpoint

// Missing is a phase that real systems have and this one does not.
type Missing struct{ Name, Why string }

// Absent lists the phases of the catalogue of failpoints (failpoints 18.2) without a site here, and
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
	noTransactions = "there are no multi-document transactions, and so none that are prepared"
	only42         = "a step of the 4.2 protocol, which 5.0 has done away with"
	notAPhase      = "no phase but a meeting of two: faults at the sites of both bring it about"
	inOneStep      = "part of one log entry with the step before: nothing can come between"
	pureChoice     = "what is to move is computed at once, between b.stats and b.enqueue"
)

var absent = []Missing{
	{"d.prepareConflictBarrier", noTransactions},
	{"d.forget.rollback", "a rollback of the removal is a failover at d.forget.after"},
	{"d.serve.transferMods.deferred", noTransactions},
	{
		"d.opCapture.insert",
		"capture is told inside the commit of the write; q.preCommitRecheck and q.commit stand " +
			"on either side",
	},
	{"d.opCapture.update", "as d.opCapture.insert"},
	{"d.opCapture.delete", "as d.opCapture.insert"},
	{"d.opCapture.txnCommit", noTransactions},
	{"d.opCapture.preparedCommit", noTransactions},
	{"c.stepDown", notAPhase},
	{"b.stepDown", notAPhase},
	{"b.selectDrain", pureChoice},
	{"b.selectZone", pureChoice},
	{"b.selectLoad", pureChoice},
	{
		"s.tailRebalance",
		"the last points are moved at once, between s.autoSplitScan and s.pickPoints",
	},
	{"m.txn.firstStmt", noTransactions},
	{"m.txn.addParticipant", noTransactions},
	{"m.txn.pickConflictTime", noTransactions},
	{"m.txn.staleRetry", noTransactions},
	{"m.txn.commitSingle", noTransactions},
	{"m.txn.commit2PC", noTransactions},
	{"m.broadcastMulti", "every write fixes the shard key, so none goes to all shards"},
	{"g.writeConflict", "between two waits a task runs alone on its node: writes never conflict"},
	{"g.updateNumOrphans", inOneStep},
	{"g.stepDown", notAPhase},
	{"v.secondStepDownDuringRecovery", notAPhase},
	{"v.newMigrationDuringRecovery", notAPhase},
	{"v.configUnavailable", notAPhase},
	{"v.rollback", notAPhase},
}
