package generate

import (
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
