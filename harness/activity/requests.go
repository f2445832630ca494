package activity

// The requests of clients, on the router and on the shards.
var (
	_ = declare(Activity{
		Name:  "routing",
		About: "a router targets requests by its cached routing table",
		sites: []string{"router."},
		script: withPlain + somewhatStale + `
at 0s client 0 write test.docs k=1 v=w1
at 5ms client 0 update test.docs k=5 v=w2
at 10ms client 0 read test.docs k=1
at 15ms client 0 upsert test.docs k=10 v=w3
at 20ms client 0 scan test.docs [0, 12) batch=4
at 0s client 1 read test.docs k=2
at 5ms client 1 delete test.docs k=2
at 10ms client 1 scan test.docs [0, 7) batch=3 concern=snapshot
at 15ms client 1 cas test.docs k=0 if-absent v=w4
at 0s client 2 write test.plain k=1 v=w5
at 5ms client 2 scan test.plain [0, 4) batch=2
`,
	})

	_ = declare(Activity{
		Name:  "request",
		About: "a shard executes reads and writes",
		sites: []string{
			"request.", "session.retry", "split.concurrentWithMove",
		},
		script: withPlain + `
at 0s client 0 write test.docs k=1 v=w1
at 5ms client 0 delete test.docs k=1
at 10ms client 0 insert test.docs k=1 v=w2
at 15ms client 0 push test.docs k=1 v=w3
at 20ms client 0 read test.docs k=1 concern=majority prefer=secondary causal
at 25ms client 0 write test.docs k=1 v=w4
at 0s client 1 read test.docs k=2 concern=local
at 5ms client 1 update test.docs k=2 v=w5
at 10ms client 1 cas test.docs k=2 if=w5 v=w6
at 15ms client 1 read test.docs k=2 concern=snapshot
at 20ms client 1 upsert test.docs k=3 v=w7
at 0s client 2 write test.plain k=1 v=w8
at 5ms client 2 insert test.docs k=11 v=w9
at 10ms client 2 read test.plain k=1
at 15ms client 2 read test.docs k=0
`,
	})

	_ = declare(Activity{
		Name:  "cursor",
		About: "a scan is read batch by batch",
		sites: []string{
			"router.cursorEstablish", "router.getMore", "request.takeFilter", "request.yield",
			"request.restore", "request.acquireSnapshot",
		},
		script: `
at 0s client 0 scan test.docs [0, 12) batch=1
at 5ms client 0 scan test.docs [0, 12) batch=2 concern=majority
at 0s client 1 scan test.docs [0, 8) batch=2 concern=snapshot
at 5ms client 1 scan test.docs [0, 4) batch=1 concern=local
at 0s client 2 scan test.docs [0, 12) batch=2 concern=majority prefer=secondary
at 10ms client 2 write test.docs k=3 v=w1
at 15ms client 2 scan test.docs [0, 4) batch=2 concern=majority prefer=secondary causal
`,
	})

	_ = declare(Activity{
		Name:  "refresh",
		About: "routers, shards and their secondaries refresh the routing table",
		sites: []string{
			"router.refresh", "router.onStale", "request.refresh", "request.cacheBatch",
			"request.secondary", "config.routingTable",
		},
		script: somewhatStale + `
at 10ms client 0 write test.docs k=1 v=w1
at 10ms client 1 read test.docs k=2
at 12ms client 2 read test.docs k=3 concern=majority prefer=secondary
at 20ms client 1 scan test.docs [0, 12) batch=5 concern=majority prefer=secondary
at 20ms join-migrations test.docs
at 25ms client 0 write test.docs k=6 v=w2
at 30ms split test.docs 6
at 40ms client 0 write test.docs k=7 v=w3
at 40ms client 2 read test.docs k=4 concern=majority prefer=secondary
`,
	})

	_ = declare(Activity{
		Name:  "change-stream",
		About: "a reader follows the changes of a collection",
		sites: []string{"router.changeStream", "request.changeStream"},
		script: `
stream 1 at 0s test.docs poll=5ms batch=2 resume=3
at 5ms client 0 write test.docs k=1 v=w1
at 10ms client 0 write test.docs k=5 v=w2
at 15ms client 0 delete test.docs k=1
at 20ms client 1 insert test.docs k=11 v=w3
at 25ms client 1 write test.docs k=2 v=w4
at 35ms client 1 write test.docs k=3 v=w5
at 60ms client 0 write test.docs k=1 v=w6
`,
	})
)

// somewhatStale makes the tables of routers and shards old.
const somewhatStale = `
at 0s split test.docs 3
`
