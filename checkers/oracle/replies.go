package oracle

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// repliesRule is replies: what an answer says besides that for which histories have words. Who asks
// knows what it may say.
var repliesRule = verdict.Checker{
	Name: "replies",
	Promise: "Every field of an answer to a client is one that the request may have: counts, " +
		"flags, documents with their keys, the order and size of batches, and the operation time.",
	Signatures: verdict.Meanings{
		wrongReply: "an answer says what no state of the data explains",
	},
}

var _ = declare(114, repliesRule, func(*Oracle) hooks { return hooks{} })

const wrongReply verdict.Signature = "reply-inconsistent"

// Answered reports what is wrong with the answer to a client's operation, as clauses; none when it
// may be so.
func (o *Oracle) Answered(operation int, kind, ns string, k int64, wrong []string) {
	if len(wrong) == 0 {
		return
	}
	o.report(repliesRule, verdict.Violation{
		Signature: wrongReply, NS: ns, Key: fmt.Sprint(k), Ops: []int{operation},
		Broke:   fmt.Sprintf("the answer to operation %d (%s of k=%d) is wrong", operation, kind, k),
		Because: wrong,
	}, o.step)
}

// Delivered reports what is wrong with a change that a stream delivered, as clauses; none when it
// may be so.
func (o *Oracle) Delivered(ns string, k int64, wrong []string) {
	if len(wrong) == 0 {
		return
	}
	o.report(repliesRule, verdict.Violation{
		Signature: wrongReply, NS: ns, Key: fmt.Sprint(k),
		Broke:   fmt.Sprintf("a change of k=%d that a stream of %s delivered is wrong", k, ns),
		Because: wrong,
	}, o.step)
}
