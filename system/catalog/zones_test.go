package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

func between(min, max int64) key.Range { return key.Range{Min: key.Int(min), Max: key.Int(max)} }

// zoned builds zones of rows like "0 10 north"; min and max are the ends of all keys.
func zoned(t testing.TB, rows ...string) catalog.Zones {
	t.Helper()
	var zones catalog.Zones
	for _, row := range rows {
		var err error
		f := strings.Fields(row)
		zones, err = zones.Assign(key.Range{Min: bound(t, f[0]), Max: bound(t, f[1])}, f[2])
		if err != nil {
			t.Fatal(err)
		}
	}
	return zones
}

func TestAssign(t *testing.T) {
	zones := zoned(t, "10 20 north", "40 50 south")
	for name, c := range map[string]struct {
		rng  key.Range
		zone string
		want errcode.Code // "" is accepted
	}{
		"between":                     {between(20, 40), "south", ""},
		"ends where one begins":       {between(0, 10), "north", ""},
		"begins where one ends":       {between(50, 60), "north", ""},
		"the same again":              {between(10, 20), "north", ""},
		"the same for another zone":   {between(10, 20), "south", errcode.RangeOverlapConflict},
		"inside":                      {between(12, 18), "north", errcode.RangeOverlapConflict},
		"around":                      {between(0, 30), "north", errcode.RangeOverlapConflict},
		"around two":                  {between(0, 60), "north", errcode.RangeOverlapConflict},
		"over the lower end":          {between(5, 11), "north", errcode.RangeOverlapConflict},
		"over the upper end":          {between(19, 25), "south", errcode.RangeOverlapConflict},
		"the same, up to another end": {between(10, 21), "north", errcode.RangeOverlapConflict},
		"empty":                       {between(30, 30), "north", errcode.BadValue},
		"turned round":                {between(35, 30), "north", errcode.BadValue},
		"without a name":              {between(30, 35), "", errcode.BadValue},
		"beyond all keys": {
			key.Range{Min: key.Int(60), Max: key.After(key.Max)},
			"north",
			errcode.BadValue,
		},
		"up to the last key of all":    {key.Range{Min: key.Int(60), Max: key.Max}, "north", ""},
		"from the first key of all on": {key.Range{Min: key.Min, Max: key.Int(10)}, "north", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := zones.Assign(c.rng, c.zone)
			if c.want != "" {
				if !errcode.Is(err, c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
				return
			}
			if err != nil || got.Of(c.rng) != c.zone {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	if len(zones) != 2 {
		t.Errorf("the zones changed: %v", zones)
	}
}

func TestZoneOfChunk(t *testing.T) {
	zones := zoned(t, "min 0 low", "10 20 mid", "20 30 high")
	for _, c := range []struct {
		rng    key.Range
		zone   string
		splits string
	}{
		{key.Range{Min: key.Min, Max: key.Int(-5)}, "low", "[]"},
		{between(-5, 0), "low", "[]"},
		{between(0, 10), "", "[]"},
		{between(2, 8), "", "[]"},
		{between(10, 20), "mid", "[]"},
		{between(15, 25), "", "[20]"},
		{between(5, 15), "", "[10]"},
		{between(-5, 40), "", "[0 10 20 30]"},
		{key.Everything, "", "[0 10 20 30]"},
		{key.Range{Min: key.Int(30), Max: key.Max}, "", "[]"},
	} {
		if got := zones.Of(c.rng); got != c.zone {
			t.Errorf("%v is in zone %q, not %q", c.rng, got, c.zone)
		}
		if got := fmt.Sprint(zones.Boundaries(c.rng)); got != c.splits {
			t.Errorf("%v is split at %s, not %s", c.rng, got, c.splits)
		}
		if got := zones.Crosses(c.rng); got != (c.splits != "[]") {
			t.Errorf("%v crosses a boundary: %v", c.rng, got)
		}
	}
}

// TestSplitAtZones is the example of the sources: a chunk [10, 20) of which [10, 15) is zone A's
// and [15, 20) zone B's has to be split even when both zones are on one shard.
func TestSplitAtZones(t *testing.T) {
	now := table(t, 2, key.Int(10), key.Int(20))
	zones := zoned(t, "10 15 A", "15 20 B")
	for c, at := range zones.Crossing(now) {
		if c.Range != between(10, 20) || fmt.Sprint(at) != "[15]" {
			t.Errorf("%v is to be split at %v", c, at)
		}
		pieces, err := catalog.Split(now, c.Range, at, catalog.Minor)
		if err != nil {
			t.Fatal(err)
		}
		if now, err = now.With(pieces); err != nil {
			t.Fatal(err)
		}
	}
	a, b := zones.Of(now.Owner(key.Int(10)).Range), zones.Of(now.Owner(key.Int(15)).Range)
	if a != "A" || b != "B" {
		t.Errorf("the pieces are in zones %q and %q", a, b)
	}
}

func TestMergeable(t *testing.T) {
	chunks := slices.Collect(table(t, 1, key.Int(0), key.Int(10), key.Int(20), key.Int(30),
		key.Int(40), key.Int(50)).Chunks())
	chunks[2].OnCurrentShardSince = hlc.At(100) // [10, 20)
	chunks[4].Shard = "shard-b"                 // [30, 40)
	now, err := catalog.NewTable(coll, chunks)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		zones catalog.Zones
		at    int64
		want  string
	}{
		{nil, 50, "[[MinKey, 10) [40, MaxKey)]"},
		{nil, 101, "[[MinKey, 30) [40, MaxKey)]"},
		{nil, 1, "[]"},
		{zoned(t, "40 50 A"), 101, "[[MinKey, 30)]"},
		{zoned(t, "0 30 A"), 101, "[[0, 30) [40, MaxKey)]"},
		{zoned(t, "5 30 A"), 101, "[[10, 30) [40, MaxKey)]"},
	} {
		got := slices.Collect(catalog.Mergeable(now, c.zones, hlc.At(c.at)))
		if fmt.Sprint(append([]key.Range{}, got...)) != c.want {
			t.Errorf("with zones %v, before %d: %v, want %s", c.zones, c.at, got, c.want)
		}
	}
	chunks[1].Jumbo = true
	if now, err = catalog.NewTable(coll, chunks); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(
		slices.Collect(catalog.Mergeable(now, nil, hlc.At(101))),
	); got != "[[10, 30) [40, MaxKey)]" {
		t.Errorf("past a jumbo chunk: %v", got)
	}
}

func drawRange(t *rapid.T, name string) key.Range {
	bounds := append([]key.Key{key.Min, key.Max}, keys(0, 30)...)
	a, b := rapid.SampledFrom(bounds).Draw(t, name+" min"),
		rapid.SampledFrom(bounds).Draw(t, name+" max")
	return key.Range{Min: min(a, b), Max: max(a, b)}
}

func keys(from, to int64) []key.Key {
	var all []key.Key
	for n := from; n < to; n++ {
		all = append(all, key.Int(n))
	}
	return all
}

func drawZones(t *rapid.T) catalog.Zones {
	var zones catalog.Zones
	for range rapid.IntRange(0, 6).Draw(t, "zones") {
		next, err := zones.Assign(drawRange(t, "zone"),
			rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "name"))
		if err == nil {
			zones = next
		}
	}
	return zones
}

// TestZoneAlgebra: whatever is assigned and unassigned, the ranges stay apart, what was assigned is
// found again, and what was refused changed nothing.
func TestZoneAlgebra(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zones := drawZones(t)
		if err := zones.Validate(); err != nil {
			t.Fatal(err)
		}
		rng := drawRange(t, "range")
		before := fmt.Sprint(zones)
		overlapped := slices.ContainsFunc(zones, func(z catalog.Zone) bool {
			return z.Overlaps(rng)
		})
		next, err := zones.Assign(rng, "D")
		if accepted := err == nil; accepted == (overlapped || rng.Empty()) {
			t.Fatalf("%v into %v: %v", rng, zones, err)
		}
		if err == nil && (next.Of(rng) != "D" || fmt.Sprint(next.Unassign(rng)) != before ||
			next.Validate() != nil) {
			t.Fatalf("%v into %v made %v", rng, before, next)
		}
		if fmt.Sprint(zones) != before {
			t.Fatalf("%v became %v", before, zones)
		}
	})
}

// TestZonesAndTables: splitting every chunk that crosses a boundary leaves none that does; merging
// what may be merged never makes one, and nothing is left to merge.
func TestZonesAndTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zones := drawZones(t)
		now := drawTable(t)
		for c, at := range zones.Crossing(now) {
			now = changed(t, now)(catalog.Split(now, c.Range, at,
				catalog.Bump(rapid.Bool().Draw(t, "major"))))
		}
		checkInZones(t, zones, now)
		for rng := range catalog.Mergeable(now, zones, hlc.At(100)) {
			now = changed(t, now)(catalog.Merge(now, rng,
				catalog.Bump(rapid.Bool().Draw(t, "major"))))
		}
		checkInZones(t, zones, now)
		for rng := range catalog.Mergeable(now, zones, hlc.At(100)) {
			t.Fatalf("%v is still to be merged in\n%s", rng, describe(now))
		}
	})
}

// TestMergeAll: joining all ranges of a shard in one change gives the chunks, dates and owners that
// joining one after the other gives; each joint chunk has a version of its own, and what others
// have stays as it was.
func TestMergeAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zones, now := drawZones(t), drawTable(t)
		bump := catalog.Bump(rapid.Bool().Draw(t, "major"))
		ranges := catalog.MergeableOn(now, zones, "shard-a", hlc.At(100))
		if len(ranges) == 0 {
			return
		}
		one := now
		for _, rng := range ranges {
			one = changed(t, one)(catalog.Merge(one, rng, bump))
		}
		all := changed(t, now)(catalog.MergeAll(now, ranges, bump))
		if got, want := unversioned(all), unversioned(one); got != want {
			t.Fatalf("at once\n%sone after the other\n%s", got, want)
		}
		seen := make(map[catalog.Version]key.Range)
		for c := range all.Chunks() {
			if other, twice := seen[c.Version]; twice && now.Owner(c.Min).Version != c.Version {
				t.Fatalf("%v and %v have the version %v", other, c.Range, c.Version)
			}
			seen[c.Version] = c.Range
			before := now.Owner(c.Min)
			if !slices.Contains(ranges, c.Range) && before.Version != c.Version {
				t.Fatalf("%v became %v", before, c)
			}
		}
	})
}

// unversioned is who has what since when.
func unversioned(of *catalog.Table) string {
	var b strings.Builder
	for c := range of.Chunks() {
		fmt.Fprintln(&b, c.Range, c.Shard, c.OnCurrentShardSince, c.History, c.Jumbo)
	}
	return b.String()
}

func drawTable(t *rapid.T) *catalog.Table {
	bounds := slices.Compact(slices.Sorted(
		slices.Values(rapid.SliceOfN(rapid.SampledFrom(keys(0, 30)), 0, 12).Draw(t, "bounds")),
	))
	chunks, err := catalog.First(coll, bounds, []string{"shard-a"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range chunks {
		chunks[i].Shard = rapid.SampledFrom([]string{"shard-a", "shard-b", "shard-c"}).Draw(t,
			"shard")
		chunks[i].Jumbo = rapid.IntRange(0, 4).Draw(t, "jumbo") == 0
		chunks[i].OnCurrentShardSince = hlc.At(rapid.Int64Range(1, 120).Draw(t, "since"))
		chunks[i].History = []catalog.Placement{{
			ValidAfter: chunks[i].OnCurrentShardSince,
			Shard:      chunks[i].Shard,
		}}
	}
	made, err := catalog.NewTable(coll, chunks)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// changed applies what a change asks to be written and checks what holds for every change.
func changed(t *rapid.T, now *catalog.Table) func([]catalog.Chunk, error) *catalog.Table {
	return func(chunks []catalog.Chunk, err error) *catalog.Table {
		if err != nil {
			t.Fatal(err)
		}
		before := describe(now)
		next, err := now.With(chunks)
		if err != nil {
			t.Fatal(err)
		}
		checkStep(t, now, next, "change")
		if describe(now) != before {
			t.Fatalf("the table changed in place from\n%sto\n%s", before, describe(now))
		}
		return next
	}
}

func checkInZones(t *rapid.T, zones catalog.Zones, now *catalog.Table) {
	for c, at := range zones.Crossing(now) {
		t.Fatalf("%v still crosses %v", c, at)
	}
	for c := range now.Chunks() {
		if at := zones.Boundaries(c.Range); len(at) > 0 || zones.Crosses(c.Range) {
			t.Fatalf("%v has the boundaries %v inside", c, at)
		}
	}
}

// TestJumbo: the flag is taken off by clearing, by splitting and by moving, survives as somebody's
// control chunk, and a table with a flag set and cleared differs from the one before in versions
// alone.
func TestJumbo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := drawTable(t)
		c := rapid.SampledFrom(slices.Collect(now.Chunks())).Draw(t, "chunk")
		marked := now
		if chunks, err := catalog.MarkJumbo(now, c.Range); err != nil {
			t.Fatal(err)
		} else if marked, err = now.With(chunks); err != nil || marked.Version() != now.Version() ||
			!marked.Owner(c.Min).Jumbo {
			t.Fatalf("marked %v: %v, %v", c, marked.Owner(c.Min), err)
		}
		cleared := changed(t, marked)(catalog.ClearJumbo(marked, c.Range))
		got := cleared.Owner(c.Min)
		if got.Jumbo || cleared.Version() != got.Version || got.Version.Minor != 0 {
			t.Fatalf("cleared %v: %v", c, got)
		}
		if again, err := catalog.ClearJumbo(cleared, c.Range); err != nil || again != nil {
			t.Fatalf("cleared twice: %v, %v", again, err)
		}
		moved := changed(t, marked)(catalog.Move(marked, c.Range, c.Shard, "shard-z",
			hlc.At(199), catalog.HistoryWindow{}))
		if moved.Owner(c.Min).Jumbo {
			t.Fatalf("moved and still jumbo: %v", moved.Owner(c.Min))
		}
		for o := range moved.Chunks() {
			if o.Min != c.Min && o.Jumbo != marked.Owner(o.Min).Jumbo {
				t.Fatalf("the flag of %v changed with a move of %v", o, c)
			}
		}
	})
}
