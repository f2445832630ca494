package checkers

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/histories/event"
)

// section is K-CRIT.
var section = Checker{
	Name:    "K-CRIT",
	Promise: "While a donor blocks writes to commit a migration, no client's write takes effect on it.",
}

// WriteInSection is the signature of a write inside a critical section.
const WriteInSection = "write-in-critical-section"

func (o *Oracle) judgeSection(e *event.Event) {
	if e.Kind != event.Applied || e.Actor != event.User || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	for _, held := range o.node(e.Node).sections {
		if held.ns == e.NS {
			o.report(section, Violation{
				Signature: WriteInSection, NS: e.NS, Key: o.show(e.Key),
				Broke:   fmt.Sprintf("%s applied a client's write of key %s while it blocked writes", e.Node, o.show(e.Key)),
				Because: []string{fmt.Sprintf("writes were blocked at step %d for migration %s and not let in again", held.step, held.id)},
			}, held.step)
			return
		}
	}
}

// followSection notes when a donor blocks writes, and what it had at that moment: nothing may change it any more.
func (o *Oracle) followSection(e *event.Event) {
	if e.Actor != event.Donor {
		return
	}
	n := o.node(e.Node)
	if e.Value == "released" {
		n.sections = slices.DeleteFunc(n.sections, func(h held) bool { return h.ns == e.NS && h.id == e.ID })
		return
	}
	if slices.ContainsFunc(n.sections, func(h held) bool { return h.ns == e.NS && h.id == e.ID }) {
		return
	}
	n.sections = append(n.sections, held{e.NS, e.ID, e.Step})
	if m := o.move(e.ID); m.blocked == 0 && m.max != "" && o.world.Set(e.Shard).Leader == e.Node {
		m.blocked, m.donor = e.Step, o.world.Set(e.Shard).Documents(e.NS, m.min, m.max)
	}
}
