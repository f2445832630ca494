package failpoint

// The sites of change streams (failpoints 18.2: role M, m.changeStream), on the router and on the
// shards they read.
var (
	ChangesOpen = declare(Router, "router.changeStream.open",
		"a migration announced before the stream opened gives a range to an unread shard")
	ChangesNewShard = declare(Router, "router.changeStream.newShard",
		"changes on the new shard before its cursor is open are missed")
	ChangesMerge = declare(Router, "router.changeStream.merge",
		"a change is delivered before an earlier one of a slower shard")
	ChangesResume = declare(Router, "router.changeStream.resume",
		"changes around the resume token are delivered twice or skipped")
	ChangesRead = declare(Request, "request.changeStream.read",
		"the oplog is truncated, or the member loses its primacy, while the reader still needs it")
	ChangesAdmit = declare(Request, "request.changeStream.admit",
		"a migration commits between the version check and the list of recipients")
	ChangesNoop = declare(Request, "request.changeStream.noop",
		"an idle shard holds back the changes of all others")
)
