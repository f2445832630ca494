package oracle

import (
	"slices"

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

// isUnfenced reports whether the commit of a migration took effect behind its donor's back.
func (o *Oracle) isUnfenced(id string) bool {
	return slices.ContainsFunc(o.unfenced, func(u unfencedCommit) bool { return u.id == id })
}

// lostUnawares reports whether the recipient has lost a part of the range by a commit behind its
// back.
func (o *Oracle) lostUnawares(m *machine) bool {
	return slices.ContainsFunc(o.unfenced, func(u unfencedCommit) bool {
		d, former := u.damage, o.moves[u.id]
		return former != nil && former.from == m.to && d.NS == m.ns && d.Min < m.max && m.min < d.Max
	})
}

// unfencedCommit is a commit behind the donor's back, and what it may have damaged.
type unfencedCommit struct {
	id     string
	damage verdict.Damage
}

// noteUnfenced looks at a change of the catalog at the moment it is written: the member that
// leads the donor then, and has read the catalog before, does not know of it. Nor does the shard
// to which the database has moved meanwhile, when an older movePrimary of 4.2 commits once more
// (protocol 15).
func (o *Oracle) noteUnfenced(e *trace.Event) {
	id := e.Migration()
	if p := o.primaries[id]; p != nil {
		last := o.homes[e.NS]
		late := last.move != "" && last.move != id && (p.written || last.shard != p.from)
		if late || !o.holdsSection(p.from, id, 0) {
			o.noteDamage(e, e.Chunks[0].Min, e.Chunks[0].Max)
		}
		p.written, o.homes[e.NS] = true, home{id, e.Chunks[0].Shard}
		return
	}
	if m := o.moves[id]; m != nil && !o.holdsSection(m.from, id, m.term) {
		o.noteDamage(e, m.min, m.max)
	}
}

// primaryMove is a movePrimary: the shard that it takes the database from, and whether its commit
// was written.
type primaryMove struct {
	from    string
	written bool
}

// home is where the latest movePrimary has brought a database.
type home struct{ move, shard string }

// holdsSection reports whether the member that leads a donor holds the critical section of its
// migration. While none leads, the first successor of the term in which writes were blocked will
// read what is written now.
func (o *Oracle) holdsSection(donor, id string, term uint64) bool {
	set := o.world.Set(donor)
	leader := set.Leader
	if leader == "" || o.down[leader] && set.Term <= term {
		return true
	}
	return slices.ContainsFunc(o.node(leader).sections, func(h held) bool { return h.id == id })
}

// noteDamage: what reads the past is misled from the date that the commit gives to its range.
func (o *Oracle) noteDamage(e *trace.Event, lo, hi string) {
	d := verdict.Damage{NS: e.NS, Min: lo, Max: hi, Step: e.Step, From: e.At}
	for _, c := range e.Chunks {
		if c.Min <= lo && lo < c.Max {
			d.From = min(d.From, int64(c.Since>>20)*1e6)
		}
	}
	o.unfenced = append(o.unfenced, unfencedCommit{e.Migration(), d})
}
