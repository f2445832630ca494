package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/shardproof/shardproof/harness/campaign"
)

// progress shows how a campaign goes: one line that rewrites itself on a terminal, a plain line now
// and then elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	next     time.Time
	shown    bool
}

// How often the line is renewed.
const (
	onTerminal    = 200 * time.Millisecond
	elsewhereText = 10 * time.Second
)

func newProgress(out io.Writer) *progress {
	p := &progress{out: out}
	if f, ok := out.(*os.File); ok {
		p.terminal = isatty.IsTerminal(f.Fd()) && os.Getenv("TERM") != "dumb"
	}
	if !p.terminal {
		p.next = time.Now().Add(elsewhereText)
	}
	return p
}

// show renews the line of a campaign when it is time.
func (p *progress) show(s *campaign.Summary) {
	if now := time.Now(); !now.Before(p.next) {
		p.renew(now, p.line(s))
	}
}

// text shows a line when it is time.
func (p *progress) text(line string) {
	if now := time.Now(); !now.Before(p.next) {
		p.renew(now, line)
	}
}

func (p *progress) renew(now time.Time, line string) {
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s", cutLine(line, columns()))
		p.next, p.shown = now.Add(onTerminal), true
		return
	}
	fmt.Fprintln(p.out, line)
	p.next = now.Add(elsewhereText)
}

func (p *progress) line(s *campaign.Summary) string {
	of := ""
	if s.Wanted > 0 {
		of = " of " + withCommas(uint64(s.Wanted))
	}
	rate := float64(s.Runs) / max(s.Wall.Seconds(), 0.001)
	return fmt.Sprintf("%s%s seeds, %d failed, %.0f/s, %s%s, %s operations, %s migrations",
		withCommas(uint64(s.Runs)), of, len(s.Failures), rate, s.Wall.Round(time.Second),
		leftText(s.Wanted-s.Runs, rate), withCommas(uint64(s.Ops)),
		withCommas(uint64(s.Committed+s.Aborted)))
}

// leftText says how long so many seeds take at a rate, nothing when that is not known.
func leftText(seeds int, rate float64) string {
	if seeds <= 0 || rate <= 0 {
		return ""
	}
	left := time.Duration(float64(seeds) / rate * float64(time.Second))
	return ", " + left.Round(time.Second).String() + " left"
}

// columns is how wide the terminal is, as far as its shell says so.
func columns() int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	const usual = 80
	return usual
}

// cutLine cuts a line that a terminal would wrap: a wrapped one could not be taken away again. What
// matters most stands first.
func cutLine(line string, columns int) string {
	runes := []rune(line)
	if len(runes) < columns {
		return line
	}
	return string(runes[:max(columns-2, 0)]) + "…"
}

// clear takes the line away, so that what follows stands alone.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// withCommas is a number with commas.
func withCommas(n uint64) string {
	digits := fmt.Sprint(n)
	var out []byte
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, digits[i])
	}
	return string(out)
}
