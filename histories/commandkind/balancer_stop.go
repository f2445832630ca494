package commandkind

// BalancerStop: answered when no round is in progress and nothing of the balancer commits any
// more.
const BalancerStop Name = "balancer-stop"

var _ = Declare(80, BalancerStop)
