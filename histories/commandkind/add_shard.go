package commandkind

// AddShard: repeated until the replica set is a shard, with a limit of its data if there is one.
const AddShard Name = "add-shard"

var _ = Declare(100, AddShard, Shard, Fields)

// AddShardFields are what an AddShard can give the shard: max is from how many bytes on it is given
// no more (4.2).
var AddShardFields = []string{"max"}
