package activity

// What operators ask for, and what the balancer does by itself.
var (
	_ = declare(Activity{
		Name:  "ddl",
		About: "a collection is created, renamed and dropped, with its indexes",
		sites: []string{
			"config.setAllowMigrations", "config.ddl", "request.ddl", "rangeDeleter.dropCollection",
			"rangeDeleter.renameCollection", "recovery.dropDetected",
		},
		script: `
collection test.other ranged keys=12 preload=0 absent
at 0s client 0 create-index test.docs
at 30ms client 0 rename test.docs into=test.other
at 60ms client 0 create test.docs
at 90ms client 0 drop test.other
at 10ms client 1 write test.docs k=1 v=w1
at 70ms client 1 insert test.docs k=1 v=w2
at 95ms client 1 drop-index test.docs
at 120ms client 1 drop test.docs
at 150ms client 1 create test.docs
at 170ms client 1 insert test.docs k=2 v=w3
`,
	})

	_ = declare(Activity{
		Name:  "move-primary",
		About: "a database's unsharded collections move to another primary shard",
		sites: []string{"movePrimary."},
		script: withPlain + `
move-primary 1 at 0s test to shard-b
move-primary 2 at 150ms test to shard-a
at 5ms client 0 write test.plain k=1 v=w1
at 10ms client 1 delete test.plain k=2
at 20ms client 1 insert test.plain k=2 v=w2
at 30ms client 0 write test.plain k=1 v=w3
at 60ms client 2 scan test.plain [0, 4) batch=2
at 160ms client 0 write test.plain k=3 v=w4
`,
	})

	_ = declare(Activity{
		Name:  "balancer",
		About: "the balancer moves misplaced chunks, and is stopped",
		sites: []string{"balancer."},
		script: `
at 0s zone-add shard-b east
at 2ms zone test.docs [MinKey, 4) east
at 5ms balancer-start
at 100ms balancer-stop
at 120ms zone test.docs [MinKey, 4) none
at 130ms zone-remove shard-b east
at 20ms client 0 write test.docs k=1 v=w1
at 40ms client 1 write test.docs k=2 v=w2
`,
	})

	_ = declare(Activity{
		Name:  "split",
		About: "chunks are split, by operators and by writes",
		sites: []string{"split.", "config.splitCommit"},
		script: `
set chunkSizeBytes 200
at 0s split test.docs 2
at 10ms split test.docs 6
at 5ms client 0 write test.docs k=0 v=w1
at 10ms client 0 write test.docs k=1 v=w2
at 15ms client 0 upsert test.docs k=2 v=w3
at 20ms client 1 write test.docs k=3 v=w4
at 25ms client 1 write test.docs k=0 v=w5
at 5ms client 2 write test.docs k=10 v=w6
at 10ms client 2 write test.docs k=11 v=w7
`,
	})

	_ = declare(Activity{
		Name:  "merge",
		About: "chunks are merged, by operators and by the balancer",
		sites: []string{"split.mergeCommit", "split.autoMerge", "config.mergeCommit"},
		script: `
set autoMergerIntervalSecs 30ms
set autoMergerThrottlingMS 5ms
at 0s split test.docs 3
at 5ms split test.docs 6
at 20ms merge test.docs [MinKey, 4)
at 30ms balancer-start
at 150ms balancer-stop
at 10ms client 0 write test.docs k=1 v=w1
at 60ms client 1 scan test.docs [0, 12) batch=5 concern=snapshot
`,
	})

	_ = declare(Activity{
		Name:  "zones",
		About: "operators assign ranges to zones",
		sites: []string{"config.zoneUpdate"},
		script: `
at 0s zone-add shard-a west
at 5ms zone test.docs [MinKey, 3) west
at 15ms zone test.docs [MinKey, 3) none
at 20ms zone-remove shard-a west
at 10ms client 0 write test.docs k=1 v=w1
`,
	})

	_ = declare(Activity{
		Name:  "membership",
		About: "a shard is drained, removed and added again",
		sites: []string{
			"config.removeShard", "config.addShard", "request.joinCluster", "request.leaveCluster",
		},
		script: `
at 0s balancer-start
at 5ms remove-shard shard-c
at 300ms add-shard shard-c
at 450ms balancer-stop
at 20ms client 0 write test.docs k=8 v=w1
at 60ms client 1 write test.docs k=9 v=w2
at 320ms client 0 write test.docs k=8 v=w3
`,
	})
)
