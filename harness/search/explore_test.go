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
func made(t *testing.T, strategy string, start Start, runs, workers int) (lines []string, last *scenario.Scenario) {
	t.Helper()
	in, err := Find(strategy)
	if err != nil {
		t.Fatal(err)
	}
	err = Run(Options{Strategy: in.New(start), Workers: workers, Runs: runs, Done: func(run int, o *Outcome) bool {
		if !o.Passed() {
			t.Errorf("run %d\n%s", run, explain.Report(o.Result, explain.Where{}))
		}
		lines = append(lines, fmt.Sprintf("%s %s %d new", o.Scenario.Name, o.HashText(), len(o.New)))
		last = o.Plan()
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	return lines, last
}

// TestSearchesAreDeterministic runs every strategy on one worker and on two. What it made last replays as it was from its text.
func TestSearchesAreDeterministic(t *testing.T) {
	for _, in := range Strategies() {
		t.Run(in.Name, func(t *testing.T) {
			t.Parallel()
			const runs = 20
			one, last := made(t, in.Name, Start{Seed: 3}, runs, 1)
			two, _ := made(t, in.Name, Start{Seed: 3}, runs, 2)
			if diff := cmp.Diff(one, two); diff != "" || len(one) != runs {
				t.Errorf("%d runs, want %d; with two workers they differ by\n%s", len(one), runs, diff)
			}
			if !strings.HasPrefix(one[0], in.Name+"-") && in.Name != "portfolio" {
				t.Errorf("the scenario does not name its strategy: %s", one[0])
			}
			replays(t, last, one[runs-1])
		})
	}
}

// TestSearchesGoOn stops every strategy in the middle of a round, and goes on from where that round began: it makes what a search
// makes that was never stopped, and counts nothing twice.
func TestSearchesGoOn(t *testing.T) {
	for _, in := range Strategies() {
		t.Run(in.Name, func(t *testing.T) {
			t.Parallel()
			const first, then = 28, 8
			whole, _ := made(t, in.Name, Start{Seed: 4}, first+then, 2)
			parts := inParts(t, in, Start{Seed: 4}, first, then)
			if diff := cmp.Diff(whole, parts); diff != "" || len(whole) != first+then {
				t.Errorf("%d runs at once, in parts they differ by\n%s", len(whole), diff)
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
		o := Options{Strategy: in.New(start), Workers: 2, Runs: n, Seen: seen[:at.Seen], Taken: taken}
		o.Done = func(_ int, o *Outcome) bool {
			lines = append(lines, fmt.Sprintf("%s %s %d new", o.Scenario.Name, o.HashText(), len(o.New)))
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
	again, err := runner.Parse("scenario", s.String())
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.Run(again, runner.Options{})
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
		if lines, _ := made(t, strategy, Start{Seed: 5, Seeds: 3}, 0, 1); len(lines) != want {
			t.Errorf("%s made %d runs of 3 seeds, want %d", strategy, len(lines), want)
		}
	}
	const want = 1 + probesEach + singlesEach + pairsEach
	if lines, _ := made(t, "reorder", Start{Seed: 5, Seeds: 1}, 0, 2); len(lines) != want {
		t.Errorf("anchored made %d runs of a seed, want %d", len(lines), want)
	}
}

// TestGuidedGoesOnFromWhatWasNew takes up the corpus of an earlier search.
func TestGuidedGoesOnFromWhatWasNew(t *testing.T) {
	first := newGuided(Start{Seed: 1})
	if err := Run(Options{Strategy: first, Runs: 32}); err != nil {
		t.Fatal(err)
	}
	corpus := first.(*guided).Corpus()
	if len(corpus) < enoughCorpus {
		t.Fatalf("the corpus has only %d scenarios", len(corpus))
	}
	second := newGuided(Start{Seed: 1, At: first.Mark(), Corpus: corpus}).(*guided)
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

// TestMutantsAreScenarios changes scenarios many times: nearly all that comes out can be run, as otherwise guidance would be none.
func TestMutantsAreScenarios(t *testing.T) {
	bad := 0
	const tries = 300
	for seed := range uint64(tries) {
		roll := keyed.New(seed).IntN
		s := mutate(fresh(roll, ""), roll)
		if err := runner.Validate(s); err != nil {
			bad++
			t.Logf("seed %d: %v", seed, err)
		}
	}
	if bad > tries/20 {
		t.Errorf("%d of %d mutants cannot be run", bad, tries)
	}
}
