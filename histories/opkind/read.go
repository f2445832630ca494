package opkind

// Read: find by shard key.
const Read Name = "read"

var _ = declare(10, Read, Kind{
	About: "find by shard key",
	Shape: Keyed, Returns: true,
})
