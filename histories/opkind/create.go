package opkind

// Create: makes the collection again, empty, as the scenario's beginning had it; it may exist.
const Create Name = "create"

var _ = declare(110, Create, Kind{
	About: "makes the collection again, empty, as the scenario's beginning had it; it may exist",
	Shape: Whole, Index: IndexUntouched,
})
