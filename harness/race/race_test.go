package race

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/harness/activity"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/trace"
)

// named are the activities of these names.
func named(t *testing.T, names ...string) (all []*activity.Activity) {
	t.Helper()
	for _, name := range names {
		a, err := activity.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

// TestHoldsEndWithTheirEvents runs a pair to its end: as a run is the same up to the event until
// which the first is held, every hold happens, and ends when the run without that end passed it.
func TestHoldsEndWithTheirEvents(t *testing.T) {
	of := named(t, "zones", "split")
	plan := New([]Pair{{First: of[0], Second: of[1]}}, 1)
	untils := 0
	err := Run(plan, Options{Targets: store, Workers: 2,
		Done: func(_ int, c *Case, o *Outcome, failed *runner.Result) bool {
			if failed != nil {
				t.Errorf("%s: %s", c, o.Signature)
			}
			if c.Held == nil {
				return true
			}
			if !o.Held {
				t.Errorf("%s: the first was not held", c)
			}
			if c.Until != nil && !c.Deposed {
				untils++
				if at := heldUntil(t, c); at != c.Until.At {
					t.Errorf("%s: the hold ended at %v, the event was at %v", c, at, c.Until.At)
				}
			}
			return true
		}})
	if err != nil {
		t.Fatal(err)
	}
	if sum := plan.Tallies()[0]; untils == 0 || sum.Sites == 0 || sum.Events == 0 ||
		plan.Left() != 0 || sum.Held != sum.Runs-1 {
		t.Errorf("%d holds ended with an event; the tally is %+v", untils, sum)
	}
}

// heldUntil is when the pause of a case ends, since the clients began.
func heldUntil(t *testing.T, c *Case) (at time.Duration) {
	t.Helper()
	var points []runner.InjectionPoint
	var begun time.Duration // of the world, when the hold does
	s := c.Scenario()
	_, err := runner.Run(s, runner.Options{Targets: store, InjectionPoints: &points,
		Observers: []runner.Observer{{Event: func(e *trace.Event) {
			switch {
			case e.Kind == trace.Fault && e.FaultNumber() == s.Faults[len(s.Faults)-1].ID:
				begun = time.Duration(e.At)
			case e.Kind == trace.Repair && e.FaultNumber() == s.Faults[len(s.Faults)-1].ID:
				at = c.Held.At + time.Duration(e.At) - begun
			}
		}}}})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// told plays a plan with made-up outcomes, in which a probe passes two sites.
func told(p *Plan, most int) (cases []string) {
	for len(cases) < most {
		turn := p.Turn()
		if len(turn) == 0 {
			return cases
		}
		for i := range turn {
			o := Outcome{Held: true, Hash: uint64(len(cases)), Steps: 1}
			if turn[i].Until == nil {
				for n, site := range []string{"x", "y"} {
					o.Passes = append(o.Passes, Pass{
						Site: site, By: "shard-a.0", Nth: 1, At: time.Duration(n + 1), Leads: true,
					})
				}
			}
			p.Learn(i, &turn[i], &o)
			cases = append(cases, turn[i].String())
		}
	}
	return cases
}

const wantCases = `
zones alone
zones and split, held at x shard-a.0
zones and split, held at x shard-a.0, deposed
zones and split, held at y shard-a.0
zones and split
zones and split, held at x shard-a.0, deposed, until replica.stepUp.beforeWritable shard-a.*
zones and split, held at y shard-a.0, deposed
zones and split, held at y shard-a.0, deposed, until replica.stepUp.beforeWritable shard-a.*
zones and split, held at x shard-a.0, until x shard-a.0
zones and split, held at x shard-a.0, deposed, until y shard-a.0
zones and split, held at x shard-a.0, until y shard-a.0
zones and split, held at y shard-a.0, until x shard-a.0
zones and split, held at y shard-a.0, deposed, until y shard-a.0
zones and split, held at y shard-a.0, until y shard-a.0`

// TestOrder: holds until events take turns with those that say which events there are.
func TestOrder(t *testing.T) {
	of := named(t, "zones", "split")
	got := told(New([]Pair{{First: of[0], Second: of[1]}}, 1), 100)
	want := strings.Split(strings.TrimSpace(wantCases), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the cases are different:\n%s", diff)
	}
}

// TestPairsTakeTurns: after any number of runs, no pair has had a whole turn more than another one
// that has some left.
func TestPairsTakeTurns(t *testing.T) {
	pairs, err := Pairs([]string{"zones", "split", "merge"}, "", []string{"", "4.2"})
	if err != nil || len(pairs) != 18 {
		t.Fatalf("there are %d pairs, %v", len(pairs), err)
	}
	for _, most := range []int{20, 60, 120} {
		p := New(pairs, 1)
		told(p, most)
		least, largest := 1000, 0
		for _, tally := range p.Tallies() {
			least, largest = min(least, tally.Runs), max(largest, tally.Runs)
		}
		if least != largest {
			t.Errorf("of %d runs, pairs had from %d to %d", most, least, largest)
		}
	}
}

// TestSweepsGoOn: a sweep that was interrupted goes on to the same end, whatever the number of
// workers.
func TestSweepsGoOn(t *testing.T) {
	pairs, err := Pairs([]string{"zones", "merge"}, "", []string{""})
	if err != nil {
		t.Fatal(err)
	}
	const most, first = 40, 23
	sweep := func(known []string, workers, most int) (lines []string) {
		lines = known
		err := Run(New(pairs, 1), Options{Targets: store, Workers: workers,
			Known: func(number int) *Outcome {
				if number >= len(known) {
					return nil
				}
				o, err := ParseOutcome(known[number])
				if err != nil {
					t.Fatal(err)
				}
				return &o
			},
			Done: func(_ int, _ *Case, o *Outcome, _ *runner.Result) bool {
				lines = append(lines, o.String())
				return len(lines) < most
			}})
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	whole := sweep(nil, 1, most)
	parts := sweep(slices.Clone(whole[:first]), 2, most)
	if diff := cmp.Diff(whole, parts); diff != "" {
		t.Errorf("the sweep went on differently:\n%s", diff)
	}
}

// TestOutcomesReadBack holds lines of journals, and some that are none.
func TestOutcomesReadBack(t *testing.T) {
	for _, o := range []Outcome{
		{Hash: 1, Steps: 2},
		{Held: true, Signature: "lost-write", Hash: 1 << 63, Steps: 7, Passes: []Pass{
			{Site: "donor.register", By: "shard-a.*", Nth: 2, At: time.Second, Leads: true},
			{Site: "router.send", By: "router.0", Nth: 1},
		}},
	} {
		got, err := ParseOutcome(o.String())
		if diff := cmp.Diff(o, got); err != nil || diff != "" {
			t.Errorf("%s reads back with %v:\n%s", o.String(), err, diff)
		}
	}
	for _, line := range []string{
		"", "true", `true "" xyz 3`, `true "" 1 many`, `true lost 1 2`, `true "" 1 2 site/by/1`,
		`true "" 1 2 site/by/one/3`, `true "" 1 2 site/by/1/soon`,
	} {
		if o, err := ParseOutcome(line); err == nil {
			t.Errorf("%q is read as %v", line, o)
		}
	}
}

// TestSomePasses: of many passes of a site the first, the last, and others evenly between are held.
func TestSomePasses(t *testing.T) {
	var all []Pass
	for n := range 9 {
		all = append(all, Pass{Site: "many", Nth: n}, Pass{Site: fmt.Sprint("one ", n)})
	}
	for most, want := range map[int][]int{
		1: {0}, 2: {0, 8}, 3: {0, 4, 8}, 9: {0, 1, 2, 3, 4, 5, 6, 7, 8},
	} {
		var got []int
		few := some(all, most)
		for _, p := range few {
			if p.Site == "many" {
				got = append(got, p.Nth)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(few) != len(got)+9 {
			t.Errorf("of nine passes %d are held, the others %d:\n%s", most,
				len(few)-len(got), diff)
		}
	}
}
