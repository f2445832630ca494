package failpoint

// The sites of the config server. Those of a commit are passed under the chunk-operation lock
// unless their line says otherwise.
var (
	ConfigMoveRequest = declare(Config, "c.moveRequest",
		"a move is asked for twice, or of a config server that is no longer primary")
	ConfigSendMove = declare(Config, "c.sendMove",
		"the donor runs the migration but its answer is lost, so that the request is sent again")
	ConfigMigrationsInsert = declare(Config, "c.migrationsDocInsert",
		"4.2, outside the lock: a migration runs that the next config primary does not know of")
	ConfigDistLock = declare(Config, "c.distLock",
		"4.2, outside the lock: a migration runs while another operation believes that it has "+
			"the collection to itself")
	ConfigRecoverMigrations = declare(Config, "c.stepUp.recoverMigrations",
		"4.2, outside the lock: a new migration begins before those of the last config primary "+
			"are taken over")
	ConfigCommitLock = declare(Config, "c.commit.lock",
		"two commits without a common lock would take the same version")
	ConfigCommitReadShard = declare(Config, "c.commit.readShard",
		"the recipient was removed, or is draining, since the migration began")
	ConfigCommitReadColl = declare(Config, "c.commit.readColl",
		"the collection was dropped and made anew since the migration began")
	ConfigCommitReadChunk = declare(Config, "c.commit.readChunk",
		"the chunk is read while another term already writes it")
	ConfigCommitCheckVersion = declare(Config, "c.commit.checkVersion",
		"the commit of a dead donor arrives after its successor decided to abort")
	ConfigCommitDuplicateRequest = declare(Config, "c.commit.duplicateRequest",
		"a repeated commit finds its work done, perhaps by a write that is not yet "+
			"majority-committed")
	ConfigCommitPickValidAfter = declare(Config, "c.commit.pickValidAfter",
		"a clock that went back makes the history of placements run backwards")
	ConfigCommitTrimHistory = declare(Config, "c.commit.trimHistory",
		"history that readers of the past still need is dropped")
	ConfigCommitControlChunk = declare(Config, "c.commit.controlChunk",
		"without a new version on the donor, stale routers go on using it")
	ConfigCommitTxnWrite = declare(Config, "c.commit.txnWrite",
		"the last moment before the placement changes")
	ConfigCommitAfterLocalWrite = declare(Config, "c.commit.afterLocalWrite",
		"the change is applied here but may be rolled back by a failover")
	ConfigCommitMajority = declare(Config, "c.commit.majority",
		"the change is final but nobody has been told")
	ConfigCommitReply = declare(Config, "c.commit.reply",
		"lock released: the donor never learns that its commit succeeded")
	ConfigEnsureVersionBefore = declare(Config, "c.ensureVersion.before",
		"the late commit of a dead donor gets in before the fence")
	ConfigEnsureVersionAfter = declare(Config, "c.ensureVersion.after",
		"the fence is up here but may be rolled back by a failover")
	ConfigSplitCommit = declare(Config, "c.splitCommit",
		"a split commits beside a migration and takes its version")
	ConfigMergeCommit = declare(Config, "c.mergeCommit",
		"chunks are merged of which one was moved meanwhile")
	ConfigDrainStart = declare(Config, "c.removeShard.startDrain",
		"outside the lock: the last shards that may have chunks begin to drain at once")
	ConfigDrainCheck = declare(Config, "c.removeShard.checkEmpty",
		"outside the lock: what is found gone comes back before the shard is removed")
	ConfigDrainRemove = declare(Config, "c.removeShard.remove",
		"outside the lock: a commit gives the shard a chunk in the moment of its removal")
	ConfigAddShard = declare(Config, "c.addShard",
		"outside the lock: a shard joins with documents that nobody knows of, or amid an "+
			"operation on a whole collection")
	ConfigZoneUpdate = declare(Config, "c.zoneUpdate",
		"outside the lock: two zones get the same range, or a zone loses its last shard")
	ConfigRoutingTable = declare(Config, "c.routingTable",
		"outside the lock: a member that lags answers with an old table")
)
