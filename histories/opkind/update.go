package opkind

// Update: $set of the value without upsert; returns only counts.
const Update Name = "update"

var _ = declare(60, Update, Kind{
	About: "$set of the value without upsert; returns only counts",
	Shape: Keyed, Value: true, Condition: DocumentPresent, Effect: Change, Refused: DocumentAbsent,
})
