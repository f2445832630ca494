package generate

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

const (
	// questionShare is how many percent of the seeds with several migrations, or with a balancer,
	// have an operator who asks about the cluster, questionsMost how often one asks at most.
	questionShare = 10
	questionsMost = 6
)

// addQuestions has an operator ask about the cluster.
func addQuestions(d keyed.Source, s *scenario.Scenario, z size) {
	own := d.Fork(0x9e)
	if !own.Chance("questions", questionShare) {
		return
	}
	s.Commands = append(s.Commands, workloads.DrawQuestions(own.IntN, workloads.QuestionParams{
		NS:    mainNamespace,
		Count: 1 + own.IntN("questions/count", questionsMost),
		Start: warmUp / 2,
		End:   z.span,
	})...)
	s.SortCommands()
}

const (
	// mistakeShare is how many percent of the seeds have an operator who makes mistakes,
	// mistakesMost how many one makes at most.
	mistakeShare = 12
	mistakesMost = 8
)

// addMistakes has an operator ask for what cannot be granted.
func addMistakes(own keyed.Source, s *scenario.Scenario, z size) {
	if !own.Chance("mistakes", mistakeShare) {
		return
	}
	all := commandkind.Mistakes
	if lasts(s, mainNamespace) {
		all = slices.Concat(all, commandkind.LastingMistakes)
	}
	for i := range 1 + own.IntN("mistakes/count", mistakesMost) {
		who := fmt.Sprintf("mistake/%d", i)
		s.Commands = append(s.Commands, scenario.Command{
			At: time.Duration(own.IntN(who+"/at", int(z.span/time.Millisecond))) * time.Millisecond,
			Do: commandkind.Mistake, Name: mainNamespace, Value: all[own.IntN(who, len(all))],
		})
	}
	s.SortCommands()
}

// lasts reports whether no operation of the scenario is on the whole collection.
func lasts(s *scenario.Scenario, ns string) bool {
	return !slices.ContainsFunc(s.Ops, func(o scenario.Op) bool {
		return o.Kind.Whole() && (o.NS == ns || o.Into == ns)
	})
}
