package debugger

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/harness/runner"
)

const moves = `shardproof scenario 2
seed 5
topology shards=2 members=3 config=1 routers=1 clients=2
faults-end 300ms
limit 30s
collection test.docs ranged keys=8 preload=8 bounds=4
set orphanCleanupDelaySecs 100ms
op 1 at 20ms client 0 write test.docs k=5 v=w1
op 2 at 60ms client 1 read test.docs k=5
move 1 at 10ms test.docs [4, MaxKey) to shard-a
fault 1 at 250ms crash shard-b.1 for 40ms
`

func filmed(t testing.TB) *Film {
	t.Helper()
	s, err := runner.Parse(store, "moves", moves)
	if err != nil {
		t.Fatal(err)
	}
	film, err := NewFilm(store, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(film.Close)
	return film
}

// do carries out a line that must be understood.
func do(t interface{ Fatalf(string, ...any) }, s *Stepper, line string) string {
	text, err := s.Do(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return text
}

// TestWalk goes to where ownership changes and looks at both sides of it.
func TestWalk(t *testing.T) {
	s := New(filmed(t))
	for _, c := range []struct{ line, want string }{
		{"", "starts"}, {"next migration-requested", "is requested"},
		{"who 5", "k=5  catalog: shard-b"}, {"next catalog-written", "config writes move shard-b/1/1"},
		{"next majority", "majority"}, {"who 5", "k=5  catalog: shard-a"}, {
			"show migration shard-b/1/1", "donor     kCommittingOnConfig",
		}, {"show catalog", "[4, MaxKey)"},
		{"next kind migration-ended", "ended committed"}, {"show node shard-a.0", "owns "},
		{"previous key 5", ""}, {"next fault", "FAULT 1 crash shard-b.1"},
		{"n", "shard-b.1 crashes"}, {"who 5", "shard-b.1   down"},
		{"show faults", "fault 1 crash shard-b.1"}, {"goto 0", "starts"}, {"goto 100h", ""},
		{"show migrations", "1 have ended"}, {"show faults", "none in progress"}, {"goto 40ms", ""},
		{"show events", "> "}, {"show nodes", "primary"}, {"show", "faults"}, {"in test.docs", ""},
		{"who 5 test.docs", "k=5"}, {"p 3", ""}, {"next node shard-a.0", ""},
		{"help", "an empty line repeats next"},
	} {
		if got := do(t, s, c.line); !strings.Contains(got, c.want) {
			t.Errorf("%q answers\n%swithout %q", c.line, got, c.want)
		}
	}
}

// TestRefusals: a line that means nothing is an error with a remedy, and the stepper stays where it
// is.
func TestRefusals(t *testing.T) {
	s := New(filmed(t))
	do(t, s, "goto 40ms")
	before := s.Where()
	for _, c := range []struct{ line, want string }{
		{"jump", "there is no command \"jump\""}, {"goto", "goto needs a step"},
		{"goto x", "not \"x\""}, {"next whatever", "WHAT is"},
		{"next key x", "a key is a whole number"}, {"next color red", "WHAT is"},
		{"next migration shard-z/9/9", "no more migration shard-z/9/9"}, {"who", "who needs a key"},
		{"who x", "a key is a whole number"}, {"who 1 other.docs", "in needs a collection"},
		{"in", "in needs a collection"}, {"show node", "needs a name"},
		{"show node shard-z.0", "there is no server"},
		{"show migration shard-z/9/9", "no migration"}, {"show weather", "show takes"},
		{"here", "the run passes"}, {"story", "the run passes"},
	} {
		if _, err := s.Do(c.line); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.line, err, c.want)
		}
	}
	if s.Where() != before {
		t.Errorf("refused lines have gone from %sto %s", before, s.Where())
	}
	if _, err := s.Do("quit"); !errors.Is(err, ErrQuit) {
		t.Errorf("quit: %v", err)
	}
}

// TestPathsDoNotMatter walks about and compares what is shown with what is shown to who comes there
// at once.
func TestPathsDoNotMatter(t *testing.T) {
	film := filmed(t)
	straight := filmed(t)
	rapid.Check(t, func(t *rapid.T) {
		s := New(film)
		for range rapid.IntRange(1, 6).Draw(t, "lines") {
			line := rapid.SampledFrom([]string{
				"n", "p", "n 40", "p 25", "n 300", "next fault", "previous catalog-written",
				"next key 5", "show nodes", "who 5",
			}).Draw(t, "line")
			_, _ = s.Do(line) // there may be no more of it in that direction
		}
		other := New(straight)
		other.at = s.at
		for _, line := range []string{"show", "who 5", "show node shard-a.0", "show events"} {
			if got, want := do(t, s, line), do(t, other, line); got != want {
				t.Fatalf("at event %d %q shows\n%s, and to who comes at once\n%s",
					s.at, line, got, want)
			}
		}
	})
}

// BenchmarkBack goes back from the end of a run to its middle with nothing kept: the longest that a
// line can take.
func BenchmarkBack(b *testing.B) {
	film := filmed(b)
	n := len(film.Result.Events)
	for i := range b.N {
		s := New(film)
		s.at = (i * 997) % n
		if _, err := s.Do("show"); err != nil {
			b.Fatal(fmt.Errorf("event %d: %w", s.at, err))
		}
	}
}
