package activity

// What happens after elections, and elections themselves.
var (
	_ = declare(Activity{
		Name:  "donor-recovery",
		About: "a new primary of the donor learns the outcome of its migration",
		sites: []string{"recovery.", "config.ensureVersion"},
		script: `
move 1 at 0s test.docs [MinKey, 4) to shard-b
fault 1 at 0s hold shard-a.primary>config.primary messages=CommitChunkMigration for 600ms
fault 2 at 25ms crash shard-a.primary for 300ms
at 5ms client 0 write test.docs k=1 v=w1
at 30ms client 1 write test.docs k=2 v=w2
at 250ms client 0 read test.docs k=1
`,
	})

	_ = declare(Activity{
		Name:  "recipient-recovery",
		About: "a new primary of the recipient resumes a migration to it",
		sites: []string{"recovery.recipientStepUp"},
		script: `
move 1 at 0s test.docs [MinKey, 4) to shard-b
fault 1 at 0s hold shard-a.primary>config.primary messages=CommitChunkMigration for 100ms
fault 2 at 25ms stepdown shard-b.primary
at 10ms client 0 write test.docs k=1 v=w1
at 50ms client 1 write test.docs k=2 v=w2
`,
	})

	_ = declare(Activity{
		Name:  "config-recovery",
		About: "a new primary of the config server resumes unfinished operations",
		sites: []string{"config.stepUp", "balancer.stepUp"},
		script: `
move 1 at 0s test.docs [MinKey, 4) to shard-b
fault 1 at 0s hold shard-a.primary>shard-b.primary messages=RecvChunkCommit for 100ms
fault 2 at 25ms stepdown config.primary
at 10ms client 0 write test.docs k=1 v=w1
at 60ms client 1 write test.docs k=2 v=w2
`,
	})

	_ = declare(Activity{
		Name:  "replication",
		About: "members replicate entries, elect primaries and lose them",
		sites: []string{"replica."},
		script: `
fault 1 at 0s stepdown shard-a.primary
fault 2 at 30ms stepdown shard-b.primary
fault 3 at 60ms stepdown config.primary
at 0s client 0 write test.docs k=1 v=w1
at 30ms client 1 write test.docs k=5 v=w2
at 60ms client 2 write test.docs k=2 v=w3
`,
	})
)
