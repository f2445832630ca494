package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/cmd/serve"
	"github.com/shardproof/shardproof/harness"
)

// featureRow is a row of docs/features.md: what is expected, and the command that shows it.
var featureRow = regexp.MustCompile("(?m)^\\| ([^|]+) \\| `([^`]+)` \\| [^|]+ \\|$")

// features is how many there are.
const features = 25

// TestFeatures: every command of docs/features.md exists, with its flags.
func TestFeatures(t *testing.T) {
	page, err := os.ReadFile("../../docs/features.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	rows := featureRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) != features {
		t.Errorf("%d features, want %d", len(rows), features)
	}
	for _, row := range rows {
		words := strings.Fields(row[2])
		switch words[0] {
		case "make":
			if !strings.Contains(string(makefile), "\n"+words[1]+":") {
				t.Errorf("%s: there is no target %s", row[1], words[1])
			}
		case "shardproof":
			root := newRoot(harness.Targets(), serve.New())
			root.InitDefaultCompletionCmd(words[1:]...)
			c, rest, err := root.Find(words[1:])
			if err != nil || c == root && words[1] != "--help" {
				t.Errorf("%s: %s: %v", row[1], row[2], err)
			} else if err := c.ParseFlags(rest); err != nil && words[1] != "--help" {
				t.Errorf("%s: %s: %v", row[1], row[2], err)
			}
		}
	}
}
