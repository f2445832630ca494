package scenario

// BalancerStop: answered when no round is under way and nothing of the balancer commits any
// more.
const BalancerStop CommandKind = "balancer-stop"

var _ = DeclareCommand(80, BalancerStop)
