package policy_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// sized is the collection with what its shards say of their chunks.
func sized(coll *policy.Collection) *policy.Collection {
	c := *coll
	c.Sizes = map[key.Key]int64{}
	for chunk := range c.Table.Chunks() {
		c.Sizes[chunk.Min] = int64(first(chunk.Max) - first(chunk.Min))
	}
	return &c
}

// defragmentation is a round: what can be joined by now, and then migrations.
func (c *cluster) defragmentation(
	before hlc.Timestamp,
) (merged bool, migrations []policy.Migration) {
	c.t.Helper()
	r := policy.NewRound(c.shards)
	for _, coll := range c.colls {
		for _, m := range policy.FragmentMerges(coll, before) {
			c.join(coll, m, before)
			merged = true
		}
		r.Defragment(sized(coll))
	}
	return merged, r.Migrations()
}

// join does what a shard and the config server do.
func (c *cluster) join(coll *policy.Collection, m policy.Merge, before hlc.Timestamp) {
	c.t.Helper()
	changed, err := catalog.MergeAll(coll.Table,
		catalog.MergeableOn(coll.Table, coll.Zones, m.Shard, before), catalog.Minor)
	if err == nil && len(changed) > 0 {
		coll.Table, err = coll.Table.With(changed)
	}
	if err != nil || len(changed) == 0 {
		c.t.Fatalf("%v: %d chunks, %v", m, len(changed), err)
	}
}

// TestDefragment: rounds keep what is promised of each, whatever part of what moved may be joined
// already; never more chunks; and at the end, within a bounded number of rounds, nothing is left to
// be done.
func TestDefragment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for _, coll := range c.colls {
			coll.Defragment = true
		}
		window := rapid.Int64Range(0, 20).Draw(t, "window")
		for rounds, waited := 0, false; ; rounds++ {
			chunks := c.chunks()
			merged, migrations := c.defragmentation(hlc.At((c.seconds - window) * 1000))
			c.check(migrations)
			c.carryOut(migrations)
			if c.chunks() > chunks {
				t.Fatalf("%d chunks became %d", chunks, c.chunks())
			}
			idle := !merged && len(migrations) == 0
			if idle && waited {
				break
			}
			if waited = idle; idle {
				c.seconds += 1000 // nobody asks for the past any more
			}
			if rounds > 500 {
				t.Fatalf("still at it after %d rounds: %v\n%s", rounds, migrations, c.describe())
			}
		}
		for _, coll := range c.colls {
			if !coll.Off && !policy.Defragmented(sized(coll), c.shards) {
				t.Fatalf("nothing is done, and it is not the end\n%s", c.describe())
			}
		}
	})
}

func (c *cluster) chunks() (n int) {
	for _, coll := range c.colls {
		if err := coll.Table.Validate(); err != nil {
			c.t.Fatal(err)
		}
		n += coll.Table.Len()
	}
	return n
}

// TestFragments: which chunks go where, on a plain table.
func TestFragments(t *testing.T) {
	shards := []policy.Shard{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	for _, c := range []struct {
		about  string
		bounds []int64
		owners string
		jumbo  int
		chunk  int64
		want   string
		done   bool
	}{
		{about: "the smaller neighbour takes it",
			bounds: []int64{700, 710},
			owners: "abc",
			jumbo:  -1,
			chunk:  2000,
			want:   "test.docs [700, 710) b to a (defragmentation)"},
		{
			about:  "a neighbour has no room",
			bounds: []int64{100, 110},
			owners: "abc",
			jumbo:  -1,
			chunk:  100,
			done:   true,
		},
		{
			about:  "not small",
			bounds: []int64{1000, 1010},
			owners: "aba",
			jumbo:  1,
			chunk:  3000,
			done:   true,
		},
		{
			about:  "waits for what it is joined with",
			bounds: []int64{10, 20},
			owners: "aab",
			jumbo:  -1,
			chunk:  3000,
		},
	} {
		coll := &policy.Collection{Defragment: true, ChunkBytes: c.chunk}
		coll.Table = newTable(t, "test.docs", keys(c.bounds), func(i int) string {
			return c.owners[i : i+1]
		}, func(i int) bool { return i == c.jumbo })
		r, got := policy.NewRound(shards), ""
		r.Defragment(sized(coll))
		for _, m := range r.Migrations() {
			got += m.String()
		}
		if done := policy.Defragmented(sized(coll), shards); got != c.want || done != c.done {
			t.Errorf("%s: %q, at its end: %v", c.about, got, done)
		}
		if policy.Defragmented(coll, shards) {
			t.Errorf("%s: at its end without sizes", c.about)
		}
	}
}

// TestFragmentOfUnknownSize: a fragment is not measured before the size of each of its chunks is
// known, so it neither moves nor is moved to.
func TestFragmentOfUnknownSize(t *testing.T) {
	shards := []policy.Shard{{Name: "a"}, {Name: "b"}}
	for _, unknown := range []int64{10, 20} {
		coll := &policy.Collection{Defragment: true, ChunkBytes: 3000}
		coll.Table = newTable(t, "test.docs", keys([]int64{10, 20, 30}), func(i int) string {
			return "baab"[i : i+1]
		}, func(int) bool { return false })
		with := sized(coll)
		delete(with.Sizes, key.Int(unknown))
		r := policy.NewRound(shards)
		r.Defragment(with)
		if got := r.Migrations(); len(got) > 0 {
			t.Errorf("without the size of the chunk at %d: %v", unknown, got)
		}
	}
}

func keys(of []int64) (all []key.Key) {
	for _, n := range of {
		all = append(all, key.Int(n))
	}
	return all
}
