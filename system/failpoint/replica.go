package failpoint

// The sites of a replica set member. An error returned at one of them means that the step is tried
// again, but for the journal's: a member whose disk fails for good has crashed.
var (
	ReplicaBeforeSync = declare(Replica, "m.journal.beforeSync",
		"entries, term or vote are written but not durable: a crash loses or tears them, and "+
			"nobody was told of them")
	ReplicaAfterSync = declare(Replica, "m.journal.afterSync",
		"entries, term or vote are durable but not acknowledged: after a crash they come back "+
			"unasked for")
	ReplicaStepUpBegin = declare(Replica, "m.stepUp.begin",
		"the member leads but recovers nothing yet: the old primary may still believe that it is "+
			"one")
	ReplicaStepUpBeforeWritable = declare(Replica, "m.stepUp.beforeWritable",
		"recovery is done but no user write is accepted yet: losing the tenure here wastes all "+
			"of it")
	ReplicaBetweenSnapshotAndLog = declare(Replica, "m.snapshot.beforeLog",
		"the new snapshot is durable, the log still starts before it or contradicts it: recovery "+
			"must join the two")
)
