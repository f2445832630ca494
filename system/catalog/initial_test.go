package catalog_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
)

func placement(t testing.TB, chunks []catalog.Chunk, err error) string {
	t.Helper()
	if err != nil {
		return err.Error()
	}
	now, err := catalog.NewTable(coll, chunks)
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for c := range now.Chunks() {
		said += fmt.Sprintf("%v %s\n", c.Range, c.Shard)
	}
	return said
}

func TestFirstHashed(t *testing.T) {
	chunks, err := catalog.FirstHashed(coll, []string{"shard-a", "shard-b"}, 2)
	want := `[MinKey, -4611686018427387902) shard-a
[-4611686018427387902, 0) shard-a
[0, 4611686018427387902) shard-b
[4611686018427387902, MaxKey) shard-b
`
	if got := placement(t, chunks, err); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	chunks, err = catalog.FirstHashed(coll, []string{"shard-a", "shard-b", "shard-c"}, 1)
	want = `[MinKey, -3074457345618258602) shard-a
[-3074457345618258602, 3074457345618258602) shard-b
[3074457345618258602, MaxKey) shard-c
`
	if got := placement(t, chunks, err); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, each := range []int{0, -1} {
		_, err := catalog.FirstHashed(coll, []string{"shard-a"}, each)
		if !errcode.Is(err, errcode.BadValue) {
			t.Errorf("%d chunks for each: %v", each, err)
		}
	}
}

func TestFirstZoned(t *testing.T) {
	zones := zoned(t, "0 10 A", "10 20 A", "20 30 B", "40 50 A")
	members := map[string][]string{
		"":  {"shard-a", "shard-b", "shard-c"},
		"A": {"shard-a", "shard-b"},
		"B": {"shard-c"},
	}
	chunks, err := catalog.FirstZoned(coll, zones, members)
	want := `[MinKey, 0) shard-a
[0, 10) shard-a
[10, 20) shard-b
[20, 30) shard-c
[30, 40) shard-b
[40, 50) shard-a
[50, MaxKey) shard-c
`
	if got := placement(t, chunks, err); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	delete(members, "B")
	if _, err := catalog.FirstZoned(coll, zones, members); !errcode.Is(err, errcode.BadValue) {
		t.Errorf("a zone without shards: %v", err)
	}
}

// TestInitialChunks: hashed chunks are as many as asked for and equally many for each shard, of
// shares of the hashes that differ by less than the number of chunks; zoned chunks are never
// outside their zones.
func TestInitialChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var shards []string
		for i := range rapid.IntRange(1, 20).Draw(t, "shards") {
			shards = append(shards, fmt.Sprintf("shard-%02d", i))
		}
		each := rapid.IntRange(1, 9).Draw(t, "each")
		chunks, err := catalog.FirstHashed(coll, shards, each)
		if err != nil {
			t.Fatal(err)
		}
		now, err := catalog.NewTable(coll, chunks)
		if err != nil || now.Len() != len(shards)*each {
			t.Fatalf("%v, %v", chunks, err)
		}
		for _, s := range shards {
			if now.Count(s) != each || len(now.Owned(s)) != 1 {
				t.Fatalf("%s owns %v in %d chunks", s, now.Owned(s), now.Count(s))
			}
		}
		checkShares(t, catalog.HashedBounds(now.Len()))
		checkZoned(t, drawZones(t), shards)
	})
}

func checkShares(t *rapid.T, bounds []key.Key) {
	for i, b := range bounds {
		if mirror := bounds[len(bounds)-1-i]; number(t, b) != -number(t, mirror) {
			t.Fatalf("the bounds %v and %v are not symmetric", b, mirror)
		}
		if i > 1 && number(
			t, b,
		)-number(t, bounds[i-1]) != number(t, bounds[i-1])-number(t, bounds[i-2]) {
			t.Fatalf("the bounds %v are not evenly spaced", bounds)
		}
	}
}

func number(t *rapid.T, k key.Key) int64 {
	v, err := key.Decode(k)
	if err != nil {
		t.Fatal(err)
	}
	return v.Int64()
}

func checkZoned(t *rapid.T, zones catalog.Zones, shards []string) {
	members := map[string][]string{
		"":  shards,
		"A": shards[:1],
		"B": shards[len(shards)/2:],
		"C": shards[len(shards)-1:],
	}
	chunks, err := catalog.FirstZoned(coll, zones, members)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.NewTable(coll, chunks); err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks {
		allowed := false
		for _, s := range members[zones.Of(c.Range)] {
			allowed = allowed || s == c.Shard
		}
		if !allowed || len(zones.Boundaries(c.Range)) > 0 {
			t.Fatalf("%v is in zone %q", c, zones.Of(c.Range))
		}
	}
}
