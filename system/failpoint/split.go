package failpoint

// The phases of splits and merges of chunks (role S of failpoints 18.2).
var (
	SplitAutoScan = declare(Split, "s.autoSplitScan",
		"documents are written or moved before their keys are looked through")
	SplitPickPoints = declare(Split, "s.pickPoints",
		"the chunk that the points are in is moved, split or merged before they are used")
	SplitConcurrentWithMove = declare(Split, "s.concurrentWithMove",
		"a chunk is cut while the shard migrates chunks of the collection: both commits take the "+
			"same version")
	SplitSendCommit  = declare(Split, "s.sendCommit", "the chunk was moved or cut meanwhile")
	SplitCommitReply = declare(Split, "s.commitReplyLost",
		"the shard takes a split for failed that has happened, and tries it again")
	SplitRefreshAfter = declare(Split, "s.refreshAfter",
		"the shard goes on with the old chunks and a version below the collection's")
	SplitTopChunk = declare(Split, "s.topChunk",
		"the part that is to be given away was moved, or the balancer stopped, meanwhile")
	SplitAutoMerge = declare(Split, "s.autoMerge",
		"a chunk is merged that came too short a time ago: a read in the past finds nobody, or "+
			"the wrong one")
	SplitMergeCommit = declare(Split, "s.mergeCommit",
		"one of the chunks that are to be merged was moved meanwhile")
)
