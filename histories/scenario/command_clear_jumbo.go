package scenario

// ClearJumboFlag: the chunk that holds the key may be moved again.
const ClearJumboFlag CommandKind = "clear-jumbo"

var _ = DeclareCommand(170, ClearJumboFlag, NamespaceOperand, KeyOperand)
