package failpoint

// The sites of the config server. Those of a commit are passed under the chunk-operation lock
// unless their line says otherwise.
var (
	ConfigMoveRequest = declare(Config, "config.moveRequest",
		"a move is requested twice, or from a config server that is no longer primary")
	ConfigSendMove = declare(Config, "config.sendMove",
		"the donor runs the migration, but its reply is lost and the request is sent again")
	ConfigMigrationsInsert = declare(Config, "config.insertMigrationDoc",
		"4.2, without the lock: the next config primary does not know of a running migration")
	ConfigDistLock = declare(Config, "config.distLock",
		"4.2, without the lock: another operation assumes exclusive use of the collection")
	ConfigRecoverMigrations = declare(Config, "config.stepUp.recoverMigrations",
		"4.2, without the lock: a migration starts before those of the old primary are recovered")
	ConfigCommitLock = declare(Config, "config.commit.lock",
		"two commits without a common lock take the same chunk version")
	ConfigCommitReadShard = declare(Config, "config.commit.readShard",
		"the recipient was removed or started to drain after the migration started")
	ConfigCommitReadColl = declare(Config, "config.commit.readCollection",
		"the collection was dropped and recreated after the migration started")
	ConfigCommitReadChunk = declare(Config, "config.commit.readChunk",
		"the chunk is read while another term is already writing it")
	ConfigCommitCheckVersion = declare(Config, "config.commit.checkVersion",
		"the commit of a dead donor arrives after its successor decided to abort")
	ConfigCommitDuplicateRequest = declare(Config, "config.commit.duplicateRequest",
		"a repeated commit relies on a write that is not yet majority-committed")
	ConfigCommitPickValidAfter = declare(Config, "config.commit.pickValidAfter",
		"a clock that went back makes the placement history run backwards")
	ConfigCommitTrimHistory = declare(Config, "config.commit.trimHistory",
		"history that snapshot reads still need is removed")
	ConfigCommitControlChunk = declare(Config, "config.commit.controlChunk",
		"stale routers keep using the donor because its version does not change")
	ConfigCommitTxnWrite = declare(Config, "config.commit.txnWrite",
		"the config server fails right before the placement changes")
	ConfigCommitAfterLocalWrite = declare(Config, "config.commit.afterLocalWrite",
		"the change is applied locally, but a failover may still roll it back")
	ConfigCommitMajority = declare(Config, "config.commit.majority",
		"the change is final, but nobody has been notified")
	ConfigCommitReply = declare(Config, "config.commit.reply",
		"the lock is released, and the donor never learns that its commit succeeded")
	ConfigEnsureVersionBefore = declare(Config, "config.ensureVersion.before",
		"the late commit of a dead donor arrives before the fence")
	ConfigEnsureVersionAfter = declare(Config, "config.ensureVersion.after",
		"the fence is applied locally, but a failover may still roll it back")
	ConfigSplitCommit = declare(Config, "config.splitCommit",
		"a split commits beside a migration and takes its chunk version")
	ConfigMergeCommit = declare(Config, "config.mergeCommit",
		"one of the chunks to be merged was moved in the meantime")
	ConfigDrainStart = declare(Config, "config.removeShard.startDrain",
		"without the lock: all shards that may hold chunks start to drain at once")
	ConfigDrainCheck = declare(Config, "config.removeShard.checkEmpty",
		"without the lock: the shard receives data after it was found empty")
	ConfigDrainRemove = declare(Config, "config.removeShard.remove",
		"without the lock: a commit gives the shard a chunk while it is being removed")
	ConfigAddShard = declare(Config, "config.addShard",
		"without the lock: a shard joins with unknown documents, or during a DDL operation")
	ConfigZoneUpdate = declare(Config, "config.zoneUpdate",
		"without the lock: two zones get the same range, or a zone loses its last shard")
	ConfigRoutingTable = declare(Config, "config.routingTable",
		"without the lock: a lagging member answers with an outdated routing table")
)
