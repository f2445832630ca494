package migrationmodel

import "testing"
import "time"

func TestX(t *testing.T) {
	b := time.Now()
	g := New(V80).Explore()
	t.Log(len(g.States), g.Edges(), time.Since(b))
	for _, i := range Invariants(V80) {
		if at, bad := g.Broken(i); bad {
			t.Error(i.Name)
			for _, l := range g.Walk(at) {
				t.Log(l)
			}
		}
	}
	if at, bad := g.Dead(); bad {
		t.Error("dead")
		for _, l := range g.Walk(at) {
			t.Log(l)
		}
	}
}

func TestY(t *testing.T) {
	for _, m := range []*Model{New(V42), build(V42, "", &inTime)} {
		g := m.Explore()
		t.Log(len(g.States), g.Edges())
		for _, i := range Invariants(V42) {
			if at, bad := g.Broken(i); bad {
				t.Error(i.Name)
				for _, l := range g.Walk(at) {
					t.Log(l)
				}
			}
		}
		if at, bad := g.Dead(); bad {
			t.Error("dead")
			for _, l := range g.Walk(at) {
				t.Log(l)
			}
		}
	}
}
