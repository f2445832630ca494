package failpoint

// The sites of operations on whole collections. The coordinator's are passed by the config server's
// primary, outside the chunk-operation lock unless their line says otherwise.
var (
	ConfigAllowBump = declare(Config, "c.setAllowMigrations.bump",
		"under the lock: a migration that is allowed no more commits at the same time")
	ConfigAllowJoin = declare(Config, "c.setAllowMigrations.join",
		"a migration that began before goes on while the collection changes")
	ConfigAllowRefresh = declare(Config, "c.setAllowMigrations.refresh",
		"a shard goes on with the version from before")
	ConfigDDLStep = declare(Config, "c.ddl.step",
		"some shards have taken the step, others have not, when the coordinator fails over")
	ConfigDDLCatalogue = declare(Config, "c.ddl.catalogue",
		"under the lock: the catalogue changes while the shards are in the middle")
	ConfigDDLForget = declare(Config, "c.ddl.forget",
		"everything is done, and the next primary does it again")
	RequestDDLParticipant = declare(Request, "q.ddl.participant",
		"a step of an operation that is long over arrives late")
	RequestDDLApplied = declare(Request, "q.ddl.applied",
		"the step is taken here but may be rolled back by a failover")
)
