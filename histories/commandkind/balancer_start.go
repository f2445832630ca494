package commandkind

// BalancerStart: rounds begin from now on.
const BalancerStart Name = "balancer-start"

var _ = Declare(70, BalancerStart)
