package opkind

// CreateIndex: makes an index on v.
const CreateIndex Name = "create-index"

var _ = declare(120, CreateIndex, Kind{
	About: "makes an index on v",
	Shape: Whole, Index: IndexMade,
})
