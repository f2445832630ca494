package docs

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
)

// formats is the page whose examples are read.
const formats = "docs/formats.md"

// TestHistories reads every history of the page and checks it. What follows the tag is what must
// come of it: pass, the signature of the first violation, or "refused" and a part of the error.
func TestHistories(t *testing.T) {
	seen := map[scenario.OpKind]bool{}
	all := blocks(t, formats, "history")
	if len(all) == 0 {
		t.Fatalf("%s has no history", formats)
	}
	for _, b := range all {
		name := fmt.Sprintf("%s:%d", b.page, b.line)
		_, ops, err := histories.Read[histories.Op](name, strings.NewReader(b.text))
		if got := judged(ops, err); !strings.HasPrefix(got, b.note) {
			t.Errorf("%s: the text says %q, and the reader and checkers say %q", name, b.note, got)
		}
		for _, op := range ops {
			seen[op.Kind] = true
		}
	}
	for _, kind := range constants(t, "histories/opkind", "Name") {
		if !seen[opkind.Name(kind)] {
			t.Errorf("%s has no example of the operation %s in a history", formats, kind)
		}
	}
}

func judged(ops []histories.Op, err error) string {
	if err != nil {
		_, wrong, _ := strings.Cut(err.Error(), ": ")
		return "refused " + wrong
	}
	worst := checkers.Worst(checkers.Check(ops, checkers.Limits{}))
	if len(worst.Violations) > 0 {
		return string(worst.Violations[0].Signature) + ": " + worst.Violations[0].Broke
	}
	return string(worst.Outcome)
}

// TestEvents reads the trace of the page.
func TestEvents(t *testing.T) {
	for _, b := range blocks(t, formats, "events") {
		name := fmt.Sprintf("%s:%d", b.page, b.line)
		if _, _, err := histories.Read[trace.Event](name, strings.NewReader(b.text)); err != nil {
			t.Error(err)
		}
	}
}

// TestScenarios reads the scenarios of the page and prints them again. Together they have a line of
// every fact, with every kind of operation and of command; those marked "runs" pass.
func TestScenarios(t *testing.T) {
	all := blocks(t, formats, "scenario")
	var text strings.Builder
	exemplified := map[string]bool{}
	for _, b := range all {
		name := fmt.Sprintf("%s:%d", b.page, b.line)
		s, err := harness.Parse(name, b.text)
		if err != nil {
			t.Error(err)
			continue
		}
		again, err := scenario.Parse(name, s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%s: what it prints is not read back: %v", name, err)
		}
		if b.note == "runs" {
			runs(t, name, s)
		}
		text.WriteString(b.text)
		for i := range s.Ops {
			exemplified["operation "+string(s.Ops[i].Kind)] = true
		}
		for i := range s.Commands {
			exemplified["command "+string(s.Commands[i].Do)] = true
		}
	}
	for _, kind := range kinds() {
		if !exemplified[kind] {
			t.Errorf("%s has no example of the %s in a scenario", formats, kind)
		}
	}
	for _, fact := range facts(t) {
		if !slices.Contains(strings.FieldsFunc(text.String(), lineEnd), fact) &&
			!strings.Contains(text.String(), "\n"+fact+" ") {
			t.Errorf("%s has no example of the line %q", formats, fact)
		}
	}
}

// kinds are all operations and commands that a scenario can have.
func kinds() (all []string) {
	for _, k := range opkind.Known() {
		all = append(all, "operation "+string(k))
	}
	for _, k := range commandkind.All() {
		all = append(all, "command "+string(k))
	}
	return all
}

// TestKinds: the tables of the page have a row for every kind of operation and of command.
func TestKinds(t *testing.T) {
	page := read(t, formats)
	for _, k := range opkind.All() {
		if k.Name.Known() {
			page = withRow(page, "### Operations of clients", string(k.Name),
				"| "+operands(&k)+" | "+k.About+" |\n")
		}
	}
	for _, k := range commandkind.All() {
		var operands []string
		for _, o := range k.Operands() {
			operands = append(operands, o.String())
		}
		page = withRow(page, "### Commands of operators", string(k),
			"| "+strings.Join(operands, ", ")+" |\n")
	}
	switch {
	case page == read(t, formats):
	case *rewrite:
		write(t, filepath.Join(root, formats), page)
	default:
		t.Errorf("%s lacks kinds of operations or commands; go test ./ci/docs -rewrite", formats)
	}
}

// withRow is the page with a row of the kind at the end of the first table below a heading.
func withRow(page, heading, kind, rest string) string {
	before, below, _ := strings.Cut(page, heading)
	rows, after, _ := strings.Cut(below, " |\n\n")
	if strings.Contains(rows, "`"+kind+"`") {
		return page
	}
	return before + heading + rows + " |\n| `" + kind + "` " + rest + "\n" + after
}

// operands are what stands behind the namespace of an operation.
func operands(k *opkind.Kind) string {
	var all []string
	for _, o := range []struct {
		has  bool
		text string
	}{
		{k.Shape == opkind.Keyed, "`k=`"}, {k.Shape == opkind.Ranged, "`[LO, HI) batch=N`"},
		{k.Value, "`v=`"}, {k.Expects(), "`if=V` or `if-absent`"}, {k.Renames, "`into=NS`"},
	} {
		if o.has {
			all = append(all, o.text)
		}
	}
	return strings.Join(all, " ")
}

func runs(t *testing.T, name string, s *scenario.Scenario) {
	t.Helper()
	r, err := harness.Run(s, harness.Options{})
	if err != nil {
		t.Errorf("%s: %v", name, err)
	} else if !r.Passed() {
		t.Errorf("%s fails: %s", name, harness.Explain(r))
	}
}

func lineEnd(r rune) bool { return r == '\n' }

// facts are the words with which a line can begin, as the parser names them to who writes another.
func facts(t *testing.T) []string {
	t.Helper()
	_, err := scenario.Parse("", fmt.Sprintf("shardproof scenario %d\nnonsense\n", scenario.Schema))
	if err == nil {
		t.Fatal("a line of nonsense was accepted")
	}
	_, list, found := strings.Cut(err.Error(), "expected ")
	if !found {
		t.Fatalf("the parser does not say what it expects: %v", err)
	}
	return strings.FieldsFunc(strings.ReplaceAll(list, " or ", ", "), func(r rune) bool {
		return r == ' ' || r == ','
	})
}
