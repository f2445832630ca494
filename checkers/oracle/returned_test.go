package oracle

import (
	"testing"

	"github.com/shardproof/shardproof/histories/trace"
)

// is judged by its time.
func TestReturned(t *testing.T) {
	moved := placed("b", "", "m")
	moved[0].Major = 2
	moved[0].History = []trace.Placement{{ValidAfter: 500, Shard: "b"}, {ValidAfter: 9, Shard: "a"}}
	before := trace.Chunk{Major: 1, Epoch: "e"}
	after := trace.Chunk{Major: 2, Epoch: "e"}
	for name, c := range map[string]struct {
		shard, key string
		version    trace.Chunk
		at         uint64
		wrong      int
		open       string
	}{
		"the owner":                   {"a", "c", before, 0, 0, ""},
		"an orphan":                   {"b", "c", before, 0, 1, ""},
		"the new owner":               {"b", "c", after, 0, 0, ""},
		"of nothing":                  {"a", "c", trace.Chunk{Epoch: "e"}, 0, 1, ""},
		"a version that nobody knows": {"b", "c", trace.Chunk{Major: 7, Epoch: "e"}, 0, 0, noSuchVersion},
		"of another incarnation":      {"b", "c", trace.Chunk{Major: 1, Epoch: "f"}, 0, 0, noSuchVersion},
		"a snapshot before the move":  {"a", "c", after, 499, 0, ""},
		"one as of the move":          {"b", "c", after, 500, 0, ""},
		"one let in before the move":  {"a", "c", before, 500, 0, ""},
		"an orphan as of the move":    {"b", "c", before, 500, 1, ""},
		"an orphan of the past":       {"b", "c", after, 499, 1, ""},
		"an orphan of the move":       {"a", "c", trace.Chunk{Epoch: "e"}, 500, 1, ""},
		"a snapshot of long ago":      {"a", "c", after, 8, 0, beyondPlacement},
		"one of another incarnation":  {"a", "c", trace.Chunk{Epoch: "f"}, 600, 0, beyondPlacement},
	} {
		o := told([]happening{
			{30, "config.0", trace.CatalogWrittenEvent{
				Shard: "config", Term: 1, Index: 2, NS: "test.docs", Why: "move m1", Chunks: moved,
			}},
			{31, "config.0", trace.MajorityEvent{Shard: "config", Term: 1, Index: 2}},
		})
		o.Returned(&Admitted{
			Node: c.shard + ".0", Shard: c.shard, NS: "test.docs", Version: c.version, At: c.at,
		}, c.key)
		v := o.verdicts[ownershipRule.Name]
		if v.Found != c.wrong || c.wrong > 0 && v.Violations[0].Signature != readFromStranger {
			t.Errorf("%s: %d violations, want %d: %v", name, v.Found, c.wrong, v.Violations)
		}
		told := verdictOf(o, ownershipRule.Name).Undecidable
		if len(told) > 1 || told[c.open] != min(1, len(c.open)) {
			t.Errorf("%s: undecidable %v, want one %q", name, told, c.open)
		}
	}
}

// A snapshot as of a move is right about the shard that the chunk moved to, also when that shard has
// given the chunk away since, and the query knows it.
func TestReturnedAsOfAMove(t *testing.T) {
	moved := placed("c", "", "m")
	moved[0].Major = 3
	moved[0].History = []trace.Placement{
		{ValidAfter: 900, Shard: "c"}, {ValidAfter: 500, Shard: "b"}, {ValidAfter: 9, Shard: "a"},
	}
	o := told([]happening{
		{30, "config.0", trace.CatalogWrittenEvent{
			Shard: "config", Term: 1, Index: 2, NS: "test.docs", Why: "move m2", Chunks: moved,
		}},
		{31, "config.0", trace.MajorityEvent{Shard: "config", Term: 1, Index: 2}},
	})
	for shard, wrong := range map[string]int{"b": 0, "c": 1} {
		was := o.verdicts[ownershipRule.Name].Found
		o.Returned(&Admitted{
			Node: shard + ".0", Shard: shard, NS: "test.docs", At: 500,
			Version: trace.Chunk{Major: 3 * uint32(wrong), Epoch: "e"},
		}, "c")
		if found := o.verdicts[ownershipRule.Name].Found - was; found != wrong {
			t.Errorf("%s: %d violations, want %d", shard, found, wrong)
		}
	}
}

// A snapshot of a time after a move is complete by the version that it came with: who came with that
// of before the move gets its answer from nobody.
func TestOwns(t *testing.T) {
	moved := placed("b", "", "m")
	moved[0].Major = 2
	moved[0].History = []trace.Placement{{ValidAfter: 500, Shard: "b"}, {ValidAfter: 9, Shard: "a"}}
	o := told([]happening{
		{30, "config.0", trace.CatalogWrittenEvent{
			Shard: "config", Term: 1, Index: 2, NS: "test.docs", Why: "move m1", Chunks: moved,
		}},
		{31, "config.0", trace.MajorityEvent{Shard: "config", Term: 1, Index: 2}},
	})
	for name, c := range map[string]struct {
		shard string
		major uint32
		at    uint64
		owns  bool
	}{
		"before the move":              {"a", 1, 0, true},
		"after it":                     {"b", 2, 0, true},
		"no more":                      {"a", 0, 0, false},
		"a version that nobody knows":  {"b", 7, 0, false},
		"at a time after the move":     {"b", 2, 600, true},
		"by a version from before":     {"b", 1, 600, false},
		"at a time before the move":    {"b", 2, 499, false},
		"at a time that is long ago":   {"b", 2, 8, false},
		"at a time of no such version": {"b", 7, 600, false},
	} {
		q := &Admitted{
			Node: c.shard + ".0", Shard: c.shard, NS: "test.docs", At: c.at,
			Version: trace.Chunk{Major: c.major, Epoch: "e"},
		}
		if owns := o.Owns(q, "c"); owns != c.owns {
			t.Errorf("%s: %t", name, owns)
		}
	}
}
