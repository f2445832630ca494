package oracle

import (
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// Unfenced lists what was damaged by commits that took effect, and that a majority of the config
// server has, although a primary of the donor led, or had led since the writes were blocked, that
// did not hold the critical section of its migration: it may have let writes pass, or be about to.
// Nobody is sent to the recipient before the commit is written.
func (o *Oracle) Unfenced() (all []verdict.Damage) {
	for _, u := range o.unfenced {
		if o.moves[u.id].committed != 0 {
			all = append(all, u.damage)
		}
	}
	return all
}

// unfencedCommit is a commit behind the donor's back, and what it may have damaged.
type unfencedCommit struct {
	id     string
	damage verdict.Damage
}

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
	o.unfenced = append(o.unfenced, unfencedCommit{m.id,
		verdict.Damage{NS: e.NS, Min: m.min, Max: m.max, Step: e.Step, At: e.At}})
}
