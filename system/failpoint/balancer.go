package failpoint

// The phases of the balancer (role B of failpoints 18.2). What is chosen is chosen at once, between
// b.stats and b.enqueue.
var (
	BalancerStepUp = declare(Balancer, "b.stepUp",
		"a new primary balances while migrations that the last one asked for still run")
	BalancerLoadSettings = declare(Balancer, "b.loadSettings",
		"a round goes by settings that were changed meanwhile")
	BalancerWindowCheck = declare(Balancer, "b.windowCheck",
		"the balancer is stopped, or the window closes, between the check and what it allows")
	BalancerRoundBegin = declare(Balancer, "b.roundBegin",
		"a stop is answered before it knows of a round that begins")
	BalancerStats = declare(Balancer, "b.stats",
		"a shard's amount of data is missing or of the past, and data goes to the fullest shard")
	BalancerEnqueue = declare(Balancer, "b.enqueue",
		"what was chosen is moved, cut or dropped before it is asked for")
	BalancerDispatch = declare(Balancer, "b.dispatch",
		"a request goes out although the balancer was stopped while it waited")
	BalancerResult = declare(Balancer, "b.result",
		"the outcome of a migration is lost and what has committed counts as failed")
	BalancerSplitOrJumbo = declare(Balancer, "b.splitOrJumbo",
		"a chunk is marked that is another one by now, or never marked and tried for ever")
	BalancerRoundEnd = declare(Balancer, "b.roundEnd",
		"a round never ends, and a stop waits for it for ever")
	BalancerSleep = declare(Balancer, "b.sleep",
		"the balancer does not wake up, or does not rest")
	BalancerStop = declare(Balancer, "b.stop",
		"a failover between the switch and the end of the round: the stop is answered while a "+
			"migration is on its way")
	BalancerStopCloseDoor = declare(Balancer, "b.stop.close",
		"what is on its way commits after the stop was answered")
)
