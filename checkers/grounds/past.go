package grounds

import (
	"github.com/shardproof/shardproof/checkers/model"
)

// View is the catalog as a majority of the config server had it at one moment.
type View struct {
	Cluster *model.Cluster
	world   *model.World
	// replaced are the tables of names that have another one, or none, since.
	replaced map[string]model.Table
}

// Table is that of a sharded collection or a database; nil when there is none.
func (v *View) Table(ns string) model.Table {
	if t, other := v.replaced[ns]; other {
		return t
	}
	return tableOf(v.world, ns)
}

// tableOf does not say for a collection that is not sharded where its database is.
func tableOf(w *model.World, ns string) model.Table {
	if w.Sharded(ns) {
		return w.Table(ns)
	}
	return nil
}

// kept is how many changes are remembered: more than there are while one request is under way.
const kept = 4096

// Past remembers what the catalog said before each change of it. The zero Past is ready.
type Past struct {
	changes []change
	// since is from when on nothing is forgotten.
	since int64
}

// change is the end of a state: what was so before it, and when it ended.
type change struct {
	at      int64
	cluster *model.Cluster // with ns empty
	ns      string
	table   model.Table
}

// Written is called before a write of the catalog counts.
func (p *Past) Written(w *model.World, ns string, at int64) {
	p.add(change{at: at, ns: ns, table: tableOf(w, ns)})
}

// Administered is called before a change of the cluster counts.
func (p *Past) Administered(w *model.World, at int64) {
	p.add(change{at: at, cluster: w.Cluster()})
}

func (p *Past) add(c change) {
	if len(p.changes) == 2*kept {
		p.since = p.changes[kept].at + 1
		p.changes = append(p.changes[:0], p.changes[kept:]...)
	}
	p.changes = append(p.changes, c)
}

// Held says whether a ground held at a moment since then, or may have: nothing was known, or the
// moment is too long ago.
func (p *Past) Held(w *model.World, g *Ground, since int64) bool {
	held := since < p.since
	p.look(w, since, func(v *View) bool {
		held = held || !v.Cluster.Knows() || g.holds(v)
		return !held
	})
	return held
}

// Throughout says whether a ground held at every moment since then; false when a part of that time
// is not known.
func (p *Past) Throughout(w *model.World, g *Ground, since int64) bool {
	held := since >= p.since
	p.look(w, since, func(v *View) bool {
		held = held && v.Cluster.Knows() && g.holds(v)
		return held
	})
	return held
}

// look shows the states since then, the newest first, for as long as more are wanted.
func (p *Past) look(w *model.World, since int64, more func(*View) bool) {
	v := &View{Cluster: w.Cluster(), world: w, replaced: map[string]model.Table{}}
	wanted := more(v)
	for i := len(p.changes) - 1; wanted && i >= 0 && p.changes[i].at >= since; i-- {
		c := &p.changes[i]
		if c.ns == "" {
			v.Cluster = c.cluster
		} else {
			v.replaced[c.ns] = c.table
		}
		wanted = more(v)
	}
}
