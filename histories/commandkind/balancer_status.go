package commandkind

// BalancerStatus: an operator asks for the balancer's mode.
const BalancerStatus Name = "balancer-status"

var _ = Declare(200, BalancerStatus)
