package failpoint

// The phases of the history of sessions (failpoints 18.2).
var (
	SessionSourceScan = declare(Session, "session.source.scan",
		"a session that writes during the scan is neither scanned nor queued")
	SessionSourceTruncated = declare(Session, "session.source.oplogTruncated",
		"a chain of statements ends early, and a retry would be executed again")
	SessionSourceNewWrite = declare(Session, "session.source.newWrite",
		"a statement is transferred that a failover then rolls back")
	SessionDestApply = declare(Session, "session.destination.apply",
		"history is recorded twice, or for a session that has advanced")
	SessionDestConflict = declare(Session, "session.destination.newerTxn",
		"old history overwrites that of a newer statement of the same session")
	SessionDestSentinel = declare(Session, "session.destination.sentinel",
		"incomplete history is treated as complete")
	SessionRetryDuring = declare(Session, "session.retryDuringMigration",
		"a retry arrives while its session history is being transferred")
	SessionRetryAfter = declare(Session, "session.retryAfterMigration",
		"a retry on the new owner is executed again")
)
