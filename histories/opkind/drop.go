package opkind

// Drop: removes the collection with everything in it; it may be missing.
const Drop Name = "drop"

var _ = declare(100, Drop, Kind{
	About: "removes the collection with everything in it; it may be missing",
	Shape: Whole, Effect: Remove, Index: IndexRemoved,
})
