package failpoint

// The sites of operations on whole collections. The coordinator's are passed by the config server's
// primary, outside the chunk-operation lock unless their line says otherwise.
var (
	ConfigAllowBump = declare(Config, "config.setAllowMigrations.bump",
		"with the lock: a migration that is no longer allowed commits at the same time")
	ConfigAllowJoin = declare(Config, "config.setAllowMigrations.join",
		"an earlier migration is still running while the collection changes")
	ConfigAllowRefresh = declare(Config, "config.setAllowMigrations.refresh",
		"a shard keeps using the previous version")
	ConfigDDLStep = declare(Config, "config.ddl.step",
		"the coordinator fails over when only some shards have executed the step")
	ConfigDDLCatalog = declare(Config, "config.ddl.catalog",
		"with the lock: the catalog changes while the shards are half done")
	ConfigDDLForget = declare(Config, "config.ddl.forget",
		"everything is done, and the next primary repeats it")
	RequestDDLParticipant = declare(Request, "request.ddl.participant",
		"a step of a finished DDL operation arrives late")
	RequestDDLDescribe = declare(Request, "request.ddl.describe",
		"an unsharded collection is to be sharded, and its shard fails over")
	RequestDDLApplied = declare(Request, "request.ddl.applied",
		"the step is applied locally, but a failover may still roll it back")
)
