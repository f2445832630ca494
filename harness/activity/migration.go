package activity

// The parts of a migration. Their scripts move the first range in different ways, so that two of
// them meet.
var (
	_ = declare(Activity{
		Name:   "donor",
		About:  "a shard gives a range away, and takes it back",
		sites:  []string{"donor."},
		script: thereAndBack,
	})

	_ = declare(Activity{
		Name:  "recipient",
		About: "a shard receives a range from one shard, and the next from another",
		sites: []string{"recipient."},
		script: `
move 1 at 0s test.docs [4, 8) to shard-a
move 2 at 150ms test.docs [MinKey, 4) to shard-c wait-delete
at 5ms client 0 delete test.docs k=5
at 15ms client 0 insert test.docs k=5 v=w1
at 20ms client 1 write test.docs k=6 v=w2
at 25ms client 1 delete test.docs k=4
at 30ms client 2 insert test.docs k=4 v=w3
at 40ms client 2 update test.docs k=7 v=w4
at 150ms client 0 write test.docs k=1 v=w5
at 160ms client 1 write test.docs k=2 v=w6
`,
	})

	_ = declare(Activity{
		Name:  "session-transfer",
		About: "session history moves along with the documents",
		sites: []string{
			"session.", "recipient.session", "donor.serve.sessionMods", "donor.sessionSourceInit",
		},
		script: `
move 1 at 30ms test.docs [MinKey, 4) to shard-b
set oplogMinRetentionEntries 60
at 0s client 0 insert test.docs k=10 v=w1
at 5ms client 0 write test.docs k=1 v=w2
at 10ms client 1 write test.docs k=2 v=w3
at 15ms client 2 cas test.docs k=0 if-absent v=w4
at 35ms client 0 write test.docs k=1 v=w5
at 45ms client 1 update test.docs k=2 v=w6
at 55ms client 2 push test.docs k=3 v=w7
at 65ms client 0 write test.docs k=1 v=w8
at 75ms client 1 delete test.docs k=2
at 85ms client 2 push test.docs k=3 v=w9
`,
	})

	_ = declare(Activity{
		Name:  "commit",
		About: "the config server asks for a migration and commits it",
		sites: []string{
			"config.commit", "config.moveRequest", "config.sendMove", "config.insertMigrationDoc",
			"config.distLock",
		},
		script: `
move 1 at 0s test.docs [MinKey, 3) to shard-b
move 2 at 10ms test.docs [8, MaxKey) to shard-a
at 30ms client 0 write test.docs k=1 v=w1
at 40ms client 1 write test.docs k=9 v=w2
at 60ms client 2 scan test.docs [0, 12) batch=5
`,
	})

	_ = declare(Activity{
		Name:  "abort",
		About: "a migration fails and is cleaned up",
		sites: []string{
			"donor.abortPath", "donor.cancelClone", "recipient.abort", "recipient.fail",
		},
		script: `
move 1 at 0s test.docs [MinKey, 4) to shard-b
fault 1 at 15ms error shard-a.primary
at 5ms client 0 write test.docs k=1 v=w1
at 20ms client 0 delete test.docs k=2
at 30ms client 1 write test.docs k=3 v=w2
move 2 at 120ms test.docs [MinKey, 4) to shard-b
`,
	})

	_ = declare(Activity{
		Name:  "range-deletion",
		About: "the range of a committed migration is deleted while another arrives",
		sites: []string{"rangeDeleter."},
		script: `
move 1 at 0s test.docs [MinKey, 4) to shard-b
move 2 at 100ms test.docs [4, 8) to shard-c
at 120ms cleanup-orphaned test.docs
at 60ms client 0 write test.docs k=1 v=w1
at 80ms client 1 scan test.docs [0, 8) batch=2
at 110ms client 2 write test.docs k=6 v=w2
`,
	})
)

const thereAndBack = `
move 1 at 0s test.docs [MinKey, 4) to shard-b
move 2 at 120ms test.docs [MinKey, 4) to shard-a
at 5ms client 0 delete test.docs k=1
at 15ms client 0 insert test.docs k=1 v=w1
at 25ms client 0 write test.docs k=2 v=w2
at 20ms client 1 write test.docs k=3 v=w3
at 40ms client 1 delete test.docs k=0
at 60ms client 1 cas test.docs k=0 if-absent v=w4
at 130ms client 2 write test.docs k=1 v=w5
at 150ms client 2 delete test.docs k=2
at 160ms client 2 insert test.docs k=2 v=w6
`
