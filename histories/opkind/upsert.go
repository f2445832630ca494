package opkind

// Upsert: blind replacement; returns only counts.
const Upsert Name = "upsert"

var _ = declare(70, Upsert, Kind{
	About: "blind replacement; returns only counts",
	Shape: Keyed, Value: true, Effect: Set, Tells: true,
})
