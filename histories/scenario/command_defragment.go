package scenario

// Defragment: on or off: small chunks that lie next to each other are joined.
const Defragment CommandKind = "defragment"

var _ = DeclareCommand(160, Defragment, NamespaceOperand, OnOrOffOperand)
