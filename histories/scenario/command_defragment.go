package scenario

// Defragment: on or off: small chunks that lie next to each other are joined.
const Defragment CommandKind = "defragment"

var _ = declareCommand(160, Defragment, namespace, onOrOff)
