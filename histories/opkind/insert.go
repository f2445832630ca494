package opkind

// Insert: fails with a duplicate key when the document exists.
const Insert Name = "insert"

var _ = declare(40, Insert, Kind{
	About: "fails with a duplicate key when the document exists",
	Shape: Keyed, Value: true, Condition: DocumentMissing, Effect: Set, Refused: DocumentOther,
})
