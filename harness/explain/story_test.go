package explain

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// recorded reads a run of testdata/runs: what was kept of a failing run on a build with the known
// bug of that name, without most of the writes of other documents. To renew one, run `go run
// ./ci/gate -demo NAME` and take the saved run's events and history.
func recorded(t testing.TB, name string) (r Run) {
	t.Helper()
	var err error
	_, r.Events, err = histories.ReadFile[trace.Event](filepath.Join("testdata/runs",
		name+".events.zst"))
	if err != nil {
		t.Fatal(err)
	}
	_, r.History, err = histories.ReadFile[histories.Op](filepath.Join("testdata/runs",
		name+".history.zst"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestStories tells recorded failures: `tell run=NAME [ns=] [key=] [ops=()] [steps=()] [ms=]
// [lines=]`, with the text of the violation as input.
func TestStories(t *testing.T) {
	datadriven.RunTest(t, "testdata/stories", func(t *testing.T, c *datadriven.TestData) string {
		about, run, lines := Contradiction{Text: c.Input}, "", 18
		for _, arg := range c.CmdArgs {
			switch arg.Key {
			case "run":
				run = arg.Vals[0]
			case "ns":
				about.NS = arg.Vals[0]
			case "key":
				about.Key = arg.Vals[0]
			case "ops":
				for _, v := range arg.Vals {
					about.Ops = append(about.Ops, number(t, v))
				}
			case "steps":
				for _, v := range arg.Vals {
					about.Steps = append(about.Steps, uint64(number(t, v)))
				}
			case "ms":
				about.Times = []int64{int64(number(t, arg.Vals[0])) * int64(time.Millisecond)}
			case "lines":
				lines = number(t, arg.Vals[0])
			}
		}
		return text(Build(recorded(t, run), about, lines))
	})
}

func number(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func text(s *Story) string {
	var b strings.Builder
	for _, m := range s.Moments {
		fmt.Fprintf(&b, "%10s  %s\n", time.Duration(m.At).Round(10*time.Microsecond), m.Text)
	}
	fmt.Fprintf(&b, "left out %d, unrelated %d\n", s.LeftOut, s.Unrelated)
	return b.String()
}

// drawn is a contradiction about some document, operations and events of a run: the properties hold
// for any.
func drawn(t *rapid.T, r Run) Contradiction {
	about := Contradiction{
		NS: "test.docs",
		Text: rapid.SampledFrom([]string{"", "shard-a/1/1 of shard-a", "shard-b/1/1"}).Draw(t,
			"text"),
	}
	if rapid.Bool().Draw(t, "document") {
		about.Key = fmt.Sprint(rapid.IntRange(0, 39).Draw(t, "key"))
	}
	for range rapid.IntRange(0, min(2, len(r.History))).Draw(t, "ops") {
		about.Ops = append(about.Ops,
			r.History[rapid.IntRange(0, len(r.History)-1).Draw(t, "op")].ID)
	}
	for range rapid.IntRange(0, 3).Draw(t, "steps") {
		about.Steps = append(about.Steps,
			r.Events[rapid.IntRange(0, len(r.Events)-1).Draw(t, "event")].Step)
	}
	return about
}

// TestSliceIsPartOfTheRun: positions in order, each once, with every event of the contradiction;
// the same every time.
func TestSliceIsPartOfTheRun(t *testing.T) {
	runs := all(t)
	rapid.Check(t, func(t *rapid.T) {
		r := runs[rapid.IntRange(0, len(runs)-1).Draw(t, "run")]
		about := drawn(t, r)
		got := sliceOf(r, about)
		for i, at := range got {
			if at < 0 || at >= len(r.Events) || i > 0 && got[i-1] >= at {
				t.Fatalf("position %d is %d of %d, after %v", i, at, len(r.Events), got[:i])
			}
		}
		for i := range r.Events {
			if slices.Contains(about.Steps, r.Events[i].Step) && !slices.Contains(got, i) &&
				r.Events[i].Kind != trace.Exchanged {
				t.Fatalf("the slice lacks event %d of the contradiction", r.Events[i].Step)
			}
		}
		if diff := cmp.Diff(got, sliceOf(r, about)); diff != "" {
			t.Fatalf("told twice it is another one (-first +second):\n%s", diff)
		}
	})
}

// TestShortStoriesKeepTheProof: however short a story has to be, what must be there is.
func TestShortStoriesKeepTheProof(t *testing.T) {
	runs := all(t)
	rapid.Check(t, func(t *rapid.T) {
		r := runs[rapid.IntRange(0, len(runs)-1).Draw(t, "run")]
		about := drawn(t, r)
		most := rapid.IntRange(0, 30).Draw(t, "most")
		long, short := Build(r, about, 1<<20), Build(r, about, most)
		musts := 0
		for _, m := range long.Moments {
			if m.Weight != Must {
				continue
			}
			musts++
			if !slices.ContainsFunc(
				short.Moments, func(s Moment) bool { return s.Text == m.Text && s.At == m.At },
			) {
				t.Fatalf("the story of at most %d lines lacks %q", most, m.Text)
			}
		}
		if len(short.Moments) > max(most, musts) ||
			len(short.Moments)+short.LeftOut != len(long.Moments) {
			t.Fatalf("%d lines with %d left out of %d, at most %d wanted and %d needed",
				len(short.Moments), short.LeftOut, len(long.Moments), most, musts)
		}
	})
}

// TestUnrelatedEventsChangeNothing puts events of other documents, collections and shards anywhere
// into a run.
func TestUnrelatedEventsChangeNothing(t *testing.T) {
	runs := all(t)
	rapid.Check(t, func(t *rapid.T) {
		r := runs[rapid.IntRange(0, len(runs)-1).Draw(t, "run")]
		about := drawn(t, r)
		before, kept := sliceOf(r, about), map[uint64]bool{}
		for _, at := range before {
			kept[r.Events[at].Step] = true
		}
		more := r
		for n := range rapid.IntRange(1, 20).Draw(t, "more") {
			at := rapid.IntRange(0, len(more.Events)-1).Draw(t, "at")
			more.Events = slices.Insert(slices.Clone(more.Events), at,
				unrelated(t, more.Events[at].At, 1_000_000+uint64(n)))
		}
		after := sliceOf(more, about)
		for _, at := range after {
			if !kept[more.Events[at].Step] {
				t.Fatalf("the slice has %s, which it had not", Sentence(&more.Events[at]))
			}
		}
		left := map[uint64]bool{}
		for _, at := range after {
			left[more.Events[at].Step] = true
		}
		for _, at := range before {
			if e := &r.Events[at]; !left[e.Step] {
				t.Fatalf("the slice lacks %s (event %d), which it had", Sentence(e), at)
			}
		}
	})
}

func unrelated(t *rapid.T, at int64, step uint64) trace.Event {
	seven := string(key.Int(7))
	on := func(node string, e *trace.Event) trace.Event {
		e.Node = node
		return *e
	}
	written := func(shard string, hash uint64) trace.Event {
		return on(shard+".0", trace.AppliedEvent{
			Shard: shard,
			NS:    "other.docs",
			Key:   seven,
			DocID: seven,
			Hash:  hash,
			Actor: trace.User,
			Term:  1,
		}.Event())
	}
	e := rapid.SampledFrom([]trace.Event{
		written("shard-z", 5),
		written("shard-a", 6),
		on("shard-z.0", trace.DonorAdvancedEvent{
			Shard: "shard-z", Peer: "shard-y", NS: "other.docs", Migration: "shard-z/1/1",
			State: trace.DonorCloning,
		}.Event()),
		on("shard-z.0", trace.MigrationEndedEvent{
			Shard: "shard-z", Migration: "shard-z/1/1", Decision: trace.Committed,
		}.Event()),
		on("shard-z.0", trace.NodeDownEvent{Incarnation: 1}.Event()),
		on("shard-z.1", trace.ElectedEvent{Shard: "shard-z", Term: 2}.Event()),
		*trace.FaultEvent{FaultKind: "crash", Target: "shard-z.0", Number: 99}.Event(),
		on("shard-z.0", trace.CursorOpenedEvent{
			Shard: "shard-z", NS: "other.docs", Cursor: "shard-z.0/1/1", Min: string(key.Min),
			Max: string(key.Max),
		}.Event()),
	}).Draw(t, "unrelated")
	e.At, e.Step = at, step
	return e
}

func all(t *testing.T) (runs []Run) {
	files, err := filepath.Glob("testdata/runs/*.events.zst")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded runs: %v", err)
	}
	for _, file := range files {
		runs = append(runs, recorded(t, strings.TrimSuffix(filepath.Base(file), ".events.zst")))
	}
	return runs
}

// TestPartingOfEqualRuns: a run does not differ from itself.
func TestPartingOfEqualRuns(t *testing.T) {
	for _, r := range all(t) {
		only, instead := FirstDifferences(r, r,
			Contradiction{NS: "test.docs", Key: "13", Text: "shard-a/1/1"})
		if only != nil || instead != nil {
			t.Errorf("only %v, instead %v", only, instead)
		}
	}
}

// TestNames tells words from parts of words.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"task shard-a/1/1 of shard-a", "shard-a/1/1", true},
		{"task shard-a/1/10", "shard-a/1/1", false},
		{"shard-a/1/10 and shard-a/1/1", "shard-a/1/1", true}, {"(shard-b)", "shard-b", true},
		{"", "shard-b", false}, {"x", "", false},
	} {
		if got := namesIt(c.text, c.name); got != c.want {
			t.Errorf("%q names %q: %t", c.text, c.name, got)
		}
	}
}

// sliceOf is the causal slice of the contradiction: positions in r.Events, in order.
func sliceOf(r Run, about Contradiction) []int {
	s := newSlice(r, about)
	s.follow()
	return s.positions()
}
