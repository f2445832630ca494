package commandkind

// ChunkSize: chunks of the namespace aim at so many bytes, and with 0 at the cluster's.
const ChunkSize Name = "chunk-size"

var _ = Declare(150, ChunkSize, Namespace, Bytes)
