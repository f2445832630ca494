package opkind

// Scan: all documents of a range of keys, in order.
const Scan Name = "scan"

var _ = declare(90, Scan, Kind{
	About: "all documents of a range of keys, in order",
	Shape: Ranged, Returns: true,
})
