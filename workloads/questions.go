package workloads

import (
	"strconv"
	"time"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// QuestionParams say what an operator asks while a cluster works.
type QuestionParams struct {
	NS string
	// Count questions are asked, between Start and End.
	Count      int
	Start, End time.Duration
}

// questionKinds are what an operator can ask.
var questionKinds = []commandkind.Name{
	commandkind.BalancerStatus, commandkind.CollectionStatus, commandkind.ListShards,
	commandkind.ListChunks, commandkind.CollectionStats,
}

// DrawQuestions plans what an operator asks, in any order of time.
func DrawQuestions(source Source, p QuestionParams) (all []scenario.Command) {
	span := int((p.End - p.Start) / time.Millisecond)
	for n := range p.Count {
		who := "questions/" + strconv.Itoa(n)
		c := scenario.Command{
			At: p.Start + time.Duration(source(who+"/at", span))*time.Millisecond,
			Do: keyed.Choose(source, who, questionKinds,
				func(k commandkind.Name) (string, int) { return string(k), 1 }),
		}
		if len(c.Do.Operands()) > 0 {
			c.Name = p.NS
		}
		all = append(all, c)
	}
	return all
}
