package workloads

import "testing"

// TestPlaces: every workload and every pattern of migrations has a place of its own.
func TestPlaces(t *testing.T) {
	places, patterns := map[int]string{}, map[int]string{}
	for _, w := range declaredWorkloads {
		if other, taken := places[w.place]; taken {
			t.Errorf("%s and %s have one place", w.Name, other)
		}
		places[w.place] = w.Name
	}
	for _, m := range declaredMoves {
		if other, taken := patterns[m.place]; taken {
			t.Errorf("%s and %s have one place", m.Name, other)
		}
		patterns[m.place] = m.Name
	}
}
