package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers/balance"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// toldRule is operator-answers: what those are told who ask about the cluster.
var toldRule = verdict.Checker{
	Name: "operator-answers",
	Promise: "What an operator is told about the cluster was true at some moment between the " +
		"question and the answer.",
	Signatures: verdict.Meanings{
		toldWrong: "an operator was told something that was true at no moment meanwhile",
	},
}

var _ = declare(118, toldRule, func(o *Oracle) hooks {
	return hooks{
		event:        func(e *trace.Event) { o.followStatus(e); o.followExtents(e) },
		commit:       func(*model.Write) { o.lookAtQuestions(); o.catalogChanges() },
		administered: func(*trace.Event) { o.lookAtQuestions() },
	}
})

// toldWrong is the signature of an answer that was never right.
const toldWrong verdict.Signature = "wrong-answer"

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

// openExtents is a question how a collection lies on the shards.
type openExtents struct {
	ns        string
	step      uint64
	disturbed bool
}

// spreads is how long it takes at most, before any fault, until every member of the config server
// knows that a majority has a change of the catalog: any of them may tell a router what it knows.
const spreads = time.Second

// AsksExtents is called when an operator asks how a collection lies on the shards, and what it
// returns when there is an answer. The router reads the routing table again for it. It is judged
// only when nothing of the collection was written meanwhile, every member knows the catalog, and
// before the first fault: a primary that has been deposed and does not know counts what it has.
func (o *Oracle) AsksExtents(ns string) (told func(answer, right string)) {
	x := &openExtents{ns: ns, step: o.step}
	x.disturbed = o.changed != 0 && time.Duration(o.causes.now-o.changed) < spreads
	o.extents = append(o.extents, x)
	asked := o.causes.command()
	return func(answer, right string) {
		asked()
		o.extents = slices.DeleteFunc(o.extents,
			func(other *openExtents) bool { return other == x })
		if x.disturbed || o.faulty || answer == "" || right == "" || answer == right {
			return
		}
		o.report(toldRule, verdict.Violation{
			Signature: toldWrong, NS: ns,
			Broke: fmt.Sprintf("an operator who asked how %s lies on the shards was told %q", ns,
				answer),
			Because: []string{fmt.Sprintf("nothing of it was written meanwhile, and it is %q",
				right)},
		}, x.step)
	}
}

// catalogChanges is called when something is written to the catalog, and again when a majority has
// it: in between it depends on the member that is asked whether an answer rests on it.
func (o *Oracle) catalogChanges() {
	o.changed = o.causes.now
	for _, x := range o.extents {
		x.disturbed = true
	}
}

// followExtents takes notice of what makes an answer depend on when a shard was asked.
func (o *Oracle) followExtents(e *trace.Event) {
	o.faulty = o.faulty || e.Kind == trace.Fault
	if e.Kind == trace.CatalogWritten {
		o.catalogChanges()
	}
	for _, x := range o.extents {
		switch e.Kind {
		case trace.Applied:
			x.disturbed = x.disturbed || e.NS == x.ns
		case trace.Elected:
			x.disturbed = true
		}
	}
}

// ExtentLine is a shard in the answer to how a collection lies on the shards.
func ExtentLine(shard string, chunks int, documents, bytes int64) string {
	return fmt.Sprintf("%s has %d chunks, %d documents and %d bytes", shard, chunks, documents,
		bytes)
}

// openStatus is a question whether a collection is as the balancer would have it, which the primary
// of the config server answers. It has what that primary has on disk, and what shards tell it.
type openStatus struct {
	*openRound
	ns   string
	term uint64
	// at is when it was asked.
	at int64
}

// AsksStatus is called when an operator asks whether a collection is as the balancer would have it,
// and what it returns when the answer is there. Weights are what shards have of the collection at
// these two moments: they stand for what the primary should have asked for and has not.
func (o *Oracle) AsksStatus(
	ns string, weights func() map[string]int64,
) (told func(violation string, answered bool)) {
	set := o.world.Set(model.Config)
	s := &openStatus{ns: ns, term: set.Term, at: o.causes.now, openRound: &openRound{
		node: set.Leader, step: o.step,
		bytes: map[weighed]int64{}, sizes: map[weighed]int64{},
		answered: map[question]bool{}, failed: map[question]bool{}, unheard: map[string]bool{},
	}}
	if o.rounds.view != nil {
		if state := o.rounds.view(s.node); state != nil {
			o.rounds.takeBusy(state)
			s.states = append(s.states, state)
		}
	}
	s.disturbed = len(o.rounds.queued) > 0
	before := weights()
	o.statuses = append(o.statuses, s)
	return func(violation string, answered bool) {
		o.statuses = slices.DeleteFunc(o.statuses,
			func(other *openStatus) bool { return other == s })
		now := o.world.Set(model.Config)
		if !answered || s.disturbed || len(s.states) == 0 ||
			now.Term != s.term || now.Leader != s.node || !o.asBefore(s) {
			return
		}
		o.judgeStatus(s, violation, before, weights())
	}
}

// asBefore says that the settings are those from when the operator asked.
func (o *Oracle) asBefore(s *openStatus) bool {
	state := o.rounds.view(s.node)
	if state == nil {
		return false
	}
	o.rounds.takeBusy(state)
	return state.Equal(s.states[0])
}

// followStatus takes notice of what an answer may go by.
func (o *Oracle) followStatus(e *trace.Event) {
	for _, s := range o.statuses {
		switch e.Kind {
		case trace.CatalogWritten, trace.ClusterChanged, trace.BalancerState, trace.BalancerQueued,
			trace.BalancerChose, trace.BalancerDone:
			s.disturbed = s.disturbed || e.Node == s.node
		case trace.Fault, trace.PointHit:
			s.disturbed = s.disturbed || e.Node == s.node || e.Peer == s.node
		case trace.Weighed:
			if e.Node == s.node && e.Min == "" {
				s.weigh(e)
			}
		case trace.CallEnded:
			if e.Node == s.node && e.Code() != "" {
				s.noteFailed(o.causes.of(e.Peer).shard, e)
			}
		}
	}
}

// judgeStatus judges by what shards have told, and by what they have when none was asked, if each
// had a primary that could be asked.
func (o *Oracle) judgeStatus(s *openStatus, violation string, before, after map[string]int64) {
	weights := []*balance.Round{s.as(s.states[0])}
	if len(s.answered) == 0 && len(s.failed) == 0 {
		for _, shard := range slices.Sorted(maps.Keys(before)) {
			if s.unheard[shard] || !o.causes.stable(shard, s.at) {
				return
			}
		}
		weights = []*balance.Round{
			s.states[0].Weighing(s.ns, before), s.states[0].Weighing(s.ns, after),
		}
	}
	var right []string
	for _, state := range weights {
		lacks, known := state.Lacks(s.ns)
		if !known || lacks == violation {
			return
		}
		right = append(right, statusText(lacks))
	}
	o.report(toldRule, verdict.Violation{
		Signature: toldWrong, NS: s.ns,
		Broke: fmt.Sprintf("an operator who asked whether %s is as the balancer would have it was "+
			"told: %s", s.ns, statusText(violation)),
		Because: []string{
			"by the policy, with what the shards have of it when it was asked, and when it was " +
				"answered: " + strings.Join(right, ", then: "),
			"nothing was changed on the primary that answered, and no fault hit it meanwhile",
		},
	}, s.step)
}

// statusText is what a collection violates, for people.
func statusText(violation string) string {
	if violation == "" {
		return "it is"
	}
	return "no, because of " + violation
}
