package oracle

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/checkers/zoning"
	"github.com/shardproof/shardproof/histories/trace"
)

// incarnationRule is ddl (protocol 10.3, H-15, H-57). What counts is the catalog of a majority of
// the config server.
var incarnationRule = verdict.Checker{
	Name: "ddl",
	Promise: "A dropped collection accepts no client's write, and a migration that began before " +
		"the drop neither copies nor deletes anything in a new collection of the same name. " +
		"A renamed collection keeps its zones and gets no others, and a dropped one leaves none " +
		"behind. No sharded collection gets the name of an unsharded one that has documents.",
	Signatures: verdict.Meanings{
		wroteDropped:   "a client's write took effect in a dropped collection",
		deletedAnother: "a range deletion hit a later collection of the same name",
		copiedAnother:  "a migration copied into a later collection of the same name",
		zoning.Lost:    "a renamed collection is not in the zones that it was in before",
		zoning.Kept:    "a renamed collection is in a zone that its new name was in before",
		zoning.Left:    "a name has zones although its collection was dropped or renamed",
		tookName:       "a sharded collection was renamed to the name of an unsharded one",
	},
}

var _ = declare(90, incarnationRule, func(o *Oracle) hooks {
	return hooks{commit: o.judgeTakenName, event: func(e *trace.Event) {
		o.judgeIncarnation(e)
		o.zones.Observe(e)
	}}
})

// The signatures of violations that mix the lives of a namespace.
const (
	wroteDropped   verdict.Signature = "write-to-dropped-collection"
	deletedAnother verdict.Signature = "deletion-in-recreated-collection"
	copiedAnother  verdict.Signature = "clone-into-recreated-collection"
	tookName       verdict.Signature = "renamed-over-unsharded"
)

// judgeTakenName: a rename drops whatever else has the new name. What the primary shard of
// the database has under a name that the catalog has never listed is an unsharded collection.
func (o *Oracle) judgeTakenName(w *model.Write) {
	database := o.world.Table(databaseOf(w.NS))
	if !w.Is(trace.RenamedFrom) || o.world.Listed(w.NS) || len(database) == 0 {
		return
	}
	home := database[0]
	n := len(o.world.Set(home.Shard).Durable(w.NS, home.Min, home.Max))
	if n == 0 {
		return
	}
	o.report(incarnationRule, verdict.Violation{
		Signature: tookName, NS: w.NS,
		Broke: "a sharded collection was renamed to " + w.NS,
		Because: []string{fmt.Sprintf("%s, the primary shard of the database, has %d documents in "+
			"an unsharded collection of that name", home.Shard, n)},
	})
}

// followDrop notes when a majority of the config server has a drop.
func (o *Oracle) followDrop(w *model.Write) {
	if w.Drops() {
		o.drops[w.NS], o.dropped[w.NS] = o.step, w.Step
	}
}

// followLives notes which life of which collection a name stands for; a rename takes the life
// along. It is early: a write of the catalog that is rolled back gives a life that nobody meets.
func (o *Oracle) followLives(e *trace.Event) {
	from := e.FormerName()
	switch {
	case from != "":
		o.lives[e.NS] = o.lives[from]
	case e.Change() != trace.Dropped && o.world.Latest(e.NS) == nil:
		o.lives[e.NS] = e.Step
	}
}

// CollectionGone says whether the collection of a migration was dropped after that had begun, even
// if another one has its name: there is no outcome to decide then.
func (o *Oracle) CollectionGone(migration string) bool {
	m := o.moves[migration]
	return m != nil && m.began != 0 && o.drops[m.ns] > m.began
}

// Incarnation is the step since which a name has stood for the collection that it stands for, or
// for none.
func (o *Oracle) Incarnation(ns string) uint64 { return max(o.drops[ns], o.lives[ns]) }

// Identities says how the oracle gets to know the identity under which a member has the collection
// of a name, "" when it has none; without it, a shard is taken to have what the catalog names.
func (o *Oracle) Identities(of func(node, ns string) string) { o.identity = of }

// hasFormer reports whether what a migration does is about an earlier collection of the name, and
// its shard has that one still: a shard drops or replaces it after the catalog did (protocol 10.3).
func (o *Oracle) hasFormer(e *trace.Event) bool {
	m := o.moves[e.Migration()]
	return m != nil && m.life != o.lives[e.NS] && m.identity != "" &&
		m.identity == o.identity(e.Node, e.NS)
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
		if !exists && !o.mayMake(e) {
			o.mixedLives(e, dropped, wroteDropped, "applied a client's write of",
				"the collection has not been created again")
		}
	case trace.RangeDeleter, trace.Recipient:
		if m := o.moves[e.Migration()]; exists && m != nil && m.began != 0 &&
			m.life != o.lives[e.NS] && !o.hasFormer(e) {
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

// mayMake reports whether a write that finds no collection in the catalog may make one that is not
// sharded: on the primary shard of the database, under a name that may be that of such a one.
func (o *Oracle) mayMake(e *trace.Event) bool {
	database := o.world.Table(databaseOf(e.NS))
	return o.plain[e.NS] && (len(database) == 0 || database[0].Shard == e.Shard)
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

// takers are the shards that take chunks, by name.
func takers(c *model.Cluster) (names []string) {
	if c.Knows() {
		names = slices.DeleteFunc(c.Shards(), c.Draining)
	}
	return names
}

// home is the primary shard of a collection's database; "" if it is not known.
func (f *fields) home(ns string) string {
	if table := f.world.Latest(databaseOf(ns)); len(table) > 0 {
		return table[0].Shard
	}
	return ""
}

// settled says whether the database has stayed where it is since the collection was dropped.
func (f *fields) settled(ns string) bool {
	return f.causes.written[databaseOf(ns)] < f.gone[ns].at
}

// clusterSince is the cluster as the config server's leader had it from a step on.
type clusterSince struct {
	step uint64
	*model.Cluster
}

// clustersFrom are the states that the leader has had from a step on; none if another one was
// elected since, who may have had others.
func (f *fields) clustersFrom(step uint64) []clusterSince {
	if f.elections[model.Config] > step {
		return nil
	}
	first := 0
	for i := range f.clusters {
		if f.clusters[i].step <= step {
			first = i
		}
	}
	return f.clusters[first:]
}

// flaw is what is wrong with the first chunks of a collection.
type flaw struct{ broke, because string }

// judgeLayout: the first chunks are where they were asked for. What is left to the config server it
// decides between the drop and the write, by one of the states of the cluster that it has had
// meanwhile.
func (f *fields) judgeLayout(w *model.Write) {
	l, known := f.layouts[w.NS]
	gone, again := f.gone[w.NS]
	var found *flaw
	switch {
	case !known:
	case !again || l.Again == AsBegun:
		found = f.flawDealt(w, l.Bounds, l.Shards)
	default:
		for _, c := range f.clustersFrom(gone.step) {
			if found = f.flawPlaced(w, c.Cluster, &l); found == nil {
				return
			}
		}
	}
	if found != nil {
		f.wrong(w, wrongBounds, found.broke, found.because)
	}
}

func (f *fields) flawDealt(w *model.Write, bounds, shards []string) *flaw {
	if len(shards) == 0 {
		return nil
	}
	if len(w.Chunks) != len(bounds)+1 {
		return &flaw{fmt.Sprintf("the collection begins with %d chunks", len(w.Chunks)),
			fmt.Sprintf("%d were asked for", len(bounds)+1)}
	}
	for i := range w.Chunks {
		c, shard := &w.Chunks[i], shards[i%len(shards)]
		if c.Shard != shard || i < len(bounds) && c.Max != bounds[i] {
			return f.on(c, fmt.Sprintf("chunk %d was asked for on %s", i, shard))
		}
	}
	return nil
}

func (f *fields) on(c *trace.Chunk, because string) *flaw {
	return &flaw{fmt.Sprintf("%s is on %s", f.name(c), c.Shard), because}
}

// onEach is how many chunks each shard that takes chunks gets of a collection that is placed by
// hash.
func (l *Layout) onEach(takers int) int {
	if l.Chunks == 0 || takers == 0 {
		return 2
	}
	return (l.Chunks + takers - 1) / takers
}

// flawPlaced: bounds that were given are dealt to all that take chunks, and zones decide before
// hashes do. Everything else is one chunk, on the database's primary shard if that takes chunks.
func (f *fields) flawPlaced(w *model.Write, cluster *model.Cluster, l *Layout) *flaw {
	all, home := takers(cluster), f.home(w.NS)
	chunks, each := 1, 1
	switch {
	case l.Again == Dealt:
		return f.flawDealt(w, l.Bounds, all)
	case cluster.Zoned(w.NS):
		return f.flawZoned(w, cluster, all)
	case l.Again == PlacedByHash:
		each = l.onEach(len(all))
		chunks = each * len(all)
	}
	if len(w.Chunks) != chunks {
		return &flaw{fmt.Sprintf("the collection begins with %d chunks", len(w.Chunks)),
			fmt.Sprintf("it has no zones, and %d shards take chunks", len(all))}
	}
	for i := range w.Chunks {
		c := &w.Chunks[i]
		switch {
		case !slices.Contains(all, c.Shard):
			return f.on(c, fmt.Sprintf("only %v take chunks", all))
		case l.Again == PlacedByHash && c.Shard != all[i/each]:
			return f.on(c, fmt.Sprintf("each shard in turn gets %d chunks", each))
		case l.Again == Placed && c.Shard != home && f.settled(w.NS) && slices.Contains(all, home):
			return f.on(c, "the database is on "+home)
		}
	}
	return nil
}

// flawZoned: each range of a zone is a chunk, and each gap between them. The shards of a zone take
// its ranges in turn, and all shards the gaps.
func (f *fields) flawZoned(w *model.Write, cluster *model.Cluster, all []string) *flaw {
	turn := map[string]int{}
	for i := range w.Chunks {
		c := &w.Chunks[i]
		zone := cluster.Zone(w.NS, c.Min, c.Max)
		members := slices.DeleteFunc(slices.Clone(all), func(shard string) bool {
			return !cluster.InZone(shard, zone)
		})
		gap := zone == "" && i > 0 && cluster.Zone(w.NS, w.Chunks[i-1].Min, c.Min) == ""
		switch {
		case zone == "" && cluster.Crosses(w.NS, c.Min, c.Max):
			return f.on(c, "it is of another zone, or of more than one")
		case gap || zone != "" && !cluster.Assigned(w.NS, c.Min, c.Max):
			return f.on(c, "each range of a zone, and each gap, is one chunk")
		case len(members) == 0:
			return f.on(c, fmt.Sprintf("no shard of zone %q takes chunks", zone))
		case c.Shard != members[turn[zone]%len(members)]:
			return f.on(c, fmt.Sprintf("it is number %d of zone %q, whose shards are %v",
				turn[zone]+1, zone, members))
		}
		turn[zone]++
	}
	return nil
}

// Copied are the times from when to when a collection was copied by moves of its primary in 4.2
// that took effect, in virtual nanoseconds: an index that clients make or drop meanwhile may be
// left behind, as a document may (protocol 15). A collection that was always sharded has none.
func (o *Oracle) Copied(ns string) (all [][2]int64) {
	if !o.plain[ns] {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(o.primaries)) {
		p := o.primaries[id]
		if p.database != databaseOf(ns) || p.copied[0] == 0 || p.written == 0 {
			continue
		}
		span := p.copied
		if span[1] == 0 {
			span[1] = math.MaxInt64
		}
		all = append(all, span)
	}
	return all
}
