package oracle

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// What a server believes is compared with what the catalog had at that version, however that is cut
// into chunks; of a version that no majority has had nothing can be said.
func TestInstalledPlacement(t *testing.T) {
	chunk := func(lo, hi string, major uint32) trace.Chunk {
		return trace.Chunk{Min: bound(lo), Max: bound(hi), Shard: "a", Major: major, Epoch: "0"}
	}
	moved := "table 1 2 move_m1 c..m=b@2|0<a -..c=a@2|1\nmajority config.0 1 2\n"
	epoch := func(o *Oracle) string { return o.world.Table("test.docs")[0].Epoch }
	for name, c := range map[string]struct {
		script   string
		believed []trace.Chunk
		want     verdict.Signature
	}{
		"what it was":         {opening, []trace.Chunk{chunk("-", "m", 1)}, ""},
		"in parts":            {opening, []trace.Chunk{chunk("-", "c", 1), chunk("c", "m", 1)}, ""},
		"more":                {opening, []trace.Chunk{chunk("-", "+", 1)}, otherPlacement},
		"less":                {opening, []trace.Chunk{chunk("c", "m", 1)}, otherPlacement},
		"an old version":      {opening + moved, []trace.Chunk{chunk("-", "m", 1)}, ""},
		"half of a new one":   {opening + moved, []trace.Chunk{chunk("-", "m", 2)}, otherPlacement},
		"of no version known": {opening, []trace.Chunk{chunk("-", "+", 7)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, c.script)
			for i := range c.believed {
				c.believed[i].Epoch = epoch(o)
			}
			e := trace.MetadataInstalledEvent{
				Shard: "a", NS: "test.docs", Chunks: c.believed,
			}.Event()
			e.Node, e.Step = "a.1", 100
			o.Observe(e)
			expectOf(t, o, ownershipRule, c.want)
		})
	}
}

// A member that another one has replaced learns of nothing that was written after that.
func TestLearnedWhileReplaced(t *testing.T) {
	const (
		moved = "table 1 2 move_m1 c..m=b@2|0<a -..c=a@2|1\nmajority config.0 1 2\n"
		first = opening + "elected a.1 5 1\n"
		older = "elected a.2 4 1\n" // which learns of its election only now
		newer = "elected a.2 6 1\n"
	)
	for name, c := range map[string]struct {
		script string
		want   verdict.Signature
	}{
		"a primary":                     {first + moved, ""},
		"replaced before":               {first + newer + moved, learnedReplaced},
		"replaced since":                {first + moved + newer, ""},
		"an older term elected another": {first + older + moved, ""},
		"then a newer one":              {first + older + newer + moved, learnedReplaced},
		"started again":                 {first + newer + "down a.1\n" + moved, ""},
		"no primary":                    {opening + newer + moved, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, c.script)
			e := trace.MetadataInstalledEvent{
				Shard: "a", NS: "test.docs", Chunks: []trace.Chunk{{
					Min: bound("-"), Max: bound("c"), Shard: "a", Major: 2,
					Epoch: o.world.Table("test.docs")[0].Epoch,
				}},
			}.Event()
			e.Node, e.Step = "a.1", 100
			o.Observe(e)
			expectOf(t, o, ownershipRule, c.want)
		})
	}
}
