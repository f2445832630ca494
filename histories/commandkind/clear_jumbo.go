package commandkind

// ClearJumboFlag: the chunk that holds the key may be moved again.
const ClearJumboFlag Name = "clear-jumbo"

var _ = Declare(170, ClearJumboFlag, Namespace, Key)
