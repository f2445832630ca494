package opkind

// Shard: gives an unsharded collection the shard key _id, whatever it has.
const Shard Name = "shard"

var _ = declare(115, Shard, Kind{
	About: "gives an unsharded collection the shard key _id, whatever it has",
	Shape: Whole, Index: IndexUntouched,
})
