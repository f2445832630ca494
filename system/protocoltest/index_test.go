package protocoltest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// chapter is a part of the protocol, and where its scripts are: in the packages that implement it.
type chapter struct {
	title string
	dirs  []string
}

// chapters are in the order of the protocol.
var chapters = []chapter{
	{"3. The config server alone", []string{"../configsvr/testdata/3-config-server"}},
	{"3. A router alone", []string{"../router/testdata/3-router"}},
	{"3. Requests through routers", []string{"../router/testdata/3-routing"}},
	{"3, 7, 8, 10, 11. A shard alone", []string{"../shard/testdata/scripts"}},
	{"4. Migration in 4.2", []string{"../migration/testdata/4-migration"}},
	{"5. Migration", []string{"../migration/testdata/5-migration"}},
	{"6. Cloning", []string{"../migration/testdata/6-cloning"}},
	{"7. Sessions", []string{"../migration/testdata/7-sessions"}},
	{"8. The critical section", []string{"../migration/testdata/8-critical-section"}},
	{"9. Decision, recovery, fencing", []string{"../migration/testdata/9-recovery"}},
	{"10. Range deletion", []string{"../rangedel/testdata/10-range-deletion"}},
	{"11. Reads in the past", []string{"../router/testdata/11-reads"}},
	{"12. Change streams", []string{
		"../changestream/testdata/12-change-streams", "../router/testdata/12-change-streams",
	}},
	{"13. Splits, merges, and bounds that are left open", []string{
		"../autosplit/testdata/13-split",
	}},
	{"13, 14. Administration of the cluster", []string{"../admin/testdata/13-administration"}},
	{"14. The balancer", []string{"../balancer/testdata/14-balancer"}},
	{"15. movePrimary", []string{"../moveprimary/testdata/15-move-primary"}},
	{"16. Settings", []string{"../settings/testdata/walks/16-settings"}},
	{"Hazards: recipes of two faults, and bugs that really shipped", []string{
		"../migration/testdata/21-hazards",
	}},
}

// required are the sections and hazards that some script must be about.
var required = []string{
	"protocol 3.2", "protocol 3.3", "protocol 3.4", "protocol 5.1", "protocol 5.2", "protocol 6.1",
	"protocol 6.2", "protocol 6.4", "protocol 6.5", "protocol 6.6", "protocol 7", "protocol 8",
	"protocol 9.1", "protocol 9.2", "protocol 9.3", "protocol 9.4", "protocol 9.5",
	"protocol 10.1", "protocol 10.3", "protocol 10.4", "protocol 10.5", "protocol 10.6",
	"protocol 11", "protocol 12", "protocol 13.1", "protocol 13.3", "protocol 15", "H-21", "H-24",
	"H-37", "H-53",
}

// script is a file and what its first lines say of it.
type script struct{ path, says string }

const introduction = `# The protocol, step by step

A guide to read the protocol from, beside [its specification](../../docs/protocol.md), whose
section numbers the chapters have. Each script leads a cluster through one story: it says first
what it is about, and then shows, step by step, what was asked and what happened. The scripts are
in the packages that implement the sections, and are those packages' own tests. Begin with
[happy](../migration/testdata/5-migration/happy), a migration in which nothing goes wrong. The
language is explained in [verbs.go](verbs.go) and [stage.go](stage.go). The scenarios of
[histories/corpus](../../histories/corpus) lead through some of the same stories under load, with
every checker watching.

This page is written by ` + "`go test ./system/protocoltest -rewrite`" + `.
`

// TestIndex holds README.md to the scripts that there are. The flag -rewrite is that of package
// datadriven.
func TestIndex(t *testing.T) {
	var b strings.Builder
	b.WriteString(introduction)
	cited := map[string]bool{}
	for _, c := range chapters {
		fmt.Fprintf(&b, "\n## %s\n\n", c.title)
		for _, dir := range c.dirs {
			for _, s := range scriptsIn(t, dir) {
				name := strings.ReplaceAll(filepath.Base(s.path), "_", " ")
				fmt.Fprintf(&b, "- [%s](%s): %s\n", name, s.path, firstSentence(s.says))
				cite(cited, s.says)
			}
		}
	}
	for _, r := range required {
		if !cited[r] {
			t.Errorf("no script says that it is about %s", r)
		}
	}
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile("README.md", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile("README.md"); err != nil || string(page) != b.String() {
		t.Errorf("README.md is not what the scripts say (%v): run go test . -rewrite", err)
	}
}

// TestEveryScriptHasAChapter: a directory that nobody lists would not be in the index.
func TestEveryScriptHasAChapter(t *testing.T) {
	dirs, err := filepath.Glob("../*/testdata/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		lists := func(c chapter) bool { return slices.Contains(c.dirs, dir) }
		if !slices.ContainsFunc(chapters, lists) {
			t.Errorf("%s is in no chapter", dir)
		}
	}
}

func scriptsIn(t *testing.T, dir string) (all []script) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := script{path, comments(string(text))}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s does not say what it is about", path)
		}
		all = append(all, s)
	}
	return all
}

// comments are the text behind the marks, paragraphs on lines of their own.
func comments(text string) string {
	var b strings.Builder
	open := false
	for line := range strings.Lines(text) {
		said, is := strings.CutPrefix(line, "# ")
		switch {
		case is && open:
			b.WriteString(" ")
			fallthrough
		case is:
			b.WriteString(strings.TrimSpace(said))
		case open:
			b.WriteString("\n")
		}
		open = is
	}
	return b.String()
}

func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if i := strings.Index(text, ". "); i > 0 {
		text = text[:i+1]
	}
	return text
}

var (
	sections = regexp.MustCompile(`protocol ([0-9., S]+)`)
	numbers  = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
	hazards  = regexp.MustCompile(`H-[0-9]+`)
)

// cite records which sections and hazards a text names: "protocol 9.1, 9.2" are two.
func cite(cited map[string]bool, text string) {
	for _, m := range sections.FindAllStringSubmatch(text, -1) {
		for _, n := range numbers.FindAllString(m[1], -1) {
			cited["protocol "+n] = true
		}
	}
	for _, h := range hazards.FindAllString(text, -1) {
		cited[h] = true
	}
}
