package catalog_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

var coll = catalog.Collection{
	NS: "test.docs", UUID: "u1", Epoch: "e1", Timestamp: hlc.At(1),
	Key: key.Pattern{Field: "k"}, AllowMigrations: true,
}

// table makes a table with the inner bounds, of which chunk i is on shard i mod shards.
func table(t testing.TB, shards int, bounds ...key.Key) *catalog.Table {
	t.Helper()
	var names []string
	for i := range shards {
		names = append(names, fmt.Sprintf("shard-%c", 'a'+i))
	}
	chunks, err := catalog.First(coll, bounds, names)
	if err != nil {
		t.Fatal(err)
	}
	made, err := catalog.NewTable(coll, chunks)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func describe(t *catalog.Table) string {
	var b strings.Builder
	for c := range t.Chunks() {
		fmt.Fprintf(&b, "%v", c.Range)
		fmt.Fprintf(&b, " %s %d|%d history", c.Shard, c.Version.Major, c.Version.Minor)
		for _, p := range c.History {
			fmt.Fprintf(&b, " %s@%d", p.Shard, p.ValidAfter.Millis())
		}
		if c.Jumbo {
			b.WriteString(" jumbo")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "version %v;", t.Version())
	for _, s := range t.Shards() {
		fmt.Fprintf(&b, " %s %v owns %v;", s, t.ShardVersion(s), t.Owned(s))
	}
	return strings.TrimSuffix(b.String(), ";") + "\n"
}

// TestChanges walks through the version rules of protocol 3.2 and the history rules of 3.3.
func TestChanges(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var now *catalog.Table
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "table" {
				shards := 2
				d.MaybeScanArgs(t, "shards", &shards)
				now = table(t, shards, points(t, d)...)
				return describe(now)
			}
			next, said := change(t, now, d)
			if next != nil {
				now = next
			}
			return said
		})
	})
}

func change(t *testing.T, now *catalog.Table, d *datadriven.TestData) (*catalog.Table, string) {
	changed, err := requested(t, now, d)
	if err != nil {
		return nil, err.Error() + "\n"
	}
	if len(changed) == 0 {
		return nil, "nothing to do\n"
	}
	next, err := now.With(changed)
	if err != nil {
		t.Fatal(err)
	}
	return next, describe(next)
}

func requested(t *testing.T, now *catalog.Table, d *datadriven.TestData) ([]catalog.Chunk, error) {
	bump := catalog.Bump(d.HasArg("major"))
	switch d.Cmd {
	case "move":
		var from, to string
		var at, window int
		d.ScanArgs(t, "from", &from)
		d.ScanArgs(t, "to", &to)
		d.ScanArgs(t, "at", &at)
		d.MaybeScanArgs(t, "window", &window)
		return catalog.Move(now, within(t, d), from, to, hlc.At(int64(at)),
			catalog.HistoryWindow{Reach: milliseconds(window)})
	case "split":
		return catalog.Split(now, within(t, d), points(t, d), bump)
	case "merge":
		return catalog.Merge(now, within(t, d), bump)
	case "ensure-newer":
		var major, minor int
		d.ScanArgs(t, "than", &major, &minor)
		v := coll.Version()
		v.Major, v.Minor = uint32(major), uint32(minor)
		return catalog.EnsureNewer(now, within(t, d), v)
	case "mark-jumbo": // no change of its own in the catalog: the version stays
		c := now.Owner(within(t, d).Min)
		c.Jumbo = true
		return []catalog.Chunk{c}, nil
	case "clear-jumbo":
		return catalog.ClearJumbo(now, within(t, d))
	}
	t.Fatalf("no command %s", d.Cmd)
	return nil, nil
}

func bound(t testing.TB, s string) key.Key {
	t.Helper()
	var n int64
	switch s {
	case "min":
		return key.Min
	case "max":
		return key.Max
	}
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatalf("bound %q: %v", s, err)
	}
	return key.Int(n)
}

func within(t *testing.T, d *datadriven.TestData) key.Range {
	var min, max string
	d.ScanArgs(t, "range", &min, &max)
	return key.Range{Min: bound(t, min), Max: bound(t, max)}
}

func points(t *testing.T, d *datadriven.TestData) []key.Key {
	var at []key.Key
	for _, arg := range d.CmdArgs {
		if arg.Key == "at-keys" {
			for _, v := range arg.Vals {
				at = append(at, bound(t, v))
			}
		}
	}
	return at
}

func TestRefusedTables(t *testing.T) {
	ok := func() []catalog.Chunk {
		return slices.Collect(table(t, 2, key.Int(0), key.Int(10)).Chunks())
	}
	for name, c := range map[string]struct {
		spoil func([]catalog.Chunk) []catalog.Chunk
		code  errcode.Code
	}{
		"empty": {
			func([]catalog.Chunk) []catalog.Chunk { return nil },
			errcode.IncompatibleShardingMetadata,
		},
		"gap": {
			func(c []catalog.Chunk) []catalog.Chunk { return []catalog.Chunk{c[0], c[2]} },
			errcode.IncompatibleShardingMetadata,
		},
		"no min": {
			func(c []catalog.Chunk) []catalog.Chunk { return c[1:] },
			errcode.IncompatibleShardingMetadata,
		},
		"no max": {
			func(c []catalog.Chunk) []catalog.Chunk { return c[:2] },
			errcode.IncompatibleShardingMetadata,
		},
		"overlap": {
			func(c []catalog.Chunk) []catalog.Chunk { c[1].Max = key.Int(11); return c },
			errcode.IncompatibleShardingMetadata,
		},
		"the same bounds twice": {
			func(c []catalog.Chunk) []catalog.Chunk {
				twin := c[1]
				twin.Version.Minor += 10
				return append(c, twin)
			},
			errcode.IncompatibleShardingMetadata,
		},
		"version": {
			func(c []catalog.Chunk) []catalog.Chunk { c[1].Version = c[0].Version; return c },
			errcode.IncompatibleShardingMetadata,
		},
		"owner": {
			func(c []catalog.Chunk) []catalog.Chunk { c[1].Shard = ""; return c },
			errcode.IncompatibleShardingMetadata,
		},
		"epoch": {
			func(c []catalog.Chunk) []catalog.Chunk { c[1].Version.Epoch = "e2"; return c },
			errcode.StaleEpoch,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := catalog.NewTable(coll, c.spoil(ok())); !errcode.Is(err, c.code) {
				t.Errorf("got %v, want %s", err, c.code)
			}
		})
	}
}

func TestRefusedUpdates(t *testing.T) {
	old := table(t, 2, key.Int(0), key.Int(10))
	moved, err := catalog.Move(old, old.Owner(key.Int(5)).Range, "shard-b", "shard-a", hlc.At(5),
		catalog.HistoryWindow{})
	if err != nil {
		t.Fatal(err)
	}
	next, err := old.With(moved)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := next.With(
		slices.Collect(old.Chunks()),
	); !errcode.Is(err, errcode.IncompatibleShardingMetadata) {
		t.Errorf("an older chunk replaced a newer one: %v", err)
	}
	if again, err := next.With(slices.Collect(next.Chunks())); err != nil ||
		describe(again) != describe(next) {
		t.Errorf("the same chunks again: %v", err)
	}
	if got := old.Owner(key.Int(5)).Shard; got != "shard-b" {
		t.Errorf("the old table now says %s", got)
	}
}

// TestChunksStayTheCallers: a table leaves the order of the chunks that it is made of alone.
func TestChunksStayTheCallers(t *testing.T) {
	given := slices.Collect(table(t, 2, key.Int(0), key.Int(10)).Chunks())
	slices.Reverse(given)
	before := slices.Clone(given)
	made, err := catalog.NewTable(coll, given)
	if err == nil {
		_, err = made.With(given)
	}
	if err != nil || !cmp.Equal(before, given) {
		t.Errorf("%v became %v, %v", before, given, err)
	}
}

func TestShardAt(t *testing.T) {
	c := catalog.Chunk{
		Range:   key.Everything,
		History: []catalog.Placement{{ValidAfter: 20, Shard: "b"}, {ValidAfter: 10, Shard: "a"}},
	}
	for ts, want := range map[hlc.Timestamp]string{10: "a", 19: "a", 20: "b", 99: "b"} {
		if got, err := c.ShardAt(ts); err != nil || got != want {
			t.Errorf("at %v: %s, %v", ts, got, err)
		}
	}
	if _, err := c.ShardAt(9); !errcode.Is(err, errcode.StaleChunkHistory) {
		t.Errorf("before the history: %v", err)
	}
}

func TestDocuments(t *testing.T) {
	c := catalog.Chunk{
		Range:   key.Range{Min: key.Min, Max: key.String("m")},
		Shard:   "shard-a",
		Version: coll.Version(),
		Jumbo:   true,
		History: []catalog.Placement{
			{ValidAfter: hlc.At(7) + 3, Shard: "shard-a"},
			{ValidAfter: 1, Shard: "shard-b"},
		},
		OnCurrentShardSince: hlc.At(7) + 3,
	}
	c.Version.Major, c.Version.Minor = 5, 1<<32-1
	doc, err := catalog.EncodeChunk(coll, c)
	if err != nil {
		t.Fatal(err)
	}
	got, err := catalog.DecodeChunk(coll, doc)
	if diff := cmp.Diff(c, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	hashed := coll
	hashed.Key = key.Pattern{Field: "a.b", Hashed: true}
	if doc, err = catalog.EncodeCollection(hashed); err != nil {
		t.Fatal(err)
	}
	back, err := catalog.DecodeCollection(doc)
	if diff := cmp.Diff(hashed, back); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := catalog.DecodeChunk(hashed, doc); err == nil {
		t.Error("a collection was read as a chunk")
	}
}

// TestChunkDocument: a chunk's document is the one that the driver makes of the same struct.
func TestChunkDocument(t *testing.T) {
	type placement struct {
		ValidAfter bson.Timestamp `bson:"validAfter"`
		Shard      string         `bson:"shard"`
	}
	for _, history := range [][]placement{nil, {{bson.Timestamp{T: 7, I: 3}, "a"}, {Shard: "b"}}} {
		want, err := bson.Marshal(struct {
			ID      string         `bson:"_id"`
			UUID    string         `bson:"uuid"`
			Min     bson.D         `bson:"min"`
			Max     bson.D         `bson:"max"`
			Shard   string         `bson:"shard"`
			LastMod bson.Timestamp `bson:"lastmod"`
			History []placement    `bson:"history"`
			Jumbo   bool           `bson:"jumbo,omitempty"`
			Since   bson.Timestamp `bson:"onCurrentShardSince"`
		}{
			ID: catalog.ChunkID(coll.UUID, key.Int(1)), UUID: coll.UUID,
			Min:   bson.D{{Key: coll.Key.Field, Value: int64(1)}},
			Max:   bson.D{{Key: coll.Key.Field, Value: bson.MaxKey{}}},
			Shard: "a", LastMod: bson.Timestamp{T: 5, I: 6}, History: history,
			Jumbo: history != nil, Since: bson.Timestamp{T: 7, I: 3},
		})
		if err != nil {
			t.Fatal(err)
		}
		c, err := catalog.DecodeChunk(coll, want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := catalog.EncodeChunk(coll, c); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v\nread and written: %v\nthe driver's:     %v", err, got, bson.Raw(want))
		}
		for n := range want {
			if _, err := catalog.DecodeChunk(coll, want[:n]); err == nil {
				t.Errorf("%d of %d bytes were read as a chunk", n, len(want))
			}
		}
	}
}

// TestAlgebra: whatever sequence of changes, the table stays a partition whose versions are
// distinct and rise, and an incremental update gives the same as a full one.
func TestAlgebra(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunks, err := catalog.First(coll, []key.Key{key.Int(10), key.Int(20)},
			[]string{"shard-a", "shard-b", "shard-c"})
		if err != nil {
			t.Fatal(err)
		}
		now, err := catalog.NewTable(coll, chunks)
		if err != nil {
			t.Fatal(err)
		}
		stale := now
		for i := range rapid.IntRange(1, 12).Draw(t, "changes") {
			changed, what := drawChange(t, now, hlc.At(int64(10+i)))
			if len(changed) == 0 {
				continue
			}
			next, err := now.With(changed)
			if err != nil {
				t.Fatalf("%s: %v\n%s", what, err, describe(now))
			}
			checkStep(t, now, next, what)
			now = next
		}
		refreshed, err := stale.With(now.Since(stale.Version()))
		if err != nil {
			t.Fatalf("refresh: %v\nfrom %s to %s", err, describe(stale), describe(now))
		}
		if got, want := describe(refreshed), describe(now); got != want {
			t.Fatalf("refreshed incrementally:\n%s\nbut the catalog has:\n%s", got, want)
		}
		if err := refreshed.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

func checkStep(t *rapid.T, before, after *catalog.Table, what string) {
	checkEntries(t, after)
	if err := after.Validate(); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, describe(after))
	}
	if !before.Version().Older(after.Version()) {
		t.Fatalf("%s: version %v does not follow %v", what, after.Version(), before.Version())
	}
	for _, shard := range before.Shards() {
		v := after.ShardVersion(shard)
		if lost := len(after.Owned(shard)) == 0; lost != v.OwnsNothing() {
			t.Fatalf("%s: %s has version %v and owns %v", what, shard, v, after.Owned(shard))
		} else if !lost && fmt.Sprint(before.Owned(shard)) != fmt.Sprint(after.Owned(shard)) &&
			!before.ShardVersion(shard).Older(v) {
			t.Fatalf("%s: what %s owns changed, but its version went from %v to %v",
				what, shard, before.ShardVersion(shard), v)
		}
	}
}

func drawChange(
	t *rapid.T, now *catalog.Table, at hlc.Timestamp,
) (changed []catalog.Chunk, what string) {
	chunks := slices.Collect(now.Chunks())
	c := rapid.SampledFrom(chunks).Draw(t, "chunk")
	var err error
	switch what = rapid.SampledFrom([]string{"move", "part", "split", "merge", "ensure"}).Draw(
		t, "change",
	); what {
	case "move":
		to := rapid.SampledFrom([]string{"shard-a", "shard-b", "shard-c"}).Draw(t, "to")
		changed, err = catalog.Move(now, c.Range, c.Shard, to, at,
			catalog.HistoryWindow{Reach: milliseconds(3)})
	case "part":
		rng := c.Range.Intersect(key.Range{
			Min: key.Int(rapid.Int64Range(0, 30).Draw(t, "min")),
			Max: key.Int(rapid.Int64Range(0, 30).Draw(t, "max")),
		})
		if rng.Empty() {
			return nil, what
		}
		changed, err = catalog.Move(now, rng, c.Shard, "shard-a", at,
			catalog.HistoryWindow{Reach: milliseconds(3)})
	case "split":
		p := key.Int(rapid.Int64Range(0, 30).Draw(t, "point"))
		if p <= c.Min || p >= c.Max {
			return nil, what
		}
		changed, err = catalog.Split(now, c.Range, []key.Key{p},
			catalog.Bump(rapid.Bool().Draw(t, "major")))
	case "merge":
		i := slices.IndexFunc(chunks, func(o catalog.Chunk) bool { return o.Min == c.Max })
		if i < 0 || chunks[i].Shard != c.Shard {
			return nil, what
		}
		changed, err = catalog.Merge(now, key.Range{Min: c.Min, Max: chunks[i].Max},
			catalog.Bump(rapid.Bool().Draw(t, "major")))
	case "ensure":
		changed, err = catalog.EnsureNewer(now, c.Range, c.Version)
	}
	if err != nil {
		t.Fatalf("%s of %v: %v", what, c, err)
	}
	return changed, what
}

// TestOverlappingChanges: a change whose chunks overlap each other is refused whole.
func TestOverlappingChanges(t *testing.T) {
	table := table(t, 2, key.Int(0), key.Int(10))
	a, b := table.Owner(key.Int(-5)), table.Owner(key.Int(5))
	for _, c := range []*catalog.Chunk{&a, &b} {
		c.Version.Major++
	}
	a.Max, b.Version.Minor = key.Int(7), 1
	if after, err := table.With([]catalog.Chunk{a, b}); err == nil {
		t.Errorf("%v and %v were taken: %v", a, b, slices.Collect(after.Chunks()))
	}
}

// TestOwnedAtIsWhole: neighbours that a shard owned are one range.
func TestOwnedAtIsWhole(t *testing.T) {
	table := table(t, 1, key.Int(0), key.Int(10))
	now := table.Owner(key.Int(0)).OnCurrentShardSince
	for shard, want := range map[string]int{"shard-a": 1, "shard-b": 0} {
		owned, err := table.OwnedAt(shard, key.Everything, now)
		if err != nil || len(owned) != want {
			t.Errorf("%s owned %v at %v (%v), not %d ranges", shard, owned, now, err, want)
		}
	}
}

// TestCollectionDocument: a field of another type is an error that names it, and other fields are
// left alone.
func TestCollectionDocument(t *testing.T) {
	fields := bson.D{
		{Key: "_id", Value: "test.docs"}, {Key: "key", Value: bson.D{{Key: "k", Value: int32(1)}}},
		{Key: "maxChunkSizeBytes", Value: int32(7)}, {Key: "enableAutoMerge", Value: false},
		{Key: "other", Value: "x"}, {Key: "noBalance", Value: nil},
	}
	decode := func(fields bson.D) (catalog.Collection, error) {
		doc, err := bson.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return catalog.DecodeCollection(doc)
	}
	want := catalog.Collection{NS: "test.docs", Key: key.Pattern{Field: "k"}}
	want.ChunkBytes, want.NoAutoMerge = 7, true
	got, err := decode(fields)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, wrong := range []bson.E{
		{Key: "uuid", Value: 3}, {Key: "maxChunkSizeBytes", Value: 7.9},
	} {
		_, err = decode(append(fields, wrong))
		if err == nil || !strings.Contains(err.Error(), "the field "+wrong.Key) {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}
