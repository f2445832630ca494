package commandkind

// AddShard: repeated until the shard is one again.
const AddShard Name = "add-shard"

var _ = Declare(100, AddShard, Shard)
