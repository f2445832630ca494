package oracle

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/balance"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// openStatus is a question whether a collection is as the balancer would have it, which the primary
// of the config server answers. It has what that primary has on disk, and what shards tell it.
type openStatus struct {
	*openRound
	ns   string
	term uint64
}

// AsksStatus is called when an operator asks whether a collection is as the balancer would have it,
// and what it returns when the answer is there. Weights are what shards have of the collection at
// these two moments: they stand for what the primary ought to have asked for and has not.
func (o *Oracle) AsksStatus(
	ns string, weights func() map[string]int64,
) (told func(violation string, answered bool)) {
	set := o.world.Set(model.Config)
	s := &openStatus{ns: ns, term: set.Term, openRound: &openRound{
		node: set.Leader, step: o.step,
		bytes: map[weighed]int64{}, sizes: map[weighed]int64{},
		answered: map[question]bool{}, failed: map[question]bool{},
	}}
	if o.rounds.view != nil {
		if state := o.rounds.view(s.node); state != nil {
			o.rounds.takeBusy(state)
			s.states = append(s.states, state)
		}
	}
	before := weights()
	o.statuses = append(o.statuses, s)
	return func(violation string, answered bool) {
		o.statuses = slices.DeleteFunc(o.statuses, func(other *openStatus) bool { return other == s })
		now := o.world.Set(model.Config)
		if !answered || s.disturbed || len(s.states) == 0 ||
			now.Term != s.term || now.Leader != s.node {
			return
		}
		o.judgeStatus(s, violation, before, weights())
	}
}

// followStatus takes notice of what an answer may go by.
func (o *Oracle) followStatus(e *trace.Event) {
	for _, s := range o.statuses {
		switch e.Kind {
		case trace.CatalogWritten, trace.ClusterChanged, trace.BalancerState, trace.BalancerChose,
			trace.BalancerDone:
			s.disturbed = s.disturbed || e.Node == s.node
		case trace.Fault, trace.PointHit:
			s.disturbed = s.disturbed || e.Node == s.node || e.Peer == s.node
		case trace.Weighed:
			if e.Node == s.node && e.Min == "" {
				s.weigh(e)
			}
		case trace.CallEnded:
			if e.Node == s.node && e.Code() != "" && e.Asked() == asksBytes {
				s.note(s.failed, question{o.causes.of(e.Peer).shard, asksBytes})
			}
		}
	}
}

// judgeStatus judges by what shards have told, and by what they have when none was asked.
func (o *Oracle) judgeStatus(s *openStatus, violation string, before, after map[string]int64) {
	weights := []*balance.Round{s.as(s.states[0])}
	if len(s.answered) == 0 && len(s.failed) == 0 {
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
		right = append(right, lacks)
	}
	o.report(toldRule, verdict.Violation{
		Signature: toldWrong, NS: s.ns,
		Broke: fmt.Sprintf("an operator who asked whether %s is as the balancer would have it was "+
			"told %q", s.ns, violation),
		Because: []string{
			fmt.Sprintf("by the policy it is %q", right),
			"nothing was changed on the primary that answered, and no fault hit it meanwhile",
		},
	}, s.step)
}
