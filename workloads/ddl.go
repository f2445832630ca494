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
	// Moves are when migrations of the collection start, or moves of the primary that has it: half
	// of the operations start when one of them is about to begin or has just begun.
	Moves []time.Duration
	// Scans are when queries of the collection start: of the other operations, some start while one
	// of them has read little.
	Scans []time.Duration
	// Drops is how many percent of them drop the collection; each drop is followed by the
	// collection's creation, but for Implicit percent: then a write is to make it again.
	Drops, Implicit int
	// Other is a name that the collection gets, and loses again, in Renames percent of the
	// operations.
	Other   string
	Renames int
	FirstID int
}

// DrawWhole plans operations on a whole collection while other clients use it: it is dropped and
// made again or renamed, and indexes come and go, some from before the first migration. They are
// not ordered.
func DrawWhole(source Source, p WholeParams) []scenario.Op {
	var ops []scenario.Op
	var before time.Duration
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
		if n > 0 && pick("meets the one before", 4) == 0 {
			op.At = before + time.Duration(pick("into the one before", 40))*time.Millisecond
		}
		before = op.At
		if pick("rename", 100) < p.Renames {
			op.Kind, op.NS, op.Into = scenario.Rename, p.NS, p.Other
			if pick("back", 2) == 0 {
				op.NS, op.Into = op.Into, op.NS
			}
			op.DropTarget = pick("over", 3) > 0
			ops = p.again(append(ops, op), op, pick)
			ops = p.meanwhile(ops, op, pick)
			continue
		}
		if pick("drop", 100) >= p.Drops {
			op.Kind = []scenario.OpKind{
				scenario.CreateIndex, scenario.CreateIndex, scenario.DropIndex,
			}[pick("index", 3)]
			if p.Other != "" && pick("index of the other", 3) == 0 {
				op.NS = p.Other
			}
			ops = p.again(append(ops, op), op, pick)
			continue
		}
		if pick("made by a write", 100) < p.Implicit {
			ops = p.again(append(ops, op), op, pick)
			continue
		}
		again := op
		again.ID, again.Kind, again.Client = op.ID+1, scenario.Create, pick("maker", p.Clients)
		again.At += p.gap() * time.Duration(1+pick("pause", 4)) / 10
		ops = p.again(append(ops, op, again), op, pick)
	}
	return ops
}

// again adds, to some operations, the same by another client while it runs or soon after: it waits
// for the first, and may find nothing to do.
func (p *WholeParams) again(
	ops []scenario.Op, op scenario.Op, pick func(what string, of int) int,
) []scenario.Op {
	if pick("twice", 4) > 0 {
		return ops
	}
	op.ID = p.FirstID + len(ops)
	op.Client = (op.Client + 1) % p.Clients
	op.At += time.Duration(pick("behind", 30)) * time.Millisecond
	return append(ops, op)
}

// meanwhile has another client make or drop a collection of one of the two names of a rename, in
// some cases, while that runs.
func (p *WholeParams) meanwhile(
	ops []scenario.Op, op scenario.Op, pick func(what string, of int) int,
) []scenario.Op {
	if p.Clients < 2 || pick("another at its names", 3) > 0 {
		return ops
	}
	name := op.Into
	if pick("at the old name", 3) == 0 {
		name = op.NS
	}
	return append(ops, scenario.Op{
		ID: p.FirstID + len(ops), NS: name,
		Client: (op.Client + 1 + pick("which client", p.Clients-1)) % p.Clients,
		At:     max(0, op.At+time.Duration(pick("into the rename", 60)-15)*time.Millisecond),
		Kind:   []scenario.OpKind{scenario.Create, scenario.Create, scenario.Drop}[pick("what", 3)],
	})
}

func (p *WholeParams) gap() time.Duration { return (p.End - p.Start) / time.Duration(p.Count) }

// moment is when the operation with that number starts.
func (p *WholeParams) moment(n int, pick func(what string, of int) int) time.Duration {
	if len(p.Moves) > 0 && pick("meets", 2) == 0 {
		return max(0, p.Moves[pick("move", len(p.Moves))]+
			time.Duration(pick("into", 60)-20)*time.Millisecond)
	}
	if len(p.Scans) > 0 && pick("meets a query", 3) == 0 {
		return p.Scans[pick("query", len(p.Scans))] +
			time.Duration(pick("into the query", 12))*time.Millisecond
	}
	return p.Start + p.gap()*time.Duration(n) + p.gap()*time.Duration(pick("jitter", 500))/1000
}
