package oracle

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// A document is judged by what its shard owned at the version that the query came with: the query
// goes on with that after the key has moved, and nobody else may return the document.
func TestReturned(t *testing.T) {
	moved := placed("b", "", "m")
	moved[0].Major = 2
	before := trace.Chunk{Major: 1, Epoch: "e"}
	after := trace.Chunk{Major: 2, Epoch: "e"}
	for name, c := range map[string]struct {
		shard, key  string
		version     trace.Chunk
		wrong, open int
	}{
		"the owner":                   {"a", "c", before, 0, 0},
		"an orphan":                   {"b", "c", before, 1, 0},
		"the new owner":               {"b", "c", after, 0, 0},
		"of nothing":                  {"a", "c", trace.Chunk{Epoch: "e"}, 1, 0},
		"a version that nobody knows": {"b", "c", trace.Chunk{Major: 7, Epoch: "e"}, 0, 1},
		"of another incarnation":      {"b", "c", trace.Chunk{Major: 1, Epoch: "f"}, 0, 1},
	} {
		o := told([]happening{
			{30, "config.0", trace.CatalogWrittenEvent{
				Shard: "config", Term: 1, Index: 2, NS: "test.docs", Why: "move m1", Chunks: moved,
			}},
			{31, "config.0", trace.MajorityEvent{Shard: "config", Term: 1, Index: 2}},
		})
		o.Returned(&Admitted{
			Node: c.shard + ".0", Shard: c.shard, NS: "test.docs", Version: c.version,
		}, c.key)
		v := o.verdicts[ownershipRule.Name]
		if v.Found != c.wrong || c.wrong > 0 && v.Violations[0].Signature != readFromStranger {
			t.Errorf("%s: %d violations, want %d: %v", name, v.Found, c.wrong, v.Violations)
		}
		if told := verdictOf(o, ownershipRule.Name); told.Undecidable != c.open {
			t.Errorf("%s: %d undecidable, want %d", name, told.Undecidable, c.open)
		}
	}
}

func verdictOf(o *Oracle, checker string) (found verdict.Verdict) {
	for _, v := range o.Verdicts() {
		if v.Checker == checker {
			found = v
		}
	}
	return found
}
