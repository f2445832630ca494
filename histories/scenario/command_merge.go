package scenario

// MergeChunks: a router has the chunks of a range, all on one shard, made one.
const MergeChunks CommandKind = "merge"

var _ = DeclareCommand(50, MergeChunks, NamespaceOperand, RangeOperand)
