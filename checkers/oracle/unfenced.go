package oracle

import (
	"cmp"
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
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
		late := last.move != "" && last.move != id && (p.written != 0 || last.shard != p.from)
		if late || !o.holdsSection(p.from, id, 0) {
			o.noteDamage(e, e.Chunks[0].Min, e.Chunks[0].Max)
		}
		p.written = cmp.Or(p.written, e.Step)
		o.homes[e.NS] = home{id, e.Chunks[0].Shard}
		return
	}
	m := o.moves[id]
	if m == nil {
		return
	}
	commit := *e
	m.commit = &commit
	if !o.holdsSection(m.from, id, m.term) {
		o.noteDamage(e, m.min, m.max)
	}
}

// unread reports whether a donor lets writes pass again behind which its commit takes effect: it
// was written before, and when the donor asked for the catalog, after its request had failed, no
// majority had it (H-21).
func (o *Oracle) unread(e *trace.Event) bool {
	m := o.moves[e.Migration()]
	if m == nil || m.commit == nil || e.Actor != trace.Donor || !e.SectionState().Terminal() {
		return false
	}
	knows := o.lookedUp[e.Node+" "+e.NS]
	return knows.owns(m.min) && knows.failed != 0 && knows.failed <= knows.sent &&
		(m.committed == 0 || m.confirmed >= knows.sent)
}

func (o *Oracle) noteUnread(e *trace.Event) {
	if m := o.moves[e.Migration()]; o.unread(e) && !o.isUnfenced(m.id) {
		o.noteDamage(m.commit, m.min, m.max)
	}
}

// commitRequest is by which a donor asks for its commit, in both protocols.
const commitRequest = "CommitChunkMigration"

// lookedUp is what a node has last learned of its shard's ranges, of an answer to what it asked at
// sent. Asked is when it last asked, and failed when it last learned that a commit had failed; 0 is
// never.
type lookedUp struct {
	asked, sent, failed int64
	owned               []trace.Chunk
}

func (l *lookedUp) owns(k string) bool { return model.Table(l.owned).Owner(k) != "" }

// lookUp follows what nodes learn of the catalog.
func (o *Oracle) lookUp(e *trace.Event) {
	at := e.Node + " " + e.NS
	now := o.lookedUp[at]
	switch {
	case e.Kind == trace.CallEnded && e.Code() == "":
		now.asked = e.Sent()
	case e.Kind == trace.CallEnded && e.Asked() == commitRequest:
		now.failed = e.At
	case e.Kind == trace.MetadataInstalled:
		now.sent, now.owned = now.asked, slices.Clone(e.Chunks)
	case e.Kind == trace.MetadataCleared:
		now.owned = nil
	}
	o.lookedUp[at] = now
}

// primaryMove is a movePrimary: the shard that it takes the database from, and the steps at which
// it began and at which its commit was first written, 0 before.
type primaryMove struct {
	database, from string
	began, written uint64
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
