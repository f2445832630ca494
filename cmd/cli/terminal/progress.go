package terminal

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

// Progress shows how something long goes: one line that rewrites itself on a terminal, a plain line
// now and then elsewhere.
type Progress struct {
	out   io.Writer
	fd    int // of the terminal, negative for none
	next  time.Time
	shown bool
}

// How often the line is renewed.
const (
	onTerminal    = 200 * time.Millisecond
	elsewhereText = 10 * time.Second
)

// NewProgress shows progress on out.
func NewProgress(out io.Writer) *Progress {
	p := &Progress{out: out, fd: -1}
	if f, ok := out.(*os.File); ok && IsTerminal(f) {
		p.fd = int(f.Fd())
	} else {
		p.next = time.Now().Add(elsewhereText)
	}
	return p
}

// IsTerminal reports whether a file is a terminal that can move its cursor.
func IsTerminal(f *os.File) bool {
	return isatty.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb"
}

// Show renews the line when it is time; what matters most stands first in it.
func (p *Progress) Show(line func() string) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	if p.fd >= 0 {
		fmt.Fprintf(p.out, "\r\x1b[K%s", cutLine(line(), columns(p.fd)))
		p.next, p.shown = now.Add(onTerminal), true
		return
	}
	fmt.Fprintln(p.out, line())
	p.next = now.Add(elsewhereText)
}

// Clear takes the line away, so that what follows stands alone.
func (p *Progress) Clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}

// Pace says how fast something goes, for how long it has, and how long the rest takes if that is
// known: "12/s, 40s, 2m10s left". Earlier commands may have done some of what is done.
func Pace(done, earlier, wanted int, took time.Duration) string {
	rate := float64(done-earlier) / max(took.Seconds(), 0.001)
	text := fmt.Sprintf("%.0f/s, %s", rate, took.Round(time.Second))
	if 0 < rate && rate < 10 {
		text = fmt.Sprintf("%.1f/s, %s", rate, took.Round(time.Second))
	}
	if wanted <= done || rate <= 0 {
		return text
	}
	left := time.Duration(float64(wanted-done) / rate * float64(time.Second))
	return text + ", " + left.Round(time.Second).String() + " left"
}

// columns is how wide the terminal is, as far as it or its shell says so.
func columns(fd int) int {
	if wide, _, err := term.GetSize(fd); err == nil && wide > 0 {
		return wide
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	const usual = 80
	return usual
}

// cutLine cuts a line that a terminal would wrap: a wrapped one could not be taken away again.
func cutLine(line string, columns int) string {
	runes := []rune(line)
	if len(runes) < columns {
		return line
	}
	return string(runes[:max(columns-2, 0)]) + "…"
}
