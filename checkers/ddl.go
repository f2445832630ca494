package checkers

import (
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

// incarnations is ddl (protocol 10.3, H-15, H-57). What counts is the catalogue of a majority of the config server.
var incarnations = Checker{
	Name: "ddl",
	Promise: "A dropped collection accepts no client's write, and a migration that began " +
		"before the drop neither copies nor deletes anything in a new collection of the same " +
		"name.",
}

// The signatures of violations that mix the lives of a namespace.
const (
	WroteDropped   = "write-to-dropped-collection"
	DeletedAnother = "deletion-in-recreated-collection"
	CopiedAnother  = "clone-into-recreated-collection"
)

// followDrop notes when a majority of the config server has a drop.
func (o *Oracle) followDrop(w *model.Write) {
	if w.Drops() {
		o.drops[w.NS] = o.step
	}
}

// followLives notes which life of which collection a name stands for; a rename takes the life along. It is early: a write
// of the catalogue that is rolled back gives a life that nobody meets.
func (o *Oracle) followLives(e *trace.Event) {
	from, renamed := strings.CutPrefix(e.Value, trace.RenamedFrom)
	switch {
	case renamed:
		o.lives[e.NS] = o.lives[from]
	case e.Value != trace.Dropped && o.world.Latest(e.NS) == nil:
		o.lives[e.NS] = e.Step
	}
}

func (o *Oracle) judgeIncarnation(e *trace.Event) {
	if e.Kind != trace.Applied || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	dropped := o.drops[e.NS]
	if dropped == 0 {
		return
	}
	exists := o.world.Table(e.NS) != nil
	switch e.Actor {
	case trace.User:
		if !exists {
			o.mixedLives(e, dropped, WroteDropped, "applied a client's write of", "the collection has not been created again")
		}
	case trace.RangeDeleter, trace.Recipient:
		if m := o.moves[e.ID]; exists && m != nil && m.began != 0 && m.life != o.lives[e.NS] {
			signature, did := CopiedAnother, "copied"
			if e.Actor == trace.RangeDeleter {
				signature, did = DeletedAnother, "deleted"
			}
			o.mixedLives(e, dropped, signature, did, fmt.Sprintf("this was done for migration %s, which began at step %d, when the name belonged to an earlier collection", e.ID, m.began))
		}
	}
}

func (o *Oracle) mixedLives(e *trace.Event, dropped uint64, signature, did, because string) {
	o.report(incarnations, Violation{
		Signature: signature, NS: e.NS, Key: o.show(e.Key),
		Broke:   fmt.Sprintf("%s %s key %s", e.Node, did, o.show(e.Key)),
		Because: []string{fmt.Sprintf("a majority of the config server dropped %s at step %d", e.NS, dropped), because},
	}, dropped)
}
