package policy_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
)

// drawCluster draws shards, some draining, some full and some of zones, and collections with chunks
// anywhere.
func drawCluster(t *rapid.T) *cluster {
	c := &cluster{t: t, bySize: rapid.Bool().Draw(t, "by size"), seconds: 1}
	for i := range rapid.IntRange(1, 9).Draw(t, "shards") {
		s := policy.Shard{
			Name:     fmt.Sprintf("shard-%c", 'a'+i),
			Draining: rapid.IntRange(0, 5).Draw(t, "draining") == 0,
		}
		for _, zone := range []string{"A", "B"} {
			if rapid.Bool().Draw(t, "in zone") {
				s.Zones = append(s.Zones, zone)
			}
		}
		if rapid.IntRange(0, 7).Draw(t, "full") == 0 {
			s.Bytes, s.MaxBytes = 10, 10
		}
		c.shards = append(c.shards, s)
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "collections") {
		c.colls = append(c.colls, drawCollection(t, fmt.Sprintf("test.c%d", i), c.shards))
	}
	return c
}

// plain takes away what may keep a cluster from balance for good.
func (c *cluster) plain() {
	for i := range c.shards {
		c.shards[i] = policy.Shard{Name: c.shards[i].Name}
	}
	for _, coll := range c.colls {
		coll.Zones, coll.Off = nil, false
		chunks := slices.Collect(coll.Table.Chunks())
		for i := range chunks {
			chunks[i].Jumbo = false
		}
		coll.Table, _ = catalog.NewTable(coll.Table.Collection(), chunks)
	}
}

var inner = rapid.Custom(func(t *rapid.T) key.Key {
	return key.Int(rapid.Int64Range(0, span).Draw(t, "bound"))
})

func drawCollection(t *rapid.T, ns string, shards []policy.Shard) *policy.Collection {
	bounds := slices.Compact(
		slices.Sorted(slices.Values(rapid.SliceOfN(inner, 0, 40).Draw(t, "bounds"))),
	)
	coll := &policy.Collection{
		Off:        rapid.IntRange(0, 9).Draw(t, "off") == 0,
		ChunkBytes: rapid.Int64Range(20, 300).Draw(t, "chunk"),
	}
	few := shards[:rapid.IntRange(1, len(shards)).Draw(t, "owners")]
	coll.Table = newTable(t, ns, bounds,
		func(int) string { return rapid.SampledFrom(few).Draw(t, "owner").Name },
		func(int) bool { return rapid.IntRange(0, 9).Draw(t, "jumbo") == 0 })
	for range rapid.IntRange(0, 4).Draw(t, "zones") {
		a, b := inner.Draw(t, "zone min"), inner.Draw(t, "zone max")
		z, err := coll.Zones.Assign(key.Range{Min: min(a, b), Max: max(a, b)},
			rapid.SampledFrom([]string{"A", "B"}).Draw(t, "zone"))
		if err == nil {
			coll.Zones = z
		}
	}
	return coll
}

// bound of rounds: no chunk moves twice by counts without a more urgent reason; by sizes every part
// that moves, at least a chunk or all there is, makes the cluster more even.
func (c *cluster) bound() (rounds int) {
	for _, coll := range c.colls {
		rounds += 2*coll.Table.Len() + 10
		if c.bySize {
			rounds += 4 * len(c.shards) * span / int(coll.ChunkBytes)
		}
	}
	return rounds
}

// TestRounds: from any distribution, rounds keep what is promised of each, make progress, and end
// within a bound; at the end nothing is left that a round could have done.
func TestRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		c.split()
		before := c.trouble()
		c.settle(c.bound(), func(migrations []policy.Migration, carryOut func()) {
			carryOut()
			after := c.trouble()
			if !after.less(before) {
				t.Fatalf("no progress with %v: from %+v to %+v\n%s",
					migrations, before, after, c.describe())
			}
			before = after
		})
		c.checkRescued()
	})
}

// trouble is what rounds take away: misplaced data and chunks first, then the unevenness of what is
// in its place. A round that has moved an empty chunk has at least moved it towards less data.
type trouble struct{ misplaced, misplacedChunks, uneven, unevenChunks int64 }

func (a trouble) less(b trouble) bool {
	x := []int64{a.misplaced, a.misplacedChunks, a.uneven, a.unevenChunks}
	y := []int64{b.misplaced, b.misplacedChunks, b.uneven, b.unevenChunks}
	return slices.Compare(x, y) < 0
}

// trouble by counts is about chunks alone; by sizes about data, and about chunks without data only
// among equals.
func (c *cluster) trouble() (sum trouble) {
	for _, coll := range c.colls {
		chunks, bytes := map[string]map[string]int64{}, map[string]int64{}
		for chunk := range coll.Table.Chunks() {
			zone, size := coll.Zones.Of(chunk.Range), int64(first(chunk.Max)-first(chunk.Min))
			s := c.shard(chunk.Shard)
			if s.Draining || zone != "" && !slices.Contains(s.Zones, zone) {
				sum.misplacedChunks++
				if c.bySize {
					sum.misplaced += size
				}
			}
			if chunks[zone] == nil {
				chunks[zone] = map[string]int64{}
			}
			chunks[zone][chunk.Shard]++
			bytes[chunk.Shard] += size
		}
		if c.bySize {
			sum.uneven += squares(bytes)
			sum.unevenChunks += emptyOnHeavy(coll.Table, bytes)
			continue
		}
		for zone := range chunks {
			sum.unevenChunks += squares(chunks[zone])
		}
	}
	return sum
}

func squares(load map[string]int64) (sum int64) {
	for _, n := range load {
		sum += n * n
	}
	return sum
}

// emptyOnHeavy weighs chunks without documents by the data of their shards.
func emptyOnHeavy(t *catalog.Table, bytes map[string]int64) (sum int64) {
	for chunk := range t.Chunks() {
		if first(chunk.Max) == first(chunk.Min) {
			sum += bytes[chunk.Shard]
		}
	}
	return sum
}

// checkRescued looks for chunks that are still where they must not be although somebody could have
// them.
func (c *cluster) checkRescued() {
	for _, coll := range c.colls {
		if coll.Off {
			continue
		}
		for chunk := range coll.Table.Chunks() {
			from, zone := c.shard(chunk.Shard), coll.Zones.Of(chunk.Range)
			stray := zone != "" && !slices.Contains(from.Zones, zone)
			if (from.Draining || stray) && !chunk.Jumbo && c.somebodyTakes(zone) {
				c.t.Fatalf("%v was left where it is", chunk)
			}
		}
	}
}

func (c *cluster) somebodyTakes(zone string) bool {
	return slices.ContainsFunc(c.shards, func(s policy.Shard) bool {
		return !s.Draining && (s.MaxBytes == 0 || s.Bytes < s.MaxBytes) &&
			(zone == "" || slices.Contains(s.Zones, zone))
	})
}

// TestBalanced: when nothing stands in the way, the end is balance: by counts no shard has too many
// while another has too few, by sizes less than three chunks are between the most and the least.
func TestBalanced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		c.plain()
		c.settle(c.bound(), func(_ []policy.Migration, carryOut func()) { carryOut() })
		for _, coll := range c.colls {
			var counts, bytes []int64
			for _, s := range c.shards {
				counts = append(counts, int64(coll.Table.Count(s.Name)))
				bytes = append(bytes, data(coll.Table, s.Name))
			}
			n := int64(len(c.shards))
			ideal := (2*int64(coll.Table.Len()) + n) / (2 * n)
			switch {
			case !c.bySize && slices.Max(counts) > ideal && slices.Min(counts) < ideal:
				t.Fatalf("the counts are %v, the ideal is %d", counts, ideal)
			case c.bySize && slices.Max(bytes)-slices.Min(bytes) >= 3*coll.ChunkBytes:
				t.Fatalf("the sizes are %v, a chunk is %d", bytes, coll.ChunkBytes)
			}
		}
	})
}

// TestNoPingPong: whole chunks never come back to a shard that they have left, and what has settled
// stays settled.
func TestNoPingPong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		c.bySize = false
		left := map[string]bool{}
		c.settle(c.bound(), func(migrations []policy.Migration, carryOut func()) {
			for _, m := range migrations {
				chunk := fmt.Sprint(m.NS, m.Chunk.Range)
				if left[chunk+m.To] {
					t.Fatalf("%v, which it has left before", m)
				}
				left[chunk+m.Chunk.Shard] = true
			}
			carryOut()
		})
		for seed := range uint64(5) {
			if again := c.round(policy.Shuffled(len(c.colls), seed)); len(again) > 0 {
				t.Fatalf("settled, and then %v", again)
			}
		}
	})
}

// TestAtRandom: random migrations keep what is promised, depend on the seed alone, and differ
// between seeds.
func TestAtRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		seed := rapid.Uint64().Draw(t, "seed")
		chosen := func() []policy.Migration {
			r := policy.NewRound(c.shards)
			for _, coll := range c.colls {
				r.AtRandom(coll, seed, c.bySize)
			}
			return r.Migrations()
		}
		migrations := chosen()
		c.check(migrations)
		slices.Reverse(c.shards) // the order in which shards are told does not matter
		if again := chosen(); fmt.Sprint(again) != fmt.Sprint(migrations) {
			t.Fatalf("%v, and then %v", migrations, again)
		}
	})
	var shards []policy.Shard
	for i := range 10 {
		shards = append(shards, policy.Shard{Name: fmt.Sprint("shard-", i)})
	}
	table := newTable(t, "test.docs", documents[:99], func(i int) string {
		return shards[i%10].Name
	}, never)
	seen := map[string]bool{}
	for seed := range uint64(50) {
		r := policy.NewRound(shards)
		r.AtRandom(&policy.Collection{Table: table}, seed, false)
		if n := len(r.Migrations()); n != 5 {
			t.Errorf("%d migrations between 10 shards", n)
		}
		for _, m := range r.Migrations() {
			seen[m.String()] = true
		}
	}
	if len(seen) < 200 {
		t.Errorf("50 rounds chose %d different migrations only", len(seen))
	}
}

// TestShuffled: every permutation of four comes up, about equally often.
func TestShuffled(t *testing.T) {
	times := map[string]int{}
	const seeds = 24_000
	for seed := range uint64(seeds) {
		order := policy.Shuffled(4, seed)
		times[fmt.Sprint(order)]++
		if slices.Sort(order); !slices.Equal(order, []int{0, 1, 2, 3}) {
			t.Fatalf("%v is no permutation", order)
		}
	}
	counts := slices.Sorted(maps.Values(times))
	if len(counts) != 24 || counts[0] < 850 || counts[23] > 1150 {
		t.Errorf("%d permutations, between %d and %d times",
			len(counts), counts[0], counts[len(counts)-1])
	}
}

// TestBatches: data is asked for in batches of 100 collections, and not any more when no shards are
// left.
func TestBatches(t *testing.T) {
	shards := []policy.Shard{{Name: "a"}, {Name: "b"}}
	table := newTable(t, "test.docs", documents[:9], func(int) string { return "a" }, never)
	var asked []int
	known := func(busy int) func(batch []int) []policy.Collection {
		return func(batch []int) []policy.Collection {
			asked = append(asked, len(batch))
			some := make([]policy.Collection, len(batch))
			for i, n := range batch {
				some[i] = policy.Collection{Table: table, Off: n != busy}
			}
			return some
		}
	}
	order := policy.Shuffled(250, 1)
	for place, want := range map[int]string{249: "[100 100 50]", 120: "[100 100]", 3: "[100]"} {
		asked = nil
		m := policy.Choose(shards, order, (*policy.Round).ByCount,
			known(order[place])).Migrations()
		if len(m) != 1 || fmt.Sprint(asked) != want {
			t.Errorf("%v after batches of %v, want %s", m, asked, want)
		}
	}
}

// TestReceiver: a single chunk goes to the shard of its zone with the fewest chunks, unless that is
// its own.
func TestReceiver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		coll := c.colls[0]
		chunk := rapid.SampledFrom(slices.Collect(coll.Table.Chunks())).Draw(t, "chunk")
		to, ok := policy.NewRound(c.shards).Receiver(coll, chunk)
		if !ok {
			return
		}
		if s := c.shard(to); to == chunk.Shard || coll.Off || s.Draining ||
			coll.Zones.Crosses(chunk.Range) {
			t.Fatalf("%v to %s", chunk, to)
		}
		for _, s := range c.shards {
			zone := coll.Zones.Of(chunk.Range)
			takes := !s.Draining && (s.MaxBytes == 0 || s.Bytes < s.MaxBytes) &&
				(zone == "" || slices.Contains(s.Zones, zone))
			if takes && coll.Table.Count(s.Name) < coll.Table.Count(to) {
				t.Fatalf("%v to %s, but %s has fewer chunks", chunk, to, s.Name)
			}
		}
	})
}
