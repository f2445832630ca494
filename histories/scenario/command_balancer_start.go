package scenario

// BalancerStart: rounds begin from now on.
const BalancerStart CommandKind = "balancer-start"

var _ = declareCommand(70, BalancerStart)
