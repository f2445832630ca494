package scenario

// RemoveShard: repeated until the shard is removed, its databases moved to others.
const RemoveShard CommandKind = "remove-shard"

var _ = DeclareCommand(90, RemoveShard, ShardOperand)
