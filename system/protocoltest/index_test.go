package protocoltest_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// chapters are where stories are told, in the order of the protocol: here, and in the packages of what they are about.
var chapters = []struct{ dir, title string }{
	{"../configsvr/testdata", "3. The config server alone"},
	{"../router/testdata", "3. A router alone"},
	{"../shard/testdata/scripts", "3, 7, 8, 10, 11. A shard alone"},
	{"testdata/4-migration", "4. Migration in 4.2"},
	{"testdata/5-migration", "5. Migration"},
	{"testdata/6-cloning", "6. Cloning"},
	{"testdata/7-sessions", "7. Sessions"},
	{"testdata/8-critical-section", "8. The critical section"},
	{"testdata/9-recovery", "9. Decision, recovery, fencing"},
	{"testdata/10-range-deletion", "10. Range deletion"},
	{"testdata/11-reads", "11. Reads in the past"},
	{"testdata/12-change-streams", "12. Change streams"},
	{"testdata/13-split", "13. Splits, merges, and bounds that are left open"},
	{"testdata/13-administration", "13, 14. Administration of the cluster"},
	{"testdata/14-balancer", "14. The balancer"},
	{"testdata/15-move-primary", "15. movePrimary"},
	{"testdata/21-hazards", "Hazards: recipes of two faults, and bugs that really shipped"},
}

// required are the sections and hazards of which some story must speak.
var required = []string{
	"protocol 3.2", "protocol 3.3", "protocol 3.4", "protocol 5.1", "protocol 5.2", "protocol 6.1", "protocol 6.2", "protocol 6.4",
	"protocol 6.5", "protocol 6.6", "protocol 7", "protocol 8", "protocol 9.1", "protocol 9.2", "protocol 9.3", "protocol 9.4",
	"protocol 9.5", "protocol 10.1", "protocol 10.3", "protocol 10.4", "protocol 10.5", "protocol 10.6", "protocol 11",
	"protocol 12", "protocol 13.1", "protocol 13.3", "protocol 15", "H-21", "H-24", "H-37", "H-53",
}

// story is a file and what its head says of it.
type story struct{ path, says string }

// TestIndex holds README.md to the stories that there are. With -rewrite it is written anew.
func TestIndex(t *testing.T) {
	var b strings.Builder
	b.WriteString("# The protocol, story by story\n\nEvery walk says first what it tells of, and shows the steps that matter. Begin with " +
		"[happy](testdata/5-migration/happy).\nThe scenarios of [histories/corpus](../../histories/corpus) tell some of them once more, under load and with every " +
		"checker watching.\n\nThis page is written by `go test ./system/protocoltest -rewrite`.\n")
	cited := map[string]bool{}
	for _, c := range chapters {
		fmt.Fprintf(&b, "\n## %s\n\n", c.title)
		for _, s := range storiesIn(t, c.dir) {
			name := strings.TrimSuffix(filepath.Base(s.path), ".txt")
			fmt.Fprintf(&b, "- [%s](%s): %s\n", strings.ReplaceAll(name, "_", " "), s.path, firstSentence(s.says))
			cite(cited, s.says)
		}
	}
	for _, r := range required {
		if !cited[r] {
			t.Errorf("no story says that it is about %s", r)
		}
	}
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile("README.md", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile("README.md"); err != nil || string(page) != b.String() {
		t.Errorf("README.md is not what the stories say (%v): go test ./system/protocoltest -rewrite", err)
	}
}

// TestEveryWalkHasAChapter: a directory that nobody lists would not be in the index.
func TestEveryWalkHasAChapter(t *testing.T) {
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !slices.ContainsFunc(chapters, func(c struct{ dir, title string }) bool { return c.dir == filepath.Dir(path) }) {
			t.Errorf("%s is in no chapter", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func storiesIn(t *testing.T, dir string) (all []story) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		if strings.HasSuffix(path, ".go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := story{path, comments(string(text))}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s does not say what it tells of", path)
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

// cite notes which sections and hazards a text names: "protocol 9.1, 9.2" are two.
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
