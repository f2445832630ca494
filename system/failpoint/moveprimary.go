package failpoint

// The phases of a movePrimary (role P of failpoints 18.2).
var (
	MovePrimaryStart = declare(MovePrimary, "p.start",
		"two moves of one database run at once")
	MovePrimaryAssert = declare(MovePrimary, "p.assertNoOrphans",
		"what an earlier move left on the recipient is taken for data")
	MovePrimaryPersist = declare(MovePrimary, "p.persistCollections",
		"nobody knows what to clean up after a failover")
	MovePrimaryClone = declare(MovePrimary, "p.clone",
		"a copy goes on after its move was given up")
	MovePrimaryCloneBatch = declare(MovePrimary, "p.clone.batch",
		"a document changes behind the copy")
	MovePrimaryChecked = declare(MovePrimary, "p.checkCloned",
		"a collection was not copied and is dropped later")
	MovePrimaryBlockWrites = declare(MovePrimary, "p.blockWrites",
		"a write between the copy and the critical section is lost")
	MovePrimarySessions = declare(MovePrimary, "p.sessions",
		"a write that is retried after the move is executed twice")
	MovePrimaryBlockReads = declare(MovePrimary, "p.blockReads",
		"a read on the old primary misses a write on the new one")
	MovePrimaryCommitRequest = declare(MovePrimary, "p.commitConfig.request",
		"a commit arrives late and takes the database from another primary")
	MovePrimaryCommitReply = declare(MovePrimary, "p.commitConfig.reply",
		"the database has moved and the old primary does not know")
	MovePrimaryVerify = declare(MovePrimary, "p.verify",
		"the outcome is read from before the commit")
	MovePrimaryConfigTime = declare(MovePrimary, "p.durableConfigTime",
		"a later primary refreshes to a version from before the move")
	MovePrimaryClear = declare(MovePrimary, "p.clearMetadata",
		"the old primary serves what it has given away")
	MovePrimaryUnblock = declare(MovePrimary, "p.unblock",
		"requests wait for ever behind a move that is over")
	MovePrimaryClean = declare(MovePrimary, "p.clean",
		"a collection that was made anew is dropped")
	MovePrimaryForget = declare(MovePrimary, "p.forget",
		"a finished move is cleaned up again after the data has come back")
	MovePrimaryResume = declare(MovePrimary, "p.failoverInEachPhase",
		"a new primary goes on in another phase than the old one was in")
	MovePrimaryCleanFailed = declare(MovePrimary, "p.cleanupAfterFailedClone",
		"the recipient's copy stays, or live data is dropped for it")
)
