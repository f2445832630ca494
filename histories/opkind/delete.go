package opkind

// Delete: findAndModify with remove: returns what it removed.
const Delete Name = "delete"

var _ = declare(50, Delete, Kind{
	About: "findAndModify with remove: returns what it removed",
	Shape: Keyed, Effect: Remove, Returns: true,
})
