// Package terminal is how text looks where people read it: rows of a name and a text, columns, a
// line of progress, and colour.
//
// Promise: no line of a table is wider than a hundred columns, unless a single word or the columns
// before it are; the line of progress never wraps. What is no terminal gets plain lines, and
// NO_COLOR is honoured.
//
// Refusal: it knows no commands and no results, only how lines look.
package terminal

import (
	"fmt"
	"io"
	"strings"
)

// width is how many columns a line of a summary has at most, unless a single word is longer.
const width = 100

// Sheet is a summary: rows of a name and a text, which goes on below itself when it is long.
type Sheet struct{ rows [][2]string }

// Row adds a row; format and args are as for fmt.Sprintf.
func (s *Sheet) Row(name, format string, args ...any) {
	s.rows = append(s.rows, [2]string{name, fmt.Sprintf(format, args...)})
}

// Print writes the rows.
func (s *Sheet) Print(out io.Writer) {
	names := 0
	for _, r := range s.rows {
		names = max(names, len(r[0]))
	}
	for _, r := range s.rows {
		name := r[0]
		for _, line := range wrapped(r[1], width-names-2) {
			fmt.Fprintf(out, "%-*s  %s\n", names, name, line)
			name = ""
		}
	}
}

// Columns prints lines of cells, which tabs divide, below each other; the last cell goes on below
// itself when it is long.
func Columns(out io.Writer, text string) {
	wide := map[int]int{}
	var lines [][]string
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		lines = append(lines, cells)
		for i, cell := range cells[:len(cells)-1] {
			wide[i] = max(wide[i], len(cell))
		}
	}
	for _, cells := range lines {
		before := ""
		for i, cell := range cells[:len(cells)-1] {
			before += fmt.Sprintf("%-*s  ", wide[i], cell)
		}
		for _, line := range wrapped(cells[len(cells)-1], width-len(before)) {
			fmt.Fprintln(out, strings.TrimRight(before+line, " "))
			before = strings.Repeat(" ", len(before))
		}
	}
}

// wrapped breaks a text between its words into lines of at most so many columns.
func wrapped(text string, columns int) []string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return []string{""}
	}
	lines := words[:1:1]
	for _, w := range words[1:] {
		if last := &lines[len(lines)-1]; len(*last)+1+len(w) <= columns {
			*last += " " + w
		} else {
			lines = append(lines, w)
		}
	}
	return lines
}
