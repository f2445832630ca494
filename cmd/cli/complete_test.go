package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shardproof/shardproof/harness"
)

// completed is what a shell is offered after the words.
func completed(t *testing.T, words ...string) (offers []string, directive string) {
	t.Helper()
	root := newRoot(harness.Targets())
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&bytes.Buffer{})
	root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, words...))
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// TestFlagsComplete: every flag with a value offers its values, folders, files, or says what it
// wants. Files are offered only where files are wanted.
func TestFlagsComplete(t *testing.T) {
	var visit func(c *cobra.Command, path []string)
	visit = func(c *cobra.Command, path []string) {
		for _, sub := range c.Commands() {
			if sub.Name() != "help" && sub.Name() != "completion" {
				visit(sub, append(slices.Clone(path), sub.Name()))
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" || len(path) == 0 {
				return
			}
			offers, directive := completed(t, append(slices.Clone(path), "--"+f.Name, "")...)
			file := directive == ":0" // the shell's own completion of files
			if file != slices.Contains(fileFlags, f.Name) {
				t.Errorf("%s --%s offers %v %s", c.CommandPath(), f.Name, offers, directive)
			}
		})
	}
	visit(newRoot(harness.Targets()), nil)
}

// TestOffers: names come from the lists.
func TestOffers(t *testing.T) {
	for line, want := range map[string]string{
		"run --profile ": "mixed", "explore --strategy ": "portfolio", "run --protocol ": "4.2",
		"replay --set ": "orphanCleanupDelaySecs=", "replay --failpoint ": "recipient.fetch=",
		"sweep ": "migration", "sweep race --held ": "donor", "list ": "faults",
	} {
		offers, _ := completed(t, strings.Split(line, " ")...)
		if !slices.ContainsFunc(offers, func(o string) bool {
			name, _, _ := strings.Cut(o, "\t")
			return name == want
		}) {
			t.Errorf("%s does not offer %s: %v", line, want, offers)
		}
	}
}
