package failpoint

// The sites of a replica set member. An error returned at one of them means that the step is tried
// again, but for the journal's: a member whose disk fails for good has crashed.
var (
	ReplicaBeforeSync = declare(Replica, "replica.journal.beforeSync",
		"entries, term or vote are written but not durable: a crash loses or tears them")
	ReplicaAfterSync = declare(Replica, "replica.journal.afterSync",
		"entries, term or vote are durable but not acknowledged: they reappear after a crash")
	ReplicaStepUpBegin = declare(Replica, "replica.stepUp.begin",
		"the new leader has not recovered yet, and the old one may still act as primary")
	ReplicaStepUpBeforeWritable = declare(Replica, "replica.stepUp.beforeWritable",
		"recovery is done, but a loss of primacy here wastes all of it")
	ReplicaBetweenSnapshotAndLog = declare(Replica, "replica.snapshot.beforeLog",
		"the new snapshot is durable, but the log still starts before it or contradicts it")
)
