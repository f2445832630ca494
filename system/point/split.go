package point

// The phases of splits and merges of chunks (role S of spec 18.2).
var (
	SplitConcurrentWithMove = declare(Split, "s.concurrentWithMove", "a chunk is cut while the shard migrates chunks of the collection: both commits take the same version")
	SplitSendCommit         = declare(Split, "s.sendCommit", "the chunk was moved or cut meanwhile")
	SplitCommitReply        = declare(Split, "s.commitReplyLost", "the shard takes a split for failed that has happened, and tries it again")
	SplitRefreshAfter       = declare(Split, "s.refreshAfter", "the shard goes on with the old chunks and a version below the collection's")
	SplitMergeCommit        = declare(Split, "s.mergeCommit", "one of the chunks that are to be merged was moved meanwhile")
)
