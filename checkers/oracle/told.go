package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// toldRule is operator-answers: what those are told who ask about the cluster.
var toldRule = verdict.Checker{
	Name: "operator-answers",
	Promise: "What an operator is told about the cluster was so at some moment between the " +
		"question and the answer.",
	Signatures: verdict.Meanings{
		toldWrong: "an operator was told something that was never so meanwhile",
	},
}

var _ = declare(118, toldRule, func(o *Oracle) hooks {
	return hooks{
		event:        func(e *trace.Event) { o.followStatus(e); o.followExtents(e) },
		commit:       func(*model.Write) { o.lookAtQuestions() },
		administered: func(*trace.Event) { o.lookAtQuestions() },
	}
})

// toldWrong is the signature of an answer that was never right.
const toldWrong verdict.Signature = "told-what-was-not-so"

// Question is what an operator asks about what a majority of the config server has.
type Question struct {
	// What is a clause for people, NS the collection that it is about, if any.
	What, NS string
	// right is the answer of the moment; empty when nothing is known.
	right func(*Oracle) string
}

// openQuestion is a question without an answer, with what was right since it was asked.
type openQuestion struct {
	Question
	step  uint64
	right []string
}

// Asks is called when an operator asks, and what it returns when there is an answer; an empty one
// is none.
func (o *Oracle) Asks(q Question) (told func(answer string)) {
	open := &openQuestion{Question: q, step: o.step}
	o.questions = append(o.questions, open)
	return func(answer string) {
		o.lookAtQuestions()
		o.questions = slices.DeleteFunc(o.questions,
			func(other *openQuestion) bool { return other == open })
		if answer == "" || slices.Contains(open.right, answer) || slices.Contains(open.right, "") {
			return
		}
		o.report(toldRule, verdict.Violation{
			Signature: toldWrong, NS: q.NS,
			Broke: fmt.Sprintf("an operator who asked for %s was told %q", q.What, answer),
			Because: []string{
				fmt.Sprintf("from step %d on, a majority of the config server had %q",
					open.step, open.right),
			},
		}, open.step)
	}
}

// lookAtQuestions notes what is right before the next change of it.
func (o *Oracle) lookAtQuestions() {
	for _, q := range o.questions {
		if now := q.Question.right(o); !slices.Contains(q.right, now) {
			q.right = append(q.right, now)
		}
	}
}

// BalancerMode asks for the balancer's mode.
func BalancerMode() Question {
	return Question{What: "the balancer's mode", right: func(o *Oracle) string {
		if c := o.world.Cluster(); c != nil {
			return c.Mode.String()
		}
		return ""
	}}
}

// ShardList asks for the shards; the answer has a ShardLine of each, by name.
func ShardList() Question {
	return Question{What: "the shards", right: func(o *Oracle) string {
		c := o.world.Cluster()
		if !c.Knows() {
			return ""
		}
		var all []string
		for _, name := range c.Shards() {
			all = append(all, ShardLine(name, c.Draining(name), c.MaxBytes(name), c.ZonesOf(name)))
		}
		return strings.Join(all, "; ")
	}}
}

// ShardLine is a shard in the answer to a ShardList.
func ShardLine(name string, draining bool, maxBytes int64, zones []string) string {
	line := name
	if draining {
		line += " draining"
	}
	if maxBytes > 0 {
		line += fmt.Sprintf(" maxSize=%d", maxBytes)
	}
	return line + " " + strings.Join(zones, ",")
}

// ChunkList asks for the chunks of a collection; the answer has a ChunkLine of each, by lower
// bound.
func ChunkList(ns string) Question {
	return Question{What: "the chunks of " + ns, NS: ns, right: func(o *Oracle) string {
		if !o.world.Sharded(ns) {
			return ""
		}
		var all []string
		for _, c := range o.world.Table(ns) {
			all = append(all, o.ChunkLine(c.Min, c.Max, c.Shard, c.Jumbo))
		}
		return strings.Join(all, "; ")
	}}
}

// ChunkLine is a chunk in the answer to a ChunkList.
func (o *Oracle) ChunkLine(lo, hi, shard string, jumbo bool) string {
	line := o.span(lo, hi) + " on " + shard
	if jumbo {
		line += " jumbo"
	}
	return line
}

// LimitedShard is that a shard is one of the cluster and has a limit; 0 is none.
func LimitedShard(shard string, maxBytes int64) *Fact {
	return &Fact{
		What: fmt.Sprintf("%s is a shard of at most %d bytes", shard, maxBytes),
		holds: func(o *Oracle) bool {
			c := o.world.Cluster()
			return c != nil && c.Has(shard) && c.MaxBytes(shard) == maxBytes
		},
	}
}
