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

// keptRule is steps-kept (H-42): an operation on a whole collection goes on to its next step, and
// the config server adds or removes a shard, because of what a shard has answered.
var keptRule = verdict.Checker{
	Name: "steps-kept",
	Promise: "A majority of a shard has what the shard answers that it has done for an operation " +
		"on a whole collection, and its consent to join or to leave the cluster.",
	Signatures: verdict.Meanings{
		answeredEarly: "a shard answered that it had done what no majority of it has",
	},
}

var _ = declare(89, keptRule, func(*Oracle) hooks { return hooks{} })

const answeredEarly verdict.Signature = "answered-before-majority"

// Kept reports what no majority of a shard has at the moment at which its member answers a request
// about a collection, or about none, that it has done it, and how far the members' logs reach;
// nothing when lacking is empty.
func (o *Oracle) Kept(node, request, ns, lacking string, logs ...string) {
	if lacking == "" {
		return
	}
	o.report(keptRule, verdict.Violation{
		Signature: answeredEarly, NS: ns,
		Broke:   fmt.Sprintf("%s answers %s, and no majority of its shard has it", node, request),
		Because: append([]string{lacking}, logs...),
	}, o.step)
}
