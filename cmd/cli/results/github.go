package results

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// mostAnnotations is how many annotations of a kind GitHub shows for a step.
const mostAnnotations = 10

// Annotate writes a workflow command for each case that is no pass, which GitHub shows at its line
// of code. Failures with one signature are one annotation, since GitHub shows few.
func (d *Document) Annotate(out io.Writer) {
	var told []string
	for i := range d.Cases {
		c := &d.Cases[i]
		if !c.broken() || slices.Contains(told, c.Signature) || len(told) == mostAnnotations {
			continue
		}
		told = append(told, c.Signature)
		at := ""
		if file, line := c.place(); file != "" {
			at = fmt.Sprintf("file=%s,line=%s,", property(file), line)
		}
		fmt.Fprintf(out, "::error %stitle=%s::%s\n",
			at, property(c.Signature+" "+c.Name),
			message(c.Broke+"\n"+strings.Join(c.Replay, "\n")))
	}
}

// message and property escape text of a workflow command.
func message(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(text))
}

// mostBlocks is how many failure blocks a summary has: GitHub refuses one of more than a mebibyte.
const mostBlocks = 20

// Summary writes the document as Markdown.
func (d *Document) Summary(out io.Writer) error {
	var b strings.Builder
	broken := 0
	for i := range d.Cases {
		if d.Cases[i].broken() {
			broken++
		}
	}
	fmt.Fprintf(&b, "### `%s`: exit code %d, %d failed\n\n", code(d.Command), d.Exit, broken)
	if d.Error != "" {
		fmt.Fprintf(&b, "%s\n\n", fenced(d.Error))
	}
	var names []string
	for name := range d.Counts { //shardproof:allow map sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 0 {
		b.WriteString("| what | how many |\n| --- | ---: |\n")
	}
	for _, name := range names {
		fmt.Fprintf(&b, "| %s | %.10g |\n", name, d.Counts[name])
	}
	for i, shown := 0, 0; i < len(d.Cases) && shown < mostBlocks; i++ {
		c := &d.Cases[i]
		if !c.broken() {
			continue
		}
		shown++
		fmt.Fprintf(&b, "\n<details><summary><code>%s</code> %s</summary>\n\n%s\n\n</details>\n",
			code(c.Signature), code(c.Name), fenced(c.Text))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// code is text that stands within a line of code.
func code(text string) string {
	return strings.NewReplacer("`", "'", "<", "&lt;", "\n", " ").Replace(text)
}

// fenced is text as it is, whatever is in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
