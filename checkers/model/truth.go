package model

import (
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
)

// Config is the name of the config server's replica set.
const Config = "config"

// World is what is true now. The zero World is not ready for use.
type World struct {
	sets    map[string]*Set
	tables  map[string]Table
	cluster *Cluster
	// Committed is called for every catalog write when a majority has it, before the table
	// changes; Administered for every change of the Cluster, before it changes.
	Committed    func(w *Write)
	Administered func(e *trace.Event)
}

// New returns a world of which nothing is known.
func New() *World {
	return &World{
		sets:         map[string]*Set{},
		tables:       map[string]Table{},
		Committed:    func(*Write) {},
		Administered: func(*trace.Event) {},
	}
}

// Set is the replica set of that name.
func (w *World) Set(name string) *Set {
	s := w.sets[name]
	if s == nil {
		s = newSet(name)
		w.sets[name] = s
	}
	return s
}

// Table is the routing table that a majority of the config server has: of a collection that is not
// sharded that of its database; nil for one of which nothing is known.
func (w *World) Table(ns string) Table {
	if table, sharded := w.tables[ns]; sharded {
		return table // nil after its drop: the namespace is nobody's, also not its database's
	}
	database, _, _ := strings.Cut(ns, ".")
	return w.tables[database]
}

// Sharded says whether a majority of the config server has a table of the collection itself.
func (w *World) Sharded(ns string) bool { return w.tables[ns] != nil }

// Listed says whether a majority of the config server has ever had a table of the collection.
func (w *World) Listed(ns string) bool {
	_, listed := w.tables[ns]
	return listed
}

// Placed are the namespaces that a write of the catalog places on shards: one collection, or
// those collections of a database that the set has and that are not sharded. What is left of a
// sharded collection after its drop stays where it is.
func (w *World) Placed(of *Write, set *Set) []string {
	if strings.Contains(of.NS, ".") {
		return []string{of.NS}
	}
	var all []string
	for _, ns := range slices.Sorted(maps.Keys(set.docs)) {
		if _, sharded := w.tables[ns]; strings.HasPrefix(ns, of.NS+".") && !sharded {
			all = append(all, ns)
		}
	}
	return all
}

// Latest is the routing table that the config server's leader has.
func (w *World) Latest(ns string) Table {
	chain := w.Set(Config).chain
	for i := len(chain) - 1; i >= 0; i-- {
		if c := chain[i].catalog; c != nil && c.NS == ns {
			return c.After
		}
	}
	return w.tables[ns]
}

// Observe takes the next event into account.
func (w *World) Observe(e *trace.Event) {
	switch e.Kind {
	case trace.Elected:
		w.elected(e)
	case trace.Majority:
		for _, c := range w.Set(e.Shard).commit(e.Index) {
			w.count(&c)
		}
	case trace.Applied:
		s := w.Set(e.Shard)
		s.record(documentChange{
			term:  e.Term,
			index: e.Index,
			ns:    e.NS,
			id:    e.DocID,
			after: Doc{e.Key, e.Hash},

			written: e.Actor == trace.User,
		}, s.Leads(e))
	case trace.Executed:
		s := w.Set(e.Shard)
		s.record(documentChange{
			term:  e.Term,
			index: e.Index,
			ns:    statementsNS,
			id:    statementID(e),
			after: Doc{documentPlace(e.NS, e.Key), uint64(e.Txn())},
		}, s.Leads(e))
	case trace.BalancerState, trace.ClusterChanged:
		s, copied := w.Set(e.Shard), *e
		s.record(documentChange{term: e.Term, index: e.Index, cluster: &copied}, s.Leads(e))
	case trace.CatalogWritten:
		s := w.Set(e.Shard)
		s.record(documentChange{term: e.Term, index: e.Index, catalog: w.Written(e)}, s.Leads(e))
	}
}

// count has a change count that a majority has.
func (w *World) count(c *documentChange) {
	switch {
	case c.catalog != nil:
		w.Committed(c.catalog)
		w.tables[c.catalog.NS] = c.catalog.After
	case c.cluster != nil:
		w.Administered(c.cluster)
		w.cluster = w.cluster.With(c.cluster)
	}
}

// Tables are the names of all routing tables that a majority has.
func (w *World) Tables() []string { return slices.Sorted(maps.Keys(w.tables)) }

// Written is the catalog write that an event tells of, as the config server's leader sees it.
func (w *World) Written(e *trace.Event) *Write {
	return Write{
		NS:     e.NS,
		Why:    e.Why(),
		Step:   e.Step,
		Chunks: slices.Clone(e.Chunks),
	}.Follow(w.Latest(e.NS))
}

// elected also tells writes of another leader what they follow in the new log.
func (w *World) elected(e *trace.Event) {
	s := w.Set(e.Shard)
	s.elect(e)
	latest := map[string]Table{}
	for i := range s.chain {
		c := s.chain[i].catalog
		if c == nil {
			continue
		}
		before, known := latest[c.NS]
		if !known {
			before = w.tables[c.NS]
		}
		again := c.Follow(before)
		latest[c.NS] = again.After
		s.chain[i].catalog = again
	}
}
