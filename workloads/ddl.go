package workloads

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

// WholeParams say how many operations on a whole collection to draw.
type WholeParams struct {
	NS      string
	Clients int
	// Count operations are spread over the time from Start to End.
	Count      int
	Start, End time.Duration
	// Drops is how many percent of them drop the collection; each drop is followed by the collection's return.
	Drops   int
	FirstID int
}

// DrawWhole plans operations on a whole collection while other clients use it: it is dropped and made anew, and indexes
// come and go. They are ordered by start time.
func DrawWhole(source Source, p WholeParams) []scenario.Op {
	var ops []scenario.Op
	gap := (p.End - p.Start) / time.Duration(p.Count)
	for n := range p.Count {
		pick := func(what string, of int) int { return source(fmt.Sprintf("whole/%d/%s", n, what), of) }
		op := scenario.Op{
			ID: p.FirstID + len(ops), NS: p.NS, Client: pick("client", p.Clients), Kind: scenario.Drop,
			At: p.Start + gap*time.Duration(n) + gap*time.Duration(pick("jitter", 500))/1000,
		}
		if pick("drop", 100) >= p.Drops {
			op.Kind = []scenario.OpKind{scenario.CreateIndex, scenario.DropIndex}[pick("index", 2)]
			ops = append(ops, op)
			continue
		}
		again := op
		again.ID, again.Kind, again.Client = op.ID+1, scenario.Create, pick("maker", p.Clients)
		again.At += gap * time.Duration(1+pick("pause", 4)) / 10
		ops = append(ops, op, again)
	}
	return ops
}
