package commandkind

// Defragment: on or off: small chunks that lie next to each other are joined.
const Defragment Name = "defragment"

var _ = Declare(160, Defragment, Namespace, OnOrOff)
