package scenario

// ClearJumboFlag: the chunk that holds the key may be moved again.
const ClearJumboFlag CommandKind = "clear-jumbo"

var _ = declareCommand(170, ClearJumboFlag, namespace, heldKey)
