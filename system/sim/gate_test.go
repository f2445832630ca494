package sim

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAnswersAreIndependent demands that the answer to one question does not depend on which others
// are asked.
func TestAnswersAreIndependent(t *testing.T) {
	alone, among := newGate(1, false, nil), newGate(1, false, nil)
	for i := range 100 {
		among.Pick("latency", fmt.Sprint("other-", i), 1000)
		among.Decide(Loss, "site", Always/2)
		a, b := alone.Pick("latency", "site", 1000), among.Pick("latency", "site", 1000)
		if a != b {
			t.Fatalf("occurrence %d: %d alone, %d among others", i+1, a, b)
		}
	}
}

// TestGateDistribution bounds how far frequencies are from the odds: four standard deviations.
func TestGateDistribution(t *testing.T) {
	g := newGate(7, false, nil)
	const asked = 100_000
	hits := 0
	var picks [10]int
	for range asked {
		if g.Decide(Loss, "link", Always/10) {
			hits++
		}
		picks[g.Pick("latency", "link", 10)]++
	}
	for answer, n := range append(picks[:], hits) {
		if n < asked/10-400 || n > asked/10+400 {
			t.Errorf("answer %d came %d times of %d, want about a tenth", answer, n, asked)
		}
	}
	if len(g.Decisions()) != hits {
		t.Errorf("%d decisions are recorded of %d", len(g.Decisions()), hits)
	}
}

// TestExplicitDecisions demands that they override what would be drawn, both ways, and that unused
// ones are named.
func TestExplicitDecisions(t *testing.T) {
	plan := []Decision{
		{Loss, "a>b/x", 2, 1},
		{Tail, "a>b/x", 1, 99},
		{"election", "a", 1, 3},
		{Loss, "never", 1, 1},
	}
	g := newGate(1, true, plan)
	var got []int64
	for range 3 {
		q := g.question(Loss, "a>b/x")
		q.asked++
		if g.decide(q, q.asked, 0) {
			got = append(got, int64(q.asked))
		}
	}
	got = append(got, g.amount(g.question(Tail, "a>b/x"), 1, Always, 1000),
		int64(g.Pick("election", "a", 10)))
	if diff := cmp.Diff([]int64{2, 99, 3}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(plan[:2], g.Decisions()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(plan[3:], g.Unused()); diff != "" {
		t.Errorf("unused (-want +got):\n%s", diff)
	}
	drawn := newGate(1, false, []Decision{{Loss, "a>b/x", 1, 0}})
	if drawn.Decide(Loss, "a>b/x", Always) || !drawn.Decide(Loss, "a>b/x", Always) {
		t.Error("an explicit 0 does not suppress exactly its own occurrence")
	}
}

// TestCalm demands that what a plan has decided does not happen once the network has healed, unless
// chance could have decided it too.
func TestCalm(t *testing.T) {
	plan := []Decision{{Loss, "a>b/x", 1, 1}, {Tail, "a>b/x", 1, 99}, {Loss, "a>b/y", 1, 1}}
	g := newGate(1, true, plan)
	g.calm = true
	if g.Decide(Loss, "a>b/x", 0) || g.amount(g.question(Tail, "a>b/x"), 1, 0, 1000) != 0 {
		t.Error("a planned fault without odds has happened")
	}
	if !g.Decide(Loss, "a>b/y", 1) {
		t.Error("a planned fault with odds has not happened")
	}
	if diff := cmp.Diff(plan[2:], g.Decisions()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}
