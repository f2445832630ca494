package failpoint

// The phases of the history of sessions (role X of failpoints 18.2).
var (
	SessionSourceScan = declare(Session, "x.source.scan",
		"a session that writes during the scan is in neither the scan nor the queue of new writes")
	SessionSourceTruncated = declare(Session, "x.source.oplogTruncated",
		"a chain of statements ends early and a retry would be executed again")
	SessionSourceNewWrite = declare(Session, "x.source.newWrite",
		"a statement is handed over that a failover then takes back")
	SessionDestApply = declare(Session, "x.dest.apply",
		"history is recorded twice, or for a session that has gone on")
	SessionDestConflict = declare(Session, "x.dest.conflictHigherTxn",
		"old history overwrites that of a newer statement of the same session")
	SessionDestSentinel = declare(Session, "x.dest.sentinel",
		"incomplete history is taken for complete")
	SessionRetryDuring = declare(Session, "x.retryDuringMigration",
		"a retry meets the history while it is being handed over")
	SessionRetryAfter = declare(Session, "x.retryAfterMigration",
		"a retry on the new owner is executed again")
)
