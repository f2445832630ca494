package scenario

// SplitChunk: a router has the chunk that holds a value of k (or of the hash) cut there.
const SplitChunk CommandKind = "split"

var _ = DeclareCommand(40, SplitChunk, NamespaceOperand, cut)
