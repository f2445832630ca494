package opkind

// Push: $push of the identity to the document's list, exactly once under retries.
const Push Name = "push"

var _ = declare(80, Push, Kind{
	About: "$push of the identity to the document's list, exactly once under retries",
	Shape: Keyed, Value: true, Effect: Append, Refused: DocumentAbsent,
})
