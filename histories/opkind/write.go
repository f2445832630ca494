package opkind

// Write: findAndModify that replaces the document, upserting, and returns what it replaced.
const Write Name = "write"

var _ = declare(20, Write, Kind{
	About: "findAndModify that replaces the document, upserting, and returns what it replaced",
	Shape: Keyed, Value: true, Effect: Set, Returns: true,
})
