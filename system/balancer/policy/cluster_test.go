package policy_test

import (
	"fmt"
	"iter"
	"slices"
	"sort"
	"testing"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/splitvector"
)

// cluster is a world of shards and collections in which rounds are carried out at once and without
// failure.
type cluster struct {
	t       fataler
	shards  []policy.Shard
	colls   []*policy.Collection
	bySize  bool
	seconds int64
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// documents of a size of 1 have the keys from 0 to span-1, so the data in a range is its width.
const span = 2000

var documents = func() []key.Key {
	all := make([]key.Key, span)
	for i := range all {
		all[i] = key.Int(int64(i))
	}
	return all
}()

func index(rng key.Range, down bool) iter.Seq2[key.Key, int] {
	from, to := first(rng.Min), first(rng.Max)
	return func(yield func(key.Key, int) bool) {
		for i := from; i < to; i++ {
			at := i
			if down {
				at = from + to - 1 - i
			}
			if !yield(documents[at], 1) {
				return
			}
		}
	}
}

func first(k key.Key) int {
	return sort.Search(span, func(i int) bool { return documents[i] >= k })
}

// data is how much of a collection a shard has.
func data(t *catalog.Table, shard string) (n int64) {
	for _, rng := range t.Owned(shard) {
		n += int64(first(rng.Max) - first(rng.Min))
	}
	return n
}

// newTable makes a table of chunks with these inner bounds; chunk i goes to the owner of i.
func newTable(
	t fataler, ns string, bounds []key.Key, owner func(i int) string, jumbo func(i int) bool,
) *catalog.Table {
	t.Helper()
	coll := catalog.Collection{
		NS:              ns,
		UUID:            ns,
		Epoch:           ns,
		Timestamp:       hlc.At(1),
		Key:             key.Pattern{Field: "k"},
		AllowMigrations: true,
	}
	chunks, err := catalog.First(coll, bounds, []string{"nobody"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range chunks {
		chunks[i].Shard = owner(i)
		chunks[i].History = []catalog.Placement{{ValidAfter: hlc.At(1), Shard: chunks[i].Shard}}
		chunks[i].Jumbo = jumbo(i)
	}
	table, err := catalog.NewTable(coll, chunks)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func never(int) bool { return false }

// round chooses without carrying out.
func (c *cluster) round(order []int) []policy.Migration { return c.choice(order).Migrations() }

func (c *cluster) choice(order []int) *policy.Round {
	choose := (*policy.Round).ByCount
	if c.bySize {
		choose = (*policy.Round).BySize
	}
	return policy.Choose(c.shards, order, choose, c.known)
}

func (c *cluster) known(batch []int) []policy.Collection {
	var known []policy.Collection
	for _, i := range batch {
		coll := *c.colls[i]
		coll.Bytes = make(map[string]int64)
		for _, s := range c.shards {
			coll.Bytes[s.Name] = data(coll.Table, s.Name)
		}
		known = append(known, coll)
	}
	return known
}

func (c *cluster) order() []int { return policy.Shuffled(len(c.colls), uint64(c.seconds)) }

// carryOut moves what was chosen, all or a part of a chunk.
func (c *cluster) carryOut(migrations []policy.Migration) {
	c.t.Helper()
	for _, m := range migrations {
		i := slices.IndexFunc(c.colls, func(o *policy.Collection) bool {
			return o.Table.Collection().NS == m.NS
		})
		coll, rng := c.colls[i], m.Chunk.Range
		if m.Open {
			whole := data(coll.Table, m.Chunk.Shard)
			rng = splitvector.Upper(index, rng, splitvector.Extent{Documents: whole, Bytes: whole},
				coll.ChunkBytes)
		}
		c.seconds++
		moved, err := catalog.Move(coll.Table, rng, m.Chunk.Shard, m.To, hlc.At(c.seconds*1000),
			catalog.HistoryWindow{})
		if err == nil {
			coll.Table, err = coll.Table.With(moved)
		}
		if err != nil {
			c.t.Fatalf("%v: %v", m, err)
		}
	}
}

// check holds a round to what is promised of every round.
func (c *cluster) check(migrations []policy.Migration) {
	c.t.Helper()
	used := map[string]string{}
	for _, m := range migrations {
		for _, s := range []string{m.Chunk.Shard, m.To} {
			if other, twice := used[s]; twice {
				c.t.Fatalf("%s takes part in %s and in %v", s, other, m)
			}
			used[s] = m.String()
		}
		i := slices.IndexFunc(c.colls, func(o *policy.Collection) bool {
			return o.Table.Collection().NS == m.NS
		})
		c.checkOne(c.colls[i], m)
	}
	if len(migrations) > len(c.shards)/2 {
		c.t.Fatalf("%d migrations between %d shards", len(migrations), len(c.shards))
	}
}

func (c *cluster) checkOne(coll *policy.Collection, m policy.Migration) {
	c.t.Helper()
	to := c.shard(m.To)
	zone := coll.Zones.Of(m.Chunk.Range)
	switch now := coll.Table.Owner(m.Chunk.Min); {
	case now.Range != m.Chunk.Range || now.Shard != m.Chunk.Shard || now.Version != m.Chunk.Version:
		c.t.Fatalf("%v, but the table has %v", m, now)
	case now.Jumbo:
		c.t.Fatalf("%v is jumbo", m)
	case to.Draining:
		c.t.Fatalf("%v goes to a shard that drains", m)
	case to.MaxBytes > 0 && to.Bytes >= to.MaxBytes:
		c.t.Fatalf("%v goes to a full shard", m)
	case zone != "" && !slices.Contains(to.Zones, zone):
		c.t.Fatalf("%v leaves zone %s", m, zone)
	case coll.Zones.Crosses(m.Chunk.Range):
		c.t.Fatalf("%v is to be split first", m)
	case coll.Off:
		c.t.Fatalf("%v is to be left alone", m)
	}
	c.checkReason(coll, m, zone)
}

func (c *cluster) checkReason(coll *policy.Collection, m policy.Migration, zone string) {
	c.t.Helper()
	from := c.shard(m.Chunk.Shard)
	stray := zone != "" && !slices.Contains(from.Zones, zone)
	switch {
	case m.Reason == policy.Draining && !from.Draining, m.Reason == policy.ZoneViolation && !stray:
		c.t.Fatalf("%v for no reason", m)
	case m.Reason == policy.Imbalance && (from.Draining || stray):
		c.t.Fatalf("%v is more urgent", m)
	}
}

func (c *cluster) shard(name string) policy.Shard {
	i := slices.IndexFunc(c.shards, func(s policy.Shard) bool { return s.Name == name })
	return c.shards[i]
}

// split does what comes before every round: no chunk crosses the boundary of a zone.
func (c *cluster) split() {
	c.t.Helper()
	for _, coll := range c.colls {
		coll.Table = splitAll(c.t, coll.Table, policy.ZoneSplits(coll))
	}
}

// settle carries out rounds until nothing is chosen and returns how many there were.
func (c *cluster) settle(most int, each func(migrations []policy.Migration, carryOut func())) int {
	c.t.Helper()
	for rounds := 0; ; rounds++ {
		c.split()
		migrations := c.round(c.order())
		c.check(migrations)
		if len(migrations) == 0 {
			return rounds
		}
		if rounds >= most {
			c.t.Fatalf("still moving after %d rounds: %v\n%s", rounds, migrations, c.describe())
		}
		each(migrations, func() { c.carryOut(migrations) })
	}
}

func (c *cluster) describe() string {
	said := ""
	for _, coll := range c.colls {
		said += coll.Table.Collection().NS + "\n"
		for _, s := range c.shards {
			said += fmt.Sprintf("  %s: %d chunks, %d of data\n",
				s.Name, coll.Table.Count(s.Name), data(coll.Table, s.Name))
		}
	}
	return said
}

var _ fataler = (*testing.T)(nil)
