package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness/failuredb"
)

// report is the report of the night as Markdown. It begins with a paragraph that can stand in an
// issue by itself.
func (n *night) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Night %d: %s\n\n%s\n", n.number, n.headline(), n.paragraph())
	b.WriteString("\n| part | time | what came of it |\n| --- | ---: | --- |\n")
	for _, p := range n.record.Parts {
		says := p.Says
		if p.Failed {
			says = "**failed**: " + says
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.Name,
			time.Duration(p.Seconds*float64(time.Second)).Round(time.Second), cell(says))
	}
	if len(n.record.Findings) > 0 {
		b.WriteString("\n| status | signature | runs | last seed |\n| --- | --- | ---: | ---: |\n")
	}
	for _, f := range n.record.Findings {
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", f.Status, cell(f.Signature), f.Runs, f.Seed)
	}
	for _, f := range n.record.Findings {
		if f.Folder != "" {
			fmt.Fprintf(&b, "\n## %s\n\n- %s\n- smallest: %s\n- page: `%s`\n- `%s`\n", f.Signature,
				f.Broke, cmp.Or(f.Smallest, f.Problem), f.Page, n.replay(&f))
		}
	}
	return b.String()
}

// cell is text that stands in one cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;").Replace(text)
}

func (n *night) headline() string {
	var words []string
	for _, s := range []failuredb.Status{
		failuredb.New, failuredb.CameBack, failuredb.Known, failuredb.Fixed,
	} {
		if c := n.count(s); c > 0 {
			words = append(words, fmt.Sprintf("%d %s", c, s))
		}
	}
	for _, p := range n.record.Parts {
		if p.Failed {
			words = append(words, p.Name+" failed")
		}
	}
	if len(words) == 0 {
		return "nothing failed"
	}
	return strings.Join(words, ", ")
}

func (n *night) count(s failuredb.Status) (c int) {
	for _, f := range n.record.Findings {
		if f.Status == string(s) {
			c++
		}
	}
	return c
}

// paragraph says in plain words what the night has found, for an issue.
func (n *night) paragraph() string {
	var b strings.Builder
	fmt.Fprintf(&b, "In %s the night of %s ran %d seeds with build %s; %d of them failed.",
		time.Since(n.begun).Round(time.Second), n.record.At.Format(time.DateOnly), n.record.Seeds,
		n.record.Build, n.record.Failures)
	news := 0
	for i := range n.record.Findings {
		f := &n.record.Findings[i]
		if !f.isNews() {
			continue
		}
		news++
		is := "is new"
		if f.Status == string(failuredb.CameBack) {
			is = "came back"
		}
		fmt.Fprintf(&b, " **%s %s**: %s", f.Signature, is, sentence(f.Broke))
		if f.Smallest != "" {
			fmt.Fprintf(&b, " The smallest scenario has %s.", strings.TrimSuffix(
				strings.SplitN(f.Smallest, " from ", 2)[0], "."))
		}
		fmt.Fprintf(&b, " Replay it with `%s`.", n.replay(f))
	}
	if news == 0 {
		b.WriteString(" Nothing is new")
		if c := n.count(failuredb.Known); c > 0 {
			fmt.Fprintf(&b, "; known signatures: %d", c)
		}
		b.WriteString(".")
	}
	if c := n.count(failuredb.Fixed); c > 0 {
		fmt.Fprintf(&b, " Fixed: %d.", c)
	}
	for _, p := range n.record.Parts {
		if p.Failed {
			fmt.Fprintf(&b, " The part %q failed: %s", p.Name, sentence(p.Says))
		}
	}
	return b.String()
}

func sentence(text string) string {
	if text = strings.TrimSpace(text); text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// replay is the command that runs a finding again, from the folder of all nights.
func (n *night) replay(f *finding) string {
	run := filepath.Join(filepath.Base(n.folder), filepath.Dir(f.Page))
	return "shardproof replay " + run
}
