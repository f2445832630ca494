package opkind

// DeleteOne: removes the document and returns only counts, as a driver's deleteOne does.
const DeleteOne Name = "delete-one"

var _ = declare(55, DeleteOne, Kind{
	About: "removes the document and returns only counts",
	Shape: Keyed, Condition: DocumentPresent, Effect: Remove, Refused: DocumentAbsent,
})
