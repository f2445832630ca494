package failpoint

// The phases of splits and merges of chunks (failpoints 18.2).
var (
	SplitAutoScan = declare(Split, "split.autoSplitScan",
		"documents are written or moved before their keys are scanned")
	SplitPickPoints = declare(Split, "split.pickPoints",
		"the chunk is moved, split or merged before its split points are used")
	SplitConcurrentWithMove = declare(Split, "split.concurrentWithMove",
		"a split and a migration of the collection commit with the same chunk version")
	SplitSendCommit = declare(Split, "split.sendCommit",
		"the chunk was moved or split in the meantime")
	SplitCommitReply = declare(Split, "split.commitReply",
		"the shard treats a successful split as failed, and tries it again")
	SplitRefreshAfter = declare(Split, "split.refreshAfter",
		"the shard keeps using the old chunks and an outdated collection version")
	SplitTopChunk = declare(Split, "split.topChunk",
		"the top chunk was moved, or the balancer stopped, before its migration is requested")
	SplitAutoMerge = declare(Split, "split.autoMerge",
		"a recently received chunk is merged, and a snapshot read finds no owner or a wrong one")
	SplitMergeCommit = declare(Split, "split.mergeCommit",
		"one of the chunks to be merged was moved in the meantime")
)
