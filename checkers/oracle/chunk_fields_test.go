package oracle

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/checkers/zoning"
	"github.com/shardproof/shardproof/histories/trace"
)

// four is a collection of four chunks, one of them jumbo.
const four = `
elected config.0 1 0 1:0
table 1 1 founding -..g=a@1|0 g..m=a@1|1 m..t=a@1|2 t..+=b@1|3
table 1 2 jumbo g..m=a@1|1*
majority config.0 1 2
`

func TestChunkFields(t *testing.T) {
	const (
		renamed = "table 1 3 drop\ntable 1 4 renameFrom_test.docs -..g=a@1|0 "
		rest    = "m..t=a@1|2 t..+=b@1|3"
		zoned   = "zone config.0 1 3 m o hot\nplain table 1 4 renameFrom_test.docs -..g=a@1|0 " +
			"g..m=a@1|1* " + rest + "\nzone config.0 1 4 m o\n"
	)
	for name, c := range map[string]struct {
		line      string
		signature verdict.Signature
	}{
		"a move":          {"table 1 3 move_m1 m..t=b@2|0<a -..g=a@2|1", ""},
		"a part moves":    {"table 1 3 move_m1 o..r=b@2|0<a m..o=a@2|1 r..t=a@2|2 -..g=a@2|3", ""},
		"a jumbo control": {"table 1 3 move_m1 -..g=b@2|0<a g..m=a@2|1*", ""},
		"a flag goes with a move": {
			"table 1 3 move_m1 g..m=b@2|0<a* -..g=a@2|1", wrongFlag,
		},
		"a control chunk loses its flag": {
			"table 1 3 move_m1 -..g=b@2|0<a g..m=a@2|1", wrongFlag,
		},
		"two control chunks": {
			"table 1 3 move_m1 m..t=b@2|0<a -..g=a@2|1 g..m=a@2|2*", wrongBounds,
		},
		"a version is skipped": {"table 1 3 move_m1 m..t=b@3|0<a -..g=a@3|1", wrongStep},
		"a past is forgotten":  {"table 1 3 move_m1 m..t=b@2|0 -..g=a@2|1", notKept},
		"a past is invented":   {"table 1 3 move_m1 m..t=b@2|0<a<b -..g=a@2|1", notKept},
		"a control chunk's past": {
			"table 1 3 move_m1 m..t=b@2|0<a -..g=a@2|1<b", notKept,
		},
		"a split":                  {"table 1 3 split m..o=a@1|4 o..t=a@1|5", ""},
		"a split of a part":        {"table 1 3 split m..o=a@1|4 o..r=a@1|5", noPartition},
		"a split above a boundary": {"table 1 3 split -..c=a@1|4 c..m=a@1|5", wrongBounds},
		"a piece is jumbo":         {"table 1 3 split g..i=a@1|4* i..m=a@1|5", wrongFlag},
		"a merge":                  {"table 1 3 merge -..m=a@1|4", ""},
		"a merge of two shards":    {"table 1 3 merge m..+=a@1|4", oldVersion},
		"a merge of one":           {"table 1 3 merge -..g=a@1|4", wrongMerge},
		"a merge with a past":      {"table 1 3 merge -..m=a@1|4<b", wrongDate},
		"jumbo chunks unasked":     {"table 1 3 autoMerge -..m=a@1|4", wrongMerge},
		"others unasked": {
			"table 1 3 split m..o=a@1|4 o..t=a@1|5\ntable 1 4 autoMerge m..t=a@1|6", "",
		},
		"over a zone": {
			"table 1 3 split m..o=a@1|4 o..t=a@1|5\nzone config.0 1 3 m o hot\n" +
				"table 1 4 autoMerge m..t=a@1|6", wrongMerge,
		},
		"a fence":                 {"table 1 3 ensureNewer g..m=a@2|0*", ""},
		"a fence loses the flag":  {"table 1 3 ensureNewer g..m=a@2|0", wrongFlag},
		"a fence of two":          {"table 1 3 ensureNewer -..g=a@2|0 m..t=a@2|1", wrongBounds},
		"a fence that moves":      {"table 1 3 ensureNewer -..g=b@2|0", noControl},
		"a flag is cleared":       {"table 1 3 clearJumboFlag g..m=a@2|0", ""},
		"a flag stays":            {"table 1 3 clearJumboFlag g..m=a@2|0*", wrongFlag},
		"a mark without a flag":   {"table 1 3 jumbo m..t=a@1|2", wrongFlag},
		"a rename":                {renamed + "g..m=a@1|1* " + rest, ""},
		"a rename loses the flag": {renamed + "g..m=a@1|1 " + rest, wrongFlag},
		"a rename with a past":    {renamed + "g..m=a@1|1<b* " + rest, notKept},
		"a rename that moves":     {renamed + "g..m=b@1|1* " + rest, wrongBounds},
		"zones that follow": {
			zoned + "plain zone config.0 1 4 m o hot\nmajority config.0 1 4", "",
		},
		"zones that are told of first": {
			strings.Replace(zoned, "plain table 1 4", "plain zone config.0 1 4 m o hot\n"+
				"plain table 1 4", 1) + "majority config.0 1 4", "",
		},
		"zones that are lost": {zoned + "majority config.0 1 4", zoning.Lost},
		"zones that stay behind": {
			strings.Replace(zoned, "zone config.0 1 4 m o\n", "", 1) +
				"plain zone config.0 1 4 m o hot\nmajority config.0 1 4", zoning.Left,
		},
		"a drop takes zones along": {
			"zone config.0 1 3 m o hot\ntable 1 4 drop\nzone config.0 1 4 m o\n" +
				"majority config.0 1 4", "",
		},
		"a drop leaves zones": {
			"zone config.0 1 3 m o hot\ntable 1 4 drop\nmajority config.0 1 4", zoning.Left,
		},
		"zones that are others": {
			zoned + "plain zone config.0 1 4 m p hot\nmajority config.0 1 4", zoning.Lost,
		},
		"zones that come late": {zoned + "plain zone config.0 1 5 m o hot", zoning.Lost},
		"a rename that is rolled back": {
			zoned + "elected config.1 2 3\nmajority config.1 2 3", "",
		},
	} {
		t.Run(name, func(t *testing.T) { expectSignature(t, observe(t, four+c.line), c.signature) })
	}
}

// The date is judged by itself, as scripts always have the right one.
func TestChunkDates(t *testing.T) {
	o := observe(t, four)
	e := trace.CatalogWrittenEvent{
		Shard: "config", Term: 1, Index: 3, NS: "test.docs", Why: trace.Split.String(),
		Chunks: chunks([]string{"m..o=a@1|4", "o..t=a@1|5"}),
	}.Event()
	e.Step, e.Node, e.Chunks[1].Since = 9, "config.0", 0
	o.Observe(e)
	expectSignature(t, o, wrongDate)
}

// A renamed collection begins then, not when the former one did.
func TestRenamedBeginsThen(t *testing.T) {
	for since, want := range map[uint64]verdict.Signature{5: wrongDate, 6: ""} {
		o := observe(t, four+"table 1 3 drop\n")
		e := trace.CatalogWrittenEvent{
			Shard: "config", Term: 1, Index: 4, NS: "test.plain", Why: "renameFrom test.docs",
			Chunks:      chunks([]string{"-..g=a@1|0", "g..m=a@1|1*", "m..t=a@1|2", "t..+=b@1|3"}),
			ClusterTime: 7,
		}.Event()
		e.Step, e.Node = 9, "config.0"
		for i := range e.Chunks {
			c := &e.Chunks[i]
			c.Since, c.History[0].ValidAfter, c.Epoch = since, since, "other"
		}
		o.Observe(e)
		expectSignature(t, o, want)
	}
}

// Chunks are joined without being asked for once no snapshot can ask where their parts were.
func TestMergesKeepTheWindow(t *testing.T) {
	for later, want := range map[uint64]verdict.Signature{9_999: wrongMerge, 10_000: ""} {
		for why, want := range map[trace.CatalogChange]verdict.Signature{
			trace.AutoMerge: want, trace.Merge: "",
		} {
			o := observe(t, four+"table 1 3 split m..o=a@1|4 o..t=a@1|5\n")
			e := trace.CatalogWrittenEvent{
				Shard: "config", Term: 1, Index: 4, NS: "test.docs", Why: why.String(),
				Chunks: chunks([]string{"m..t=a@1|6"}), ClusterTime: int64(later << 20),
			}.Event()
			e.Step, e.Node = 9, "config.0"
			o.Observe(e)
			expectSignature(t, o, want)
		}
	}
}

// An epoch is that of the collection.
func TestChunkEpochs(t *testing.T) {
	o := observe(t, four)
	e := trace.CatalogWrittenEvent{
		Shard: "config", Term: 1, Index: 3, NS: "test.docs", Why: "ensureNewer",
		Chunks: chunks([]string{"m..t=a@2|0"}),
	}.Event()
	e.Step, e.Node, e.Chunks[0].Epoch = 9, "config.0", "another"
	o.Observe(e)
	expectSignature(t, o, wrongEpoch)
}

// The first chunks are those that were asked for, on the shards that were.
func TestFirstChunks(t *testing.T) {
	for name, c := range map[string]struct {
		line      string
		signature verdict.Signature
	}{
		"as asked for":     {"-..g=a@1|0 g..m=b@1|1 m..+=a@1|2", ""},
		"on another shard": {"-..g=a@1|0 g..m=a@1|1 m..+=b@1|2", wrongBounds},
		"cut elsewhere":    {"-..h=a@1|0 h..m=b@1|1 m..+=a@1|2", wrongBounds},
		"not cut":          {"-..+=a@1|0", wrongBounds},
		"a past":           {"-..g=a@1|0<b g..m=b@1|1 m..+=a@1|2", notKept},
		"misnumbered":      {"-..g=a@1|0 g..m=b@1|2 m..+=a@1|3", wrongStep},
	} {
		s := script{o: New(nil)}
		s.o.Founds("test.docs", Layout{Bounds: []string{"g", "m"}, Shards: []string{"a", "b"}})
		s.lines(t, "elected config.0 1 0 1:0\ntable 1 1 founding "+c.line)
		t.Run(name, func(t *testing.T) { expectSignature(t, s.o, c.signature) })
	}
}

// What an operation leaves to the config server follows from the shards that take chunks, from
// zones, hashes and the database's primary shard.
func TestMadeAgain(t *testing.T) {
	asked := map[string]int{
		"three asked for, two on each": 3, "one asked for, one on each": 1,
		"one asked for, two on each": 1,
	}
	const (
		begun = "elected config.0 1 0 1:0\ntable 1 1 founding -..g=a@1|0 g..+=b@1|1\n" +
			"database 1 1 founding -..+=b@1|0\nshard config.0 1 1 a added\n" +
			"shard config.0 1 1 b added\nshard config.0 1 1 c added\n"
		drains = "shard config.0 1 2 b draining\n"
		zone   = "zone config.0 1 2 g m hot\nshard config.0 1 2 c zones hot\n"
		twice  = "zone config.0 1 2 m t hot\nshard config.0 1 2 a zones hot\n"
		drop   = "table 1 3 drop\n"
		again  = "table 1 5 shardCollection "
	)
	for name, c := range map[string]struct {
		making    Making
		script    string
		signature verdict.Signature
	}{
		"as at first":              {AsBegun, drop + again + "-..g=a@1|0 g..+=b@1|1", ""},
		"not as at first":          {AsBegun, drop + again + "-..g=a@1|0 g..+=c@1|1", wrongBounds},
		"dealt":                    {Dealt, drop + again + "-..g=a@1|0 g..+=b@1|1", ""},
		"dealt out of turn":        {Dealt, drop + again + "-..g=a@1|0 g..+=c@1|1", wrongBounds},
		"dealt to one that drains": {Dealt, drains + drop + again + "-..g=a@1|0 g..+=b@1|1", wrongBounds},
		"dealt to those that stay": {Dealt, drains + drop + again + "-..g=a@1|0 g..+=c@1|1", ""},
		"dealt while one begins to drain": {
			Dealt, drop + drains + again + "-..g=a@1|0 g..+=b@1|1", "",
		},
		"one chunk, at home":         {Placed, drop + again + "-..+=b@1|0", ""},
		"one chunk, elsewhere":       {Placed, drop + again + "-..+=a@1|0", wrongBounds},
		"one chunk, home drains":     {Placed, drains + drop + again + "-..+=a@1|0", ""},
		"one chunk, where it drains": {Placed, drains + drop + again + "-..+=b@1|0", wrongBounds},
		"cut without need":           {Placed, drop + again + "-..g=b@1|0 g..+=b@1|1", wrongBounds},
		"by zones": {
			Placed, zone + drop + again + "-..g=a@1|0 g..m=c@1|1 m..+=b@1|2", "",
		},
		"against zones": {
			Placed, zone + drop + again + "-..g=a@1|0 g..m=b@1|1 m..+=b@1|2", wrongBounds,
		},
		"across zones": {Placed, zone + drop + again + "-..m=a@1|0 m..+=b@1|1", wrongBounds},
		"by zones that came later": {
			Placed, drop + zone + again + "-..g=a@1|0 g..m=c@1|1 m..+=b@1|2", "",
		},
		"before zones came": {Placed, drop + zone + again + "-..+=b@1|0", ""},
		"neither before zones came nor after": {
			Placed, drop + zone + again + "-..g=a@1|0 g..m=b@1|1 m..+=b@1|2", wrongBounds,
		},
		"under another leader": {
			Placed, drop + zone + "elected config.1 2 0 1:0\n" +
				"table 2 5 shardCollection -..g=a@1|0 g..m=b@1|1 m..+=b@1|2", "",
		},
		"a zone's shards in turn": {
			Placed, zone + twice + drop + again +
				"-..g=a@1|0 g..m=a@1|1 m..t=c@1|2 t..+=b@1|3", "",
		},
		"one of a zone's shards": {
			Placed, zone + twice + drop + again +
				"-..g=a@1|0 g..m=a@1|1 m..t=a@1|2 t..+=b@1|3", wrongBounds,
		},
		"a range of two": {
			Placed, zone + twice + drop + again + "-..g=a@1|0 g..t=a@1|1 t..+=b@1|2", wrongBounds,
		},
		"a gap in two": {
			Placed, zone + drop + again + "-..c=a@1|0 c..g=b@1|1 g..m=c@1|2 m..+=c@1|3", wrongBounds,
		},
		"gaps on one shard": {
			Placed, zone + drop + again + "-..g=a@1|0 g..m=c@1|1 m..+=a@1|2", wrongBounds,
		},
		"two on each": {
			PlacedByHash, drains + drop + again + "-..c=a@1|0 c..g=a@1|1 g..m=c@1|2 m..+=c@1|3", "",
		},
		"one on each": {PlacedByHash, drains + drop + again + "-..g=a@1|0 g..+=c@1|1", wrongBounds},
		"three asked for, two on each": {
			PlacedByHash, drains + drop + again + "-..c=a@1|0 c..g=a@1|1 g..m=c@1|2 m..+=c@1|3", "",
		},
		"one asked for, one on each": {
			PlacedByHash, drains + drop + again + "-..g=a@1|0 g..+=c@1|1", "",
		},
		"one asked for, two on each": {
			PlacedByHash, drains + drop + again + "-..c=a@1|0 c..g=a@1|1 g..m=c@1|2 m..+=c@1|3",
			wrongBounds,
		},
		"three and one": {
			PlacedByHash, drains + drop + again + "-..c=a@1|0 c..g=a@1|1 g..m=a@1|2 m..+=c@1|3",
			wrongBounds,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.Founds("test.docs", Layout{
				Bounds: []string{"g"}, Shards: []string{"a", "b"}, Again: c.making,
				Chunks: asked[name],
			})
			s.lines(t, begun+c.script)
			expectOf(t, s.o, fieldsRule, c.signature)
		})
	}
}
