package commandkind

// SplitChunk: a router has the chunk that holds a value of k (or of the hash) cut there.
const SplitChunk Name = "split"

var _ = Declare(40, SplitChunk, Namespace, SplitPoint)
