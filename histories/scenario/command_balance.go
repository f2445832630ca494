package scenario

// Balance: on or off: the balancer may move chunks of the namespace or not.
const Balance CommandKind = "balance"

var _ = DeclareCommand(140, Balance, NamespaceOperand, OnOrOffOperand)
