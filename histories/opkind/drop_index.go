package opkind

// DropIndex: removes the index on v.
const DropIndex Name = "drop-index"

var _ = declare(130, DropIndex, Kind{
	About: "removes the index on v",
	Shape: Whole, Index: IndexRemoved,
})
