package automerge

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

// Neighbours can be merged if nothing keeps them apart.
func TestFirstLeft(t *testing.T) {
	const ns = "test.docs"
	var none *model.Cluster
	zoned := none.With((trace.ClusterChangedEvent{
		Change: trace.ZoneRange, NS: ns, Min: "b", Max: "c", Zones: "east",
	}).Event())
	at := func(lo, hi, shard string, since uint64) trace.Chunk {
		return trace.Chunk{Min: lo, Max: hi, Shard: shard, Since: since}
	}
	jumbo := at("b", "c", "s", 1)
	jumbo.Jumbo = true
	for name, c := range map[string]struct {
		cluster *model.Cluster
		table   []trace.Chunk
		want    Left
	}{
		"no chunks":     {zoned, nil, Left{}},
		"neighbours":    {zoned, []trace.Chunk{at("d", "e", "s", 1), at("e", "f", "s", 2)}, Left{ns, "d", "f"}},
		"another shard": {zoned, []trace.Chunk{at("d", "e", "s", 1), at("e", "f", "u", 2)}, Left{}},
		"too new":       {zoned, []trace.Chunk{at("d", "e", "s", 1), at("e", "f", "s", 5)}, Left{}},
		"jumbo":         {zoned, []trace.Chunk{jumbo, at("c", "d", "s", 1)}, Left{}},
		"of a zone":     {zoned, []trace.Chunk{at("a", "b", "s", 1), at("b", "c", "s", 1)}, Left{}},
		"within a zone": {zoned, []trace.Chunk{at("b", "bb", "s", 1), at("bb", "c", "s", 1)}, Left{ns, "b", "c"}},
		"the last two": {zoned, []trace.Chunk{
			at("a", "b", "s", 1), at("b", "c", "u", 1), at("c", "d", "s", 1), at("d", "e", "s", 1),
		}, Left{ns, "c", "e"}},
	} {
		if got := FirstLeft(ns, c.table, c.cluster, 5); got != c.want {
			t.Errorf("%s: %+v, not %+v", name, got, c.want)
		}
	}
	var j Judge
	j.NotMerged(Left{ns, "c", "e"}, time.Minute, func(lo, hi string) string { return lo + hi })
	if v := j.Verdict(); v.Found != 1 || v.Violations[0].Signature != notMerged {
		t.Errorf("%+v", v)
	}
}
