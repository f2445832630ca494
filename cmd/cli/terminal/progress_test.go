package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestPace: the line says how fast it goes and how much is left, when that is known.
func TestPace(t *testing.T) {
	for _, c := range []struct {
		done, earlier, wanted int
		took                  time.Duration
		want                  string
	}{
		{1000, 0, 4000, 10 * time.Second, "100/s, 10s, 30s left"},
		{1000, 900, 1100, 10 * time.Second, "10/s, 10s, 10s left"},
		{5, 0, 0, 10 * time.Second, "0.5/s, 10s"},
		{7, 7, 100, time.Second, "0/s, 1s"},
		{4, 0, 4, 2 * time.Second, "2.0/s, 2s"},
	} {
		if got := Pace(c.done, c.earlier, c.wanted, c.took); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestCutLine: no line is longer than the terminal is wide.
func TestCutLine(t *testing.T) {
	line := strings.Repeat("wörter ", 20)
	for _, columns := range []int{1, 10, 60, 79, 200} {
		if cut := []rune(cutLine(line, columns)); len(cut) > columns {
			t.Errorf("%d columns of %d: %q", len(cut), columns, string(cut))
		}
	}
}

// TestColour: words at the beginning of lines are painted, however they are written, and the text
// between the colours is what was written.
func TestColour(t *testing.T) {
	const text = "FAIL  lost-write\n  Promise   x\nPASS  seed 1\n  FAIL  inside\nPASSED\n"
	for size := 1; size < len(text); size++ {
		var out bytes.Buffer
		w := Colour(&out)
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		plain := strings.NewReplacer(red, "", green, "", bold, "", off, "").Replace(out.String())
		if plain != text {
			t.Fatalf("written in pieces of %d: %q", size, out.String())
		}
	}
	var out bytes.Buffer
	if _, err := Colour(&out).Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	want := red + "FAIL" + off + "  lost-write\n  " + bold + "Promise" + off + "   x\n" + green +
		"PASS" + off + "  seed 1\n  FAIL  inside\nPASSED\n"
	if out.String() != want {
		t.Errorf("got %q", out.String())
	}
}
