package failpoint

// The sites of change streams (failpoints 18.2: role M, m.changeStream), on the router and on the
// shards they read.
var (
	ChangesOpen = declare(Router, "m.changeStream.open",
		"a migration that was announced before the stream began gives a range to a shard that "+
			"nobody reads")
	ChangesNewShard = declare(Router, "m.changeStream.newShard",
		"the announced shard is read too late: its changes come out of order, or not at all")
	ChangesMerge = declare(Router, "m.changeStream.merge",
		"a change is delivered before an earlier one of a shard that is slow")
	ChangesResume = declare(Router, "m.changeStream.resume",
		"changes around the token are delivered twice, or skipped")
	ChangesRead = declare(Request, "q.changeStream.read",
		"the log is cut off, or the member loses its office, below the reader")
	ChangesAdmit = declare(Request, "q.changeStream.admit",
		"a migration commits between the version check and the list of receivers")
	ChangesNoop = declare(Request, "q.changeStream.noop",
		"an idle shard holds back the changes of all others")
)
