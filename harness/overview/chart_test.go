package overview

import (
	"slices"
	"testing"
)

// TestTicks: axes have round numbers, and those of whole things have whole numbers.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		points [][2]float64
		want   []float64
	}{
		{[][2]float64{{1, 1}, {3, 2}}, []float64{1, 2, 3}},
		{[][2]float64{{1, 1}, {3, 0.5}}, []float64{1, 2, 3}},
		{[][2]float64{{1, 0}, {2.5, 1}}, []float64{1, 1.5, 2, 2.5}},
		{[][2]float64{{0, 0}, {40, 1}}, []float64{0, 10, 20, 30, 40}},
	} {
		curve := Curve{Lines: []Line{{Points: c.points}}}
		from, to, _ := curve.extent()
		if got := ticks(from, to, curve.whole(0)); !slices.Equal(got, c.want) {
			t.Errorf("%v: ticks %v, want %v", c.points, got, c.want)
		}
	}
}
