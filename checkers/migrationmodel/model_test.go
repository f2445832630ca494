package migrationmodel

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write guards.golden and walks.golden from the model")

// machines are the models whose invariants hold: 4.2 only as long as no commit is late.
func machines() []*Model { return []*Model{New(V80), build(V42, "", &inTime)} }

func TestEveryState(t *testing.T) {
	for _, m := range machines() {
		t.Run(m.protocol.String(), func(t *testing.T) {
			g := m.Explore()
			t.Logf("%d states, %d transitions", len(g.States), g.Edges())
			for _, i := range Invariants(m.protocol) {
				if at, broken := g.Broken(i); broken {
					t.Errorf("not so: %s\n%s", i.Name, strings.Join(g.Walk(at), "\n"))
				}
			}
			if at, dead := g.Dead(); dead {
				t.Errorf("the migration cannot end\n%s", strings.Join(g.Walk(at), "\n"))
			}
		})
	}
}

// TestEveryStepIsTaken: no action of the model is out of reach.
func TestEveryStepIsTaken(t *testing.T) {
	for _, m := range []*Model{New(V80), New(V42)} {
		g := m.Explore()
		for i := range m.actions {
			a := &m.actions[i]
			if !slices.ContainsFunc(g.States, func(s State) bool { return a.enabled(&s) }) {
				t.Errorf("%s: in no state: %s", m.protocol, a.title())
			}
		}
	}
}

// TestLateCommit: the one weakness of 4.2 is a commit that arrives when nobody waits for it (H-21).
func TestLateCommit(t *testing.T) {
	g := New(V42).Explore()
	broken := 0
	for _, i := range Invariants(V42) {
		if at, ok := g.Broken(i); ok {
			broken++
			if s := g.States[at]; s.Config != Committed || inTime.holds(&s) {
				t.Errorf("not so: %s\n%s", i.Name, strings.Join(g.Walk(at), "\n"))
			}
		}
	}
	if broken == 0 {
		t.Error("a late commit does no harm to 4.2: the model cannot be right")
	}
}

// conditions are what the actions require, each once, in the order in which they are first
// required.
func conditions(m *Model) (names []string) {
	for i := range m.actions {
		for _, c := range m.actions[i].when {
			if !slices.Contains(names, c.unless) {
				names = append(names, c.unless)
			}
		}
	}
	return names
}

// TestGuards takes one condition away after the other: guards.golden says what each is there for,
// and walks.golden has the shortest way to each harm. No invariant is one that cannot fail.
func TestGuards(t *testing.T) {
	var table, walks strings.Builder
	for _, m := range machines() {
		fmt.Fprintf(&table, "# %s\n\n", m.protocol)
		shortest := map[string][]string{}
		for _, name := range conditions(m) {
			fmt.Fprintf(&table, "%s\n", name)
			for _, h := range weakened(m.protocol, name).harm() {
				fmt.Fprintf(&table, "    %s\n", h.broken)
				known := shortest[h.broken]
				if known == nil || !sequence(name) && (sequence(known[0]) ||
					len(h.walk) < len(known)) {
					shortest[h.broken] = append([]string{"Dropped: " + name}, h.walk...)
				}
			}
		}
		for _, promise := range promises(m.protocol) {
			if shortest[promise] == nil {
				t.Errorf("%s: no condition is needed for: %s", m.protocol, promise)
			}
			fmt.Fprintf(&walks, "%s, broken: %s\n%s\n\n",
				m.protocol, promise, strings.Join(shortest[promise], "\n"))
		}
	}
	golden(t, "testdata/guards.golden", table.String())
	golden(t, "testdata/walks.golden", walks.String())
}

// sequence says whether a condition is only that one state follows another: what comes of leaving
// that out teaches little.
func sequence(name string) bool {
	return slices.ContainsFunc([]string{
		"of the step before", "the state before", "nobody lost anything", "a majority has it",
	}, func(words string) bool { return strings.Contains(name, words) })
}

// ends is the promise that is no invariant.
const ends = "the migration can end"

// promises are what some condition must be needed for. What ends in 4.2 rests on nothing.
func promises(p Protocol) (all []string) {
	for _, i := range Invariants(p) {
		all = append(all, i.Name)
	}
	if p == V80 {
		all = append(all, ends)
	}
	return all
}

// broken is a promise that a model breaks, and how.
type broken struct {
	broken string
	walk   []string
}

func (m *Model) harm() (all []broken) {
	g := m.explore(enough)
	for _, i := range Invariants(m.protocol) {
		if at, ok := g.Broken(i); ok {
			all = append(all, broken{i.Name, g.Walk(at)})
		}
	}
	if len(g.States) <= enough {
		if at, ok := g.Dead(); ok {
			all = append(all, broken{ends, g.Walk(at)})
		}
	}
	return all
}

// enough is when a model that lacks a condition has shown what it leads to.
const enough = 11_000

func weakened(p Protocol, without string) *Model {
	if p == V42 {
		return build(p, without, &inTime)
	}
	return build(p, without, nil)
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what the model says; `go test ./checkers/migrationmodel -rewrite` "+
			"writes it", file)
	}
}
