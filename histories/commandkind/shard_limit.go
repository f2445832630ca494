package commandkind

// ShardLimit: from so many bytes on the balancer gives the shard no more; 0 is no limit (4.2).
const ShardLimit Name = "shard-limit"

var _ = Declare(105, ShardLimit, Shard, Bytes)
