package scenario

import (
	"strconv"
	"strings"
	"time"
)

// ParseError says where a text is wrong, what is wrong there, and what is expected instead. Line
// counts from 1; 0 means that no single line is to blame.
type ParseError struct {
	File     string
	Line     int
	Wrong    string
	Expected string
}

// Error is "file:line: what is wrong; what is expected".
func (e *ParseError) Error() string {
	place := e.File
	if e.Line > 0 {
		place += ":" + strconv.Itoa(e.Line)
	}
	if e.Expected == "" {
		return place + ": " + e.Wrong
	}
	return place + ": " + e.Wrong + "; " + e.Expected
}

// lineToken is a word, or name=value when pair is set.
type lineToken struct {
	name, text string
	pair       bool
}

// line reads one line from left to right. Its first mistake stays; after it every read returns a
// zero value, so that a grammar rule reads as the line does.
type line struct {
	rest            string
	wrong, expected string
}

func (l *line) fail(wrong, expected string) {
	if l.wrong == "" {
		l.wrong, l.expected = wrong, expected
	}
}

func (l *line) ok() bool { return l.wrong == "" }

// more says whether something other than a comment is left.
func (l *line) more() bool {
	l.rest = strings.TrimLeft(l.rest, " \t\r")
	comment := l.rest == "#" || strings.HasPrefix(l.rest, "# ") || strings.HasPrefix(l.rest, "#\t")
	return l.ok() && l.rest != "" && !comment
}

// next is the next word or pair; expected names what should stand there.
func (l *line) next(expected string) lineToken {
	if !l.more() {
		l.fail("the line ends too early", "expected "+expected)
		return lineToken{}
	}
	switch l.rest[0] {
	case '[':
		return l.nextRange(expected)
	case '=':
		l.rest = l.rest[1:]
		return lineToken{text: "="}
	}
	text, quoted := l.piece()
	if quoted || text == "" || !strings.HasPrefix(l.rest, "=") {
		return lineToken{text: text}
	}
	l.rest = l.rest[1:]
	value, _ := l.piece()
	return lineToken{name: text, text: value, pair: true}
}

func (l *line) nextRange(expected string) lineToken {
	end := strings.IndexByte(l.rest, ')')
	if end < 0 {
		l.fail("the range has no end", "expected "+expected)
		return lineToken{}
	}
	text := l.rest[:end+1]
	l.rest = l.rest[end+1:]
	return lineToken{text: text}
}

// piece is a quoted text or a run of characters up to a blank, a quote or an equals sign.
func (l *line) piece() (text string, quoted bool) {
	if strings.HasPrefix(l.rest, `"`) {
		return l.quoted(), true
	}
	end := strings.IndexAny(l.rest, " \t\r=\"")
	if end < 0 {
		end = len(l.rest)
	}
	text, l.rest = l.rest[:end], l.rest[end:]
	return text, false
}

func (l *line) quoted() string {
	prefix, err := strconv.QuotedPrefix(l.rest)
	if err != nil {
		l.fail("the quoted text has no end", `expected a closing "`)
		return ""
	}
	l.rest = l.rest[len(prefix):]
	text, _ := strconv.Unquote(prefix)
	return text
}

// peek is the next word without taking it; empty at the end and before a pair.
func (l *line) peek() string {
	ahead := *l
	if !ahead.more() {
		return ""
	}
	if t := ahead.next(""); !t.pair && ahead.ok() {
		return t.text
	}
	return ""
}

// word is the next word; a pair is refused.
func (l *line) word(expected string) string {
	t := l.next(expected)
	if t.pair {
		l.fail("unexpected "+t.name+"="+quoteWord(t.text), "expected "+expected)
	}
	return t.text
}

func (l *line) keyword(w string) {
	if got := l.word(`"` + w + `"`); got != w {
		l.fail("unexpected "+quoteWord(got), `expected "`+w+`"`)
	}
}

// optional takes the word when it is next.
func (l *line) optional(w string) bool {
	if l.peek() != w {
		return false
	}
	l.keyword(w)
	return true
}

func (l *line) end() {
	if l.more() {
		l.fail("unexpected "+strings.TrimSpace(l.rest), "expected the end of the line")
	}
}

func (l *line) integer(text, expected string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		l.fail(quoteWord(text)+" is not a whole number", "expected "+expected)
	}
	return n
}

func (l *line) number(expected string) int { return int(l.integer(l.word(expected), expected)) }

func (l *line) unsigned(text, expected string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		l.fail(quoteWord(text)+" is not a whole number from 0", "expected "+expected)
	}
	return n
}

func (l *line) duration(expected string) time.Duration { return l.time(l.word(expected), expected) }

func (l *line) time(text, expected string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		l.fail(quoteWord(text)+" is not a time", "expected "+expected)
	}
	return d
}

// occurrence reads #n.
func (l *line) occurrence(expected string) uint64 {
	text := l.word(expected)
	digits, found := strings.CutPrefix(text, "#")
	if !found {
		l.fail("unexpected "+quoteWord(text), "expected "+expected)
	}
	return l.unsigned(digits, expected)
}

// span reads [min, max).
func (l *line) span(expected string) (lo, hi int64) {
	text := l.word(expected)
	inner, opened := strings.CutPrefix(text, "[")
	inner, closed := strings.CutSuffix(inner, ")")
	from, to, found := strings.Cut(inner, ",")
	if !opened || !closed || !found {
		l.fail("unexpected "+quoteWord(text), "expected "+expected)
		return 0, 0
	}
	return l.bound(strings.TrimSpace(from), expected), l.bound(strings.TrimSpace(to), expected)
}

func (l *line) bound(text, expected string) int64 {
	switch text {
	case "MinKey":
		return MinKey
	case "MaxKey":
		return MaxKey
	}
	return l.integer(text, expected)
}
