package oracle

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// membershipRule is membership (protocol 14.2, H-38).
var membershipRule = verdict.Checker{
	Name: "membership",
	Promise: "A shard follows no order to leave but that of its newest removal: while it is a " +
		"shard and does not drain, it takes what it is given.",
	Signatures: verdict.Meanings{
		leavesUnasked: "a shard that nobody removes has agreed to leave, and takes nothing",
	},
}

const leavesUnasked verdict.Signature = "leaves-unasked"

var _ = declare(104, membershipRule, func(o *Oracle) hooks {
	return hooks{event: o.judgeLeaving}
})

// Leavers says how the oracle gets to know whether a member takes nothing, as its shard leaves;
// without it, nothing is judged.
func (o *Oracle) Leavers(of func(node string) bool) { o.leaves = of }

// judgeLeaving: a copy of an order that was followed may be answered much later; what counts is
// what the shard goes by then. The cluster is the one of the newest primary of the config server,
// which gave the order when a majority knew that the shard drains.
func (o *Oracle) judgeLeaving(e *trace.Event) {
	if e.Kind != trace.Answered || e.Asked() != "ShardsvrLeaveCluster" || e.Code() != "" ||
		o.leaves == nil {
		return
	}
	shard := shardOfNode(e.Node)
	c := o.world.LatestCluster()
	if !c.Knows() || !c.Has(shard) || c.Draining(shard) || o.world.Set(shard).Leader != e.Node ||
		!o.leaves(e.Node) {
		return
	}
	o.report(membershipRule, verdict.Violation{
		Signature: leavesUnasked,
		Broke:     fmt.Sprintf("%s agrees to leave, and takes nothing any more", e.Node),
		Because: []string{
			fmt.Sprintf("%s is a shard and does not drain", shard),
			fmt.Sprintf("the order of %s, which came %v ago, is one of an earlier removal",
				e.Peer, elapsed(e.At-e.Arrived())),
		},
	})
}
