package checkers

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers/admission"
	"github.com/shardproof/shardproof/checkers/automerge"
	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/checkers/omissions"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/checkers/records"
	"github.com/shardproof/shardproof/checkers/signals"
	"github.com/shardproof/shardproof/checkers/tenures"
	"github.com/shardproof/shardproof/checkers/waits"
	"github.com/shardproof/shardproof/checkers/warnings"
)

// TestCatalog: every checker has a name of its own, a promise, and says what its signatures mean.
func TestCatalog(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range slices.Concat(
		Catalog(), endstate.Catalog(), oracle.Catalog(), automerge.Catalog(), tenures.Catalog(),
		signals.Catalog(), warnings.Catalog(), admission.Catalog(), waits.Catalog(), omissions.Catalog(),
		records.Catalog(),
	) {
		if c.Name == "" || c.Promise == "" || len(c.Signatures) == 0 || seen[c.Name] {
			t.Errorf("%+v", c)
		}
		seen[c.Name] = true
		for signature, means := range c.Signatures {
			if signature == "" || means == "" {
				t.Errorf("%s: signature %q means %q", c.Name, signature, means)
			}
		}
	}
}
