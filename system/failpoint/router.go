package failpoint

// The sites of a router.
var (
	RouterTarget = declare(Router, "router.target",
		"the routing table changes between targeting and sending")
	RouterAttachVersion = declare(Router, "router.attachVersion",
		"a request carries a version of a different routing table than it was targeted with")
	RouterPickTime = declare(Router, "router.pickClusterTime",
		"the snapshot time is picked before the routing table used for targeting")
	RouterSend = declare(Router, "router.send",
		"the request is delayed, lost or duplicated on its way to the shard")
	RouterOnStale = declare(Router, "router.onStale",
		"the refused routing table is dropped although a newer one is already here")
	RouterRefreshStart = declare(Router, "router.refresh.start",
		"the catalog is read before the change that made the refresh necessary")
	RouterRefreshJoinExisting = declare(Router, "router.refresh.joinExisting",
		"a refresh in progress may have started too early to help")
	RouterRefreshApply = declare(Router, "router.refresh.apply",
		"an older reply overwrites a newer routing table")
	RouterRefreshInconsistent = declare(Router, "router.refresh.inconsistent",
		"a delta does not fit the routing table it is applied to")
	RouterRefreshRetry = declare(Router, "router.refresh.retry",
		"the config server cannot be reached while requests queue up")
	RouterRetry = declare(Router, "router.retry",
		"an executed write is executed again")
	RouterPartialBatch = declare(Router, "router.partialBatch",
		"a batch stops half way, and the placement changes before the rest")
	RouterCursorEstablish = declare(Router, "router.cursorEstablish",
		"some shards have opened their cursors and others refuse")
	RouterGetMore = declare(Router, "router.getMore",
		"one shard's cursor is gone while others continue")
)
