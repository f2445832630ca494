package opkind

// CAS: findAndModify of the document with the expected value.
const CAS Name = "cas"

var _ = declare(30, CAS, Kind{
	About: "findAndModify of the document with the expected value",
	Shape: Keyed, Value: true, Condition: DocumentExpected, Effect: Set, Refused: DocumentOther,
})
