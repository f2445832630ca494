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
	// Moves are migrations of the collection: half of the operations start while one of them has
	// just begun.
	Moves []scenario.Migration
	// Drops is how many percent of them drop the collection; each drop is followed by the
	// collection's return.
	Drops int
	// Other is a name that the collection gets, and loses again, in Renames percent of the
	// operations.
	Other   string
	Renames int
	FirstID int
}

// DrawWhole plans operations on a whole collection while other clients use it: it is dropped and
// made again or renamed, and indexes come and go, some from before the first migration. They are not
// ordered.
func DrawWhole(source Source, p WholeParams) []scenario.Op {
	var ops []scenario.Op
	if source("whole/early", 2) == 0 { // so that shards get it with the collection
		ops = append(ops, scenario.Op{
			ID:   p.FirstID,
			At:   p.Start / 4,
			NS:   p.NS,
			Kind: scenario.CreateIndex,
		})
	}
	for n := range p.Count {
		pick := func(what string, of int) int {
			return source(fmt.Sprintf("whole/%d/%s", n, what), of)
		}
		op := scenario.Op{
			ID:     p.FirstID + len(ops),
			At:     p.moment(n, pick),
			NS:     p.NS,
			Client: pick("client", p.Clients),
			Kind:   scenario.Drop,
		}
		if pick("rename", 100) < p.Renames {
			op.Kind, op.NS, op.Into = scenario.Rename, p.NS, p.Other
			if pick("back", 2) == 0 {
				op.NS, op.Into = op.Into, op.NS
			}
			op.DropTarget = pick("over", 3) > 0
			ops = append(ops, op)
			continue
		}
		if pick("drop", 100) >= p.Drops {
			op.Kind = []scenario.OpKind{
				scenario.CreateIndex, scenario.CreateIndex, scenario.DropIndex,
			}[pick("index", 3)]
			ops = append(ops, op)
			continue
		}
		again := op
		again.ID, again.Kind, again.Client = op.ID+1, scenario.Create, pick("maker", p.Clients)
		again.At += p.gap() * time.Duration(1+pick("pause", 4)) / 10
		ops = append(ops, op, again)
	}
	return ops
}

func (p *WholeParams) gap() time.Duration { return (p.End - p.Start) / time.Duration(p.Count) }

// moment is when the operation with that number starts.
func (p *WholeParams) moment(n int, pick func(what string, of int) int) time.Duration {
	if len(p.Moves) > 0 && pick("meets", 2) == 0 {
		return p.Moves[pick("move", len(p.Moves))].At +
			time.Duration(pick("into", 40))*time.Millisecond
	}
	return p.Start + p.gap()*time.Duration(n) + p.gap()*time.Duration(pick("jitter", 500))/1000
}
