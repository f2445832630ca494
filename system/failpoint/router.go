package failpoint

// The sites of a router.
var (
	RouterTarget = declare(Router, "m.target",
		"the table changes between targeting and sending")
	RouterAttachVersion = declare(Router, "m.attachVersion",
		"a request travels with the version of another table than it was targeted by")
	RouterPickTime = declare(Router, "m.pickClusterTime",
		"the time of a snapshot is picked before the table that it is targeted by")
	RouterSend = declare(Router, "m.send",
		"the request is late, lost or doubled on its way to the shard")
	RouterOnStale = declare(Router, "m.onStale",
		"the table that was refused is dropped though a newer one is already here")
	RouterRefreshStart = declare(Router, "m.refresh.start",
		"the catalogue is read before the change that made the refresh necessary")
	RouterRefreshJoinExisting = declare(Router, "m.refresh.joinExisting",
		"a refresh under way may have begun too early to help")
	RouterRefreshApply = declare(Router, "m.refresh.apply",
		"an older answer overwrites a newer table")
	RouterRefreshInconsistent = declare(Router, "m.refresh.inconsistent",
		"an increment does not fit the table it is applied to")
	RouterRefreshRetry = declare(Router, "m.refresh.retry",
		"the config server cannot be reached while requests queue up")
	RouterRetry = declare(Router, "m.retry",
		"a write that was executed is executed again")
	RouterPartialBatch = declare(Router, "m.partialBatch",
		"a batch stops half way and its rest meets another placement")
	RouterCursorEstablish = declare(Router, "m.cursorEstablish",
		"some shards have opened their cursor and others refuse")
	RouterGetMore = declare(Router, "m.getMore", "a shard's cursor is gone while others go on")
)
