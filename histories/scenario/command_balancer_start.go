package scenario

// BalancerStart: rounds begin from now on.
const BalancerStart CommandKind = "balancer-start"

var _ = DeclareCommand(70, BalancerStart)
