package commandkind

// RemoveShard: repeated until the shard is removed, its databases moved to others.
const RemoveShard Name = "remove-shard"

var _ = Declare(90, RemoveShard, Shard)
