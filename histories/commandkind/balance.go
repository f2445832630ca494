package commandkind

// Balance: on or off: the balancer may move chunks of the namespace or not.
const Balance Name = "balance"

var _ = Declare(140, Balance, Namespace, OnOrOff)
