package migrationmodel

import "testing"

func TestDrop(t *testing.T) {
	names := map[string]bool{}
	var order []string
	for _, a := range actions80() {
		for _, c := range a.when {
			if !names[c.unless] {
				names[c.unless] = true
				order = append(order, c.unless)
			}
		}
	}
	for _, n := range order {
		g := build(V80, n, nil).Explore()
		line := ""
		for k, i := range Invariants(V80) {
			if _, bad := g.Broken(i); bad {
				line += " " + string(rune('A'+k))
			}
		}
		if _, bad := g.Dead(); bad {
			line += " dead"
		}
		t.Logf("%-90s %6d %s", n, len(g.States), line)
	}
}
