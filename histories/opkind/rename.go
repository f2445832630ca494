package opkind

// Rename: gives the collection another name, which another one may have if that is to be
// dropped.
const Rename Name = "rename"

var _ = declare(140, Rename, Kind{
	About: "gives the collection another name, which another one may have if that is to be dropped",
	Shape: Whole, Renames: true, Effect: Move,
})
