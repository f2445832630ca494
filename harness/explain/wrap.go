package explain

import (
	"strings"
	"unicode/utf8"
)

// Width is how many columns a line of the failure block has behind its name: with that, a hundred.
const Width = 88

// mostLines is how many lines one sentence may take.
const mostLines = 5

// Wrap breaks a text at spaces into lines of at most so many columns, all but the first with so
// many columns of indentation. A word that is longer stays whole: what has to be copied is one
// word. What takes too many lines ends with an ellipsis.
func Wrap(text string, columns, indent int) (lines []string) {
	words := strings.Split(strings.TrimLeft(text, " "), " ")
	line := strings.Repeat(" ", strings.Index(text, words[0])) + words[0]
	for _, word := range words[1:] {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= columns {
			line += " " + word
			continue
		}
		lines = append(lines, strings.TrimRight(line, " "))
		if len(lines) == mostLines {
			lines[mostLines-1] += " …"
			return lines
		}
		line = strings.Repeat(" ", indent) + word
	}
	return append(lines, line)
}

// wrapAll wraps every line of a row.
func wrapAll(lines []string, indent int) (all []string) {
	for _, line := range lines {
		all = append(all, Wrap(line, Width, indent)...)
	}
	return all
}
