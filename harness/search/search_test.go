package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// made is what a search made and what came of it, a line each.
func made(
	t *testing.T, strategy string, start Start, runs, workers int,
) (lines []string, last *scenario.Scenario) {
	t.Helper()
	in, err := Find(strategy)
	if err != nil {
		t.Fatal(err)
	}
	err = Run(Options{Targets: store,
		Strategy: in.New(start),
		Workers:  workers,
		Runs:     runs,
		Done: func(run int, o *Outcome) bool {
			if !o.Passed() {
				t.Errorf("run %d\n%s", run, explain.Report(o.Result, explain.Where{}))
			}
			lines = append(lines,
				fmt.Sprintf("%s %s %d new", o.Scenario.Name, o.HashText(), len(o.New)))
			last = o.Plan()
			return true
		}})
	if err != nil {
		t.Fatal(err)
	}
	return lines, last
}

// TestSearches runs every strategy in three ways that must make the same scenarios, with the same
// outcomes: with two workers; with one; and stopped in the middle of a round and taken up from
// where that round began, which counts nothing twice. What it made last replays from its text.
func TestSearches(t *testing.T) {
	const first, then, alone = 28, 8, 12
	for _, in := range Strategies() {
		t.Run(in.Name, func(t *testing.T) {
			t.Parallel()
			start := Start{Targets: store, Seed: 4}
			two, last := made(t, in.Name, start, first+then, 2)
			if len(two) != first+then {
				t.Fatalf("%d runs, want %d", len(two), first+then)
			}
			if !strings.HasPrefix(two[0], in.Name+"-") && in.Name != "portfolio" {
				t.Errorf("the scenario does not name its strategy: %s", two[0])
			}
			replays(t, last, two[len(two)-1])
			one, _ := made(t, in.Name, start, alone, 1)
			if diff := cmp.Diff(two[:alone], one); diff != "" {
				t.Errorf("two workers (-) and one (+):\n%s", diff)
			}
			if diff := cmp.Diff(two, inParts(t, in, start, first, then)); diff != "" {
				t.Errorf("at once (-) and in parts (+):\n%s", diff)
			}
		})
	}
}

func inParts(t *testing.T, in Info, start Start, runs ...int) (lines []string) {
	t.Helper()
	at, taken := Place{}, 0
	var seen []uint64
	for _, n := range runs {
		start.At, start.Corpus = at.Mark, at.Corpus
		o := Options{
			Targets:  store,
			Strategy: in.New(start),
			Workers:  2,
			Runs:     n,
			Seen:     seen[:at.Seen],
			Taken:    taken,
		}
		o.Done = func(_ int, o *Outcome) bool {
			lines = append(lines,
				fmt.Sprintf("%s %s %d new", o.Scenario.Name, o.HashText(), len(o.New)))
			seen = append(seen, o.New...)
			taken++
			return true
		}
		o.Round = func(now Place) bool { at, taken = now, 0; return true }
		if err := Run(o); err != nil {
			t.Fatal(err)
		}
	}
	return lines
}

func replays(t *testing.T, s *scenario.Scenario, line string) {
	t.Helper()
	again, err := runner.Parse(store, "scenario", s.String())
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.Run(again, runner.Options{Targets: store})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(line, r.HashText()) {
		t.Errorf("replayed, it hashes to %s, and not as in %q", r.HashText(), line)
	}
}

// TestSeedsHaveAnEnd shows that strategies stop when their seeds are used, and say so.
func TestSeedsHaveAnEnd(t *testing.T) {
	for strategy, want := range map[string]int{"random": 3, "short": 3, "pct": 3} {
		lines, _ := made(t, strategy, Start{Targets: store, Seed: 5, Seeds: 3}, 0, 1)
		if len(lines) != want {
			t.Errorf("%s made %d runs of 3 seeds, want %d", strategy, len(lines), want)
		}
	}
	const want = 1 + probesEach + singlesEach + pairsEach
	if lines, _ := made(
		t, "reorder", Start{Targets: store, Seed: 5, Seeds: 1}, 0, 2,
	); len(lines) != want {
		t.Errorf("anchored made %d runs of a seed, want %d", len(lines), want)
	}
}

// TestGuidedGoesOnFromWhatWasNew takes up the corpus of an earlier search.
func TestGuidedGoesOnFromWhatWasNew(t *testing.T) {
	first := newGuided(Start{Targets: store, Seed: 1})
	if err := Run(Options{Targets: store, Strategy: first, Runs: 32}); err != nil {
		t.Fatal(err)
	}
	corpus := first.(*guided).Corpus()
	if len(corpus) < enoughCorpus {
		t.Fatalf("the corpus has only %d scenarios", len(corpus))
	}
	second := newGuided(Start{Targets: store, Seed: 1, At: first.Mark(), Corpus: corpus}).(*guided)
	changed := 0
	for range second.Next() {
		changed++
	}
	for _, parent := range second.parent {
		if parent < 0 {
			changed--
		}
	}
	if changed == 0 {
		t.Error("nothing of the corpus was changed")
	}
}

// TestMutantsAreScenarios changes scenarios many times: nearly all that comes out can be run, as
// otherwise guidance would be none.
func TestMutantsAreScenarios(t *testing.T) {
	bad := 0
	const tries = 300
	for seed := range uint64(tries) {
		roll := keyed.New(seed).IntN
		s := mutateScenario(freshScenario(roll, ""), roll)
		if err := runner.Validate(store, s); err != nil {
			bad++
			t.Logf("seed %d: %v", seed, err)
		}
	}
	if bad > tries/20 {
		t.Errorf("%d of %d mutants cannot be run", bad, tries)
	}
}
