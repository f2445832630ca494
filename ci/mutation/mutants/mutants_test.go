package mutants_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shardproof/shardproof/ci/mutation/mutants"
)

var rewrite = flag.Bool("rewrite", false, "write toy.golden from the rules as they are")

const bank = "ci/mutation/testdata/toy/bank"

// made makes the mutants of the toy once for all tests.
var made = sync.OnceValues(func() (*mutants.Set, error) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		return nil, err
	}
	return mutants.Make(mutants.Scope{Root: root, Patterns: []string{"./" + bank}})
})

func ofToy(t *testing.T) []*mutants.Mutant {
	t.Helper()
	set, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return set.Mutants
}

// TestRules compares what the rules make of the toy with the golden file, which is there to be
// read.
func TestRules(t *testing.T) {
	var b strings.Builder
	for _, m := range ofToy(t) {
		id := strings.TrimPrefix(m.ID(), bank+"/")
		fmt.Fprintf(&b, "%s line %d\n%s\n\n", id, m.Line, m.Diff())
	}
	if *rewrite {
		if err := os.WriteFile("testdata/toy.golden", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/toy.golden")
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the rules make other mutants of the toy; if they are meant to, run\n"+
			"go test ./ci/mutation/mutants -rewrite\nand read the difference. They make:\n%s",
			b.String())
	}
}

// TestEveryRuleIsKnown holds that reports have a row for every rule, and that identities are
// unique.
func TestEveryRuleIsKnown(t *testing.T) {
	known, seen := map[string]bool{}, map[string]bool{}
	for _, r := range mutants.Rules {
		known[r.Name] = true
	}
	for i, m := range ofToy(t) {
		if !known[m.Rule] {
			t.Errorf("%s is made by a rule that is not listed", m.ID())
		}
		if seen[m.ID()] {
			t.Errorf("%s is there twice", m.ID())
		}
		if seen[m.ID()] = true; m.Number < i {
			t.Errorf("%s has number %d, and is the %d.", m.ID(), m.Number, i)
		}
	}
}
