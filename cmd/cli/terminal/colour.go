package terminal

import (
	"io"
	"os"
	"regexp"
)

// Escapes of a terminal.
const (
	red   = "\x1b[31;1m"
	green = "\x1b[32;1m"
	bold  = "\x1b[1m"
	off   = "\x1b[0m"
)

// Wants reports whether text on a file is to be coloured: it is a terminal, and NO_COLOR is empty
// or not set (no-color.org).
func Wants(f *os.File) bool { return os.Getenv("NO_COLOR") == "" && IsTerminal(f) }

// painted are the words that begin lines of results, with their colours.
var painted = []struct {
	word   *regexp.Regexp
	colour string
}{
	{regexp.MustCompile(`^(FAIL|UNDECIDED|DIVERGED|HARNESS FAILED|CAME BACK|NEW)( {2,})`), red},
	{regexp.MustCompile(`^(PASS|FIXED)( {2,})`), green},
	{regexp.MustCompile(`^(  )(Promise|Broke|Inside|Story|Because|Smallest|Passing|Replay)( {2,})`),
		bold},
}

// colouring paints the words at the beginning of lines that are written to it whole. Pieces of
// lines pass as they are.
type colouring struct {
	out    io.Writer
	inLine bool
}

// Colour is a writer that paints what matters in results.
func Colour(out io.Writer) io.Writer { return &colouring{out: out} }

// Write writes text with colours; it counts the bytes of the text alone.
func (c *colouring) Write(text []byte) (int, error) {
	var all []byte
	for begin := 0; begin < len(text); {
		end := begin
		for end < len(text) && text[end] != '\n' {
			end++
		}
		end = min(end+1, len(text))
		line := text[begin:end]
		if !c.inLine {
			line = paint(line)
		}
		all = append(all, line...)
		c.inLine = text[end-1] != '\n'
		begin = end
	}
	if _, err := c.out.Write(all); err != nil {
		return 0, err
	}
	return len(text), nil
}

func paint(line []byte) []byte {
	for _, p := range painted {
		m := p.word.FindSubmatchIndex(line)
		if m == nil {
			continue
		}
		from, to := m[2], m[3]
		if len(m) > 6 {
			from, to = m[4], m[5] // behind the indentation
		}
		out := append([]byte{}, line[:from]...)
		out = append(out, p.colour...)
		out = append(out, line[from:to]...)
		out = append(out, off...)
		return append(out, line[to:]...)
	}
	return line
}
