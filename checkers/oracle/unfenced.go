package oracle

import (
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// Unfenced lists the ranges of which a commit took effect although a primary of the donor led, or
// had led since the writes were blocked, that did not hold the critical section of its migration:
// it may have let writes pass, or be about to.
func (o *Oracle) Unfenced() []verdict.KeyRange { return o.unfenced }

// noteUnfenced looks at a change of the catalogue at the moment it is written: the member that
// leads the donor then, and has read the catalogue before, does not know of it.
func (o *Oracle) noteUnfenced(e *trace.Event) {
	m := o.moves[e.Migration()]
	if m == nil {
		return
	}
	set := o.world.Set(m.from)
	leader := set.Leader
	if leader == "" || o.down[leader] && set.Term <= m.term {
		return // the first successor reads what is written now
	}
	for _, h := range o.node(leader).sections {
		if h.id == m.id {
			return
		}
	}
	o.unfenced = append(o.unfenced, verdict.KeyRange{NS: e.NS, Min: m.min, Max: m.max})
}
