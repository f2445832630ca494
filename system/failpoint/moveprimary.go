package failpoint

// The phases of a movePrimary (failpoints 18.2).
var (
	MovePrimaryStart = declare(MovePrimary, "movePrimary.start",
		"two moves of one database run at once")
	MovePrimaryAssert = declare(MovePrimary, "movePrimary.assertNoOrphans",
		"what an earlier move left on the recipient is treated as data")
	MovePrimaryPersist = declare(MovePrimary, "movePrimary.persistCollections",
		"the new primary after a failover does not know what to clean up")
	MovePrimaryClone = declare(MovePrimary, "movePrimary.clone",
		"cloning continues after its move was aborted")
	MovePrimaryCloneBatch = declare(MovePrimary, "movePrimary.clone.batch",
		"a document that was already cloned changes")
	MovePrimaryChecked = declare(MovePrimary, "movePrimary.verifyClone",
		"a collection was not cloned, and is dropped later")
	MovePrimaryBlockWrites = declare(MovePrimary, "movePrimary.blockWrites",
		"a write between the clone and the critical section is lost")
	MovePrimarySessions = declare(MovePrimary, "movePrimary.sessions",
		"a write that is retried after the move is executed twice")
	MovePrimaryBlockReads = declare(MovePrimary, "movePrimary.blockReads",
		"a read on the old primary misses a write on the new one")
	MovePrimaryCommitRequest = declare(MovePrimary, "movePrimary.commitConfig.request",
		"a late commit takes the database from a different primary")
	MovePrimaryCommitReply = declare(MovePrimary, "movePrimary.commitConfig.reply",
		"the database has moved, and the old primary does not know")
	MovePrimaryVerify = declare(MovePrimary, "movePrimary.verifyCommit",
		"the outcome is read from before the commit")
	MovePrimaryConfigTime = declare(MovePrimary, "movePrimary.durableConfigTime",
		"a later primary refreshes to a version from before the move")
	MovePrimaryClear = declare(MovePrimary, "movePrimary.clearMetadata",
		"the old primary serves what it has given away")
	MovePrimaryUnblock = declare(MovePrimary, "movePrimary.unblock",
		"requests wait forever for a move that has ended")
	MovePrimaryFence = declare(MovePrimary, "movePrimary.fence",
		"session history of the move is recorded after its end")
	MovePrimaryClean = declare(MovePrimary, "movePrimary.cleanUp",
		"a recreated collection is dropped")
	MovePrimaryForget = declare(MovePrimary, "movePrimary.forget",
		"a finished move is cleaned up again after the data has come back")
	MovePrimaryResume = declare(MovePrimary, "movePrimary.resume",
		"a new primary resumes in a different phase than its predecessor was in")
	MovePrimaryCleanFailed = declare(MovePrimary, "movePrimary.cleanUpFailedClone",
		"the recipient's copy stays, or live data is dropped instead")
)
