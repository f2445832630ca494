package scenario

// AddShard: repeated until the shard is one again.
const AddShard CommandKind = "add-shard"

var _ = DeclareCommand(100, AddShard, ShardOperand)
