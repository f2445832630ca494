package oracle

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// incarnationRule is ddl (protocol 10.3, H-15, H-57). What counts is the catalogue of a majority of
// the config server.
var incarnationRule = verdict.Checker{
	Name: "ddl",
	Promise: "A dropped collection accepts no client's write, and a migration that began " +
		"before the drop neither copies nor deletes anything in a new collection of the same " +
		"name.",
	Signatures: verdict.Meanings{
		wroteDropped:   "a client's write took effect in a dropped collection",
		deletedAnother: "a range deletion hit a later collection of the same name",
		copiedAnother:  "a migration copied into a later collection of the same name",
	},
}

var _ = declare(90, incarnationRule, func(o *Oracle) hooks {
	return hooks{event: o.judgeIncarnation}
})

// The signatures of violations that mix the lives of a namespace.
const (
	wroteDropped   verdict.Signature = "write-to-dropped-collection"
	deletedAnother verdict.Signature = "deletion-in-recreated-collection"
	copiedAnother  verdict.Signature = "clone-into-recreated-collection"
)

// followDrop notes when a majority of the config server has a drop.
func (o *Oracle) followDrop(w *model.Write) {
	if w.Drops() {
		o.drops[w.NS] = o.step
	}
}

// followLives notes which life of which collection a name stands for; a rename takes the life
// along. It is early: a write of the catalogue that is rolled back gives a life that nobody meets.
func (o *Oracle) followLives(e *trace.Event) {
	from := e.FormerName()
	switch {
	case from != "":
		o.lives[e.NS] = o.lives[from]
	case e.Change() != trace.Dropped && o.world.Latest(e.NS) == nil:
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
			o.mixedLives(e, dropped, wroteDropped, "applied a client's write of",
				"the collection has not been created again")
		}
	case trace.RangeDeleter, trace.Recipient:
		if m := o.moves[e.Migration()]; exists && m != nil && m.began != 0 &&
			m.life != o.lives[e.NS] {
			signature, did := copiedAnother, "copied"
			if e.Actor == trace.RangeDeleter {
				signature, did = deletedAnother, "deleted"
			}
			o.mixedLives(e, dropped, signature, did,
				fmt.Sprintf(
					"this was done for migration %s, which began at step %d, when the name "+
						"belonged to an earlier collection", e.For(), m.began,
				))
		}
	}
}

func (o *Oracle) mixedLives(
	e *trace.Event, dropped uint64, signature verdict.Signature, did, because string,
) {
	o.report(incarnationRule, verdict.Violation{
		Signature: signature,
		NS:        e.NS,
		Key:       o.show(e.Key),
		Broke:     fmt.Sprintf("%s %s key %s", e.Node, did, o.show(e.Key)),
		Because: []string{
			fmt.Sprintf("a majority of the config server dropped %s at step %d", e.NS, dropped),
			because,
		},
	}, dropped)
}
