package grounds

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

const ns = "test.docs"

// catalog is a world with its past. Every change of it is one entry, which a majority has at once.
type catalog struct {
	world *model.World
	past  Past
	index uint64
	now   int64
}

func newCatalog() *catalog {
	c := &catalog{world: model.New()}
	c.world.Committed = func(w *model.Write) { c.past.Written(c.world, w.NS, c.now) }
	c.world.Administered = func(*trace.Event) { c.past.Administered(c.world, c.now) }
	c.observe(trace.ElectedEvent{Shard: model.Config, Term: 1}.Event())
	c.shard("a", trace.ShardAdded, "")
	c.shard("b", trace.ShardAdded, "hot")
	c.zone("m", "t", "hot")
	c.write("e", "a", "k", "a", "z", "b")
	return c
}

func (c *catalog) observe(e *trace.Event) {
	e.Node = "config.0"
	c.world.Observe(e)
}

func (c *catalog) commit(e *trace.Event) {
	c.now++
	c.index++
	e.Shard, e.Term, e.Index = model.Config, 1, c.index
	c.observe(e)
	c.observe(trace.MajorityEvent{Shard: model.Config, Term: 1, Index: c.index}.Event())
}

func (c *catalog) shard(name string, change trace.ClusterChange, zones string) {
	c.commit(trace.ClusterChangedEvent{Peer: name, Change: change, Zones: zones}.Event())
}

func (c *catalog) zone(lo, hi, zone string) {
	c.commit(trace.ClusterChangedEvent{
		NS: ns, Min: lo, Max: hi, Change: trace.ZoneRange, Zones: zone,
	}.Event())
}

// write gives the collection chunks: the upper bound and the shard of each.
func (c *catalog) write(chunks ...string) {
	e := trace.CatalogWrittenEvent{NS: ns, Why: "made"}
	lo := ""
	for i := 0; i < len(chunks); i += 2 {
		e.Chunks = append(e.Chunks, trace.Chunk{
			Min: lo, Max: chunks[i], Shard: chunks[i+1], Epoch: "one", Major: uint32(c.index + 1),
		})
		lo = chunks[i]
	}
	c.commit(e.Event())
}

func (c *catalog) drop() {
	c.commit(trace.CatalogWrittenEvent{NS: ns, Why: trace.Dropped.String()}.Event())
}

// Of what a ground says, it holds as the catalog is, and does not.
func TestGrounds(t *testing.T) {
	for name, c := range map[string]struct {
		holds, not *Ground
	}{
		"a range of a zone": {Overlaps(ns, "s", "u", "hot"), Overlaps(ns, "t", "u", "hot")},
		"below one":         {Overlaps(ns, "l", "n", "hot"), Overlaps(ns, "l", "m", "hot")},
		"the same range":    {Overlaps(ns, "m", "t", "cold"), Overlaps(ns, "m", "t", "hot")},
		"other collections": {Overlaps(ns, "m", "u", "hot"), Overlaps("test.more", "m", "u", "hot")},
		"shards of a zone":  {NoShardOf("cold"), NoShardOf("hot")},
		"shards":            {NoShard("c"), NoShard("b")},
		"shards that take":  {Closed("a", "c"), Closed("a", "b")},
		"one of a zone":     {LastOf("b", "hot"), LastOf("a", "hot")},
		"an empty zone":     {LastOf("b", "hot"), LastOf("b", "cold")},
		"zones of a shard":  {LastOfAny("b"), LastOfAny("a")},
		"the last shard":    {LastShard("b"), nil},
		"a limit":           {OtherLimit("a", 9), OtherLimit("a", 0)},
		"no limit":          {OtherLimit("a", 9), OtherLimit("c", 9)},
		"a collection":      {NotSharded("test.more"), NotSharded(ns)},
		"a name":            {Named(ns), Named("test.more")},
		"an incarnation":    {OtherEpoch(ns, "two"), OtherEpoch(ns, "one")},
		"an owner":          {NotOn(ns, "k", "a"), NotOn(ns, "e", "a")},
		"a chunk":           {NoChunk(ns, "e", "z"), NoChunk(ns, "e", "k")},
		"the end of one":    {NoChunk(ns, "", "k"), NoChunk(ns, "k", "z")},
		"chunks":            {NotWhole(ns, "", "z"), NotWhole(ns, "", "k")},
		"a part of one":     {NotWhole(ns, "", "f"), NotWhole(ns, "", "e")},
		"from inside":       {NotWhole(ns, "b", "k"), NotWhole(ns, "k", "z")},
		"none at all":       {NoChunk("test.more", "", "k"), Never("it is so")},
	} {
		world := newCatalog()
		if name == "the last shard" {
			if world.past.Held(world.world, LastShard("b"), world.now+1) {
				t.Errorf("%s: a stays", name)
			}
			world.shard("a", trace.ShardDraining, "")
		}
		if !world.past.Held(world.world, c.holds, world.now+1) {
			t.Errorf("%s: %q does not hold", name, c.holds.Wants)
		}
		if c.not != nil && world.past.Held(world.world, c.not, world.now+1) {
			t.Errorf("%s: %q holds", name, c.not.Wants)
		}
	}
}

// What was so counts from the moment at which the request came, and not what was so before.
func TestPast(t *testing.T) {
	c := newCatalog()
	c.drop()
	dropped := c.now
	c.write("z", "a")
	c.shard("a", trace.ShardDraining, "")
	c.shard("a", trace.ShardRemoved, "")
	c.shard("a", trace.ShardAdded, "")
	for name, want := range map[string]struct {
		ground *Ground
		since  int64
		held   bool
	}{
		"dropped while it was asked":    {NotSharded(ns), dropped, true},
		"made just then":                {NotSharded(ns), dropped + 1, true},
		"dropped before":                {NotSharded(ns), dropped + 2, false},
		"another table before":          {NoChunk(ns, "", "z"), dropped, true},
		"drains meanwhile":              {Closed("a"), dropped + 2, true},
		"gone meanwhile":                {NoShard("a"), c.now, true},
		"gone before":                   {NoShard("a"), c.now + 1, false},
		"a range that was never there":  {Overlaps(ns, "a", "b", "hot"), dropped, false},
		"before anything was known":     {Never("it is so"), 0, true},
		"while something is known":      {Never("it is so"), dropped, false},
		"when it has been for long now": {NotOn(ns, "a", "a"), c.now, false},
	} {
		if held := c.past.Held(c.world, want.ground, want.since); held != want.held {
			t.Errorf("%s: %v", name, held)
		}
	}
}

// TestThroughout: with a ground that did not hold once, a request may have been granted.
func TestThroughout(t *testing.T) {
	c := newCatalog()
	made := c.now
	c.drop()
	dropped := c.now
	c.write("z", "a")
	c.shard("b", trace.ShardDraining, "hot")
	for name, want := range map[string]struct {
		ground *Ground
		since  int64
		held   bool
	}{
		"there all the while":       {Named(ns), dropped + 2, true},
		"made just then":            {Named(ns), dropped + 1, false},
		"dropped and made again":    {Named(ns), made, false},
		"never there":               {NotSharded("test.more"), made, true},
		"drains from now on":        {Closed("b"), c.now, false},
		"drains":                    {Closed("b"), c.now + 1, true},
		"in any case":               {Always("it is so"), made, true},
		"before anything was known": {Always("it is so"), 0, false},
	} {
		if held := c.past.Throughout(c.world, want.ground, want.since); held != want.held {
			t.Errorf("%s: %v", name, held)
		}
	}
}

// Of what is too long ago nothing is said.
func TestForgotten(t *testing.T) {
	c := newCatalog()
	began := c.now
	for range 2 * kept {
		c.zone("m", "t", "hot")
	}
	never := Never("it is so")
	if !c.past.Held(c.world, never, began) || c.past.Held(c.world, never, c.now-kept/2) {
		t.Error("what is forgotten is no proof, and what is remembered is")
	}
	if c.past.Throughout(c.world, Always("it is so"), began) {
		t.Error("what is forgotten is a proof")
	}
}
