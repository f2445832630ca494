package commandkind

// ListShards: an operator reads config.shards through a router.
const ListShards Name = "list-shards"

var _ = Declare(220, ListShards)
