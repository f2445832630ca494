package failpoint

// The phases of the balancer (failpoints 18.2). What is chosen is chosen at once, between
// balancer.stats and balancer.enqueue.
var (
	BalancerStepUp = declare(Balancer, "balancer.stepUp",
		"a new primary starts balancing while migrations requested by its predecessor are still "+
			"running")
	BalancerLoadSettings = declare(Balancer, "balancer.loadSettings",
		"a round uses settings that have been changed since")
	BalancerWindowCheck = declare(Balancer, "balancer.checkWindow",
		"the balancer is stopped, or its window closes, right after the check")
	BalancerRoundBegin = declare(Balancer, "balancer.roundBegin",
		"a stop is acknowledged before it sees a round that is starting")
	BalancerStats = declare(Balancer, "balancer.stats",
		"a shard's data size is missing or outdated, and data is sent to the fullest shard")
	BalancerEnqueue = declare(Balancer, "balancer.enqueue",
		"the chosen chunk is moved, split or dropped before its migration is requested")
	BalancerDispatch = declare(Balancer, "balancer.dispatch",
		"a request is sent although the balancer was stopped while the request was queued")
	BalancerResult = declare(Balancer, "balancer.result",
		"the outcome of a migration is lost, and a committed migration is counted as failed")
	BalancerSplitOrJumbo = declare(Balancer, "balancer.splitOrJumbo",
		"the wrong chunk is marked jumbo, or none is and the migration is retried forever")
	BalancerDefragmented = declare(Balancer, "balancer.defragmented",
		"an operator changes a collection after the balancer has read it and before it ends the "+
			"defragmentation")
	BalancerRoundEnd = declare(Balancer, "balancer.roundEnd",
		"a round never ends, and a stop waits for it forever")
	BalancerSleep = declare(Balancer, "balancer.sleep",
		"the balancer never wakes up, or never sleeps")
	BalancerStop = declare(Balancer, "balancer.stop",
		"a failover between the switch and the end of the round acknowledges the stop too early")
	BalancerStopCloseDoor = declare(Balancer, "balancer.stop.waitForMigrations",
		"a migration in progress commits after the stop was acknowledged")
)
