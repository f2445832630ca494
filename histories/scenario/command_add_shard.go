package scenario

// AddShard: repeated until the shard is one again.
const AddShard CommandKind = "add-shard"

var _ = declareCommand(100, AddShard, shard)
