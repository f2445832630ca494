package scenario

// ChunkSize: chunks of the namespace aim at so many bytes, and with 0 at the cluster's.
const ChunkSize CommandKind = "chunk-size"

var _ = DeclareCommand(150, ChunkSize, NamespaceOperand, BytesOperand)
