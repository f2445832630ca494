package commandkind

// MergeChunks: a router has the chunks of a range, all on one shard, made one.
const MergeChunks Name = "merge"

var _ = Declare(50, MergeChunks, Namespace, Range)
