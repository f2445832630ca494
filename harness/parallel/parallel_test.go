package parallel

import (
	"slices"
	"testing"
)

// TestTakesInOrder works out of order and takes in order, up to the first that wants no more.
func TestTakesInOrder(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 7} {
		var got []int
		slow := make(chan bool)
		n := Do(workers, 20, nil, func(_, i int) int {
			if i == 0 && workers > 1 {
				<-slow
			} else if i == 1 && workers > 1 {
				close(slow)
			}
			return i * i
		}, func(i, r int) bool {
			got = append(got, r)
			return i < 9
		})
		if want := []int{0, 1, 4, 9, 16, 25, 36, 49, 64, 81}; !slices.Equal(got, want) ||
			n != len(want) {
			t.Errorf("%d workers took %d: %v", workers, n, got)
		}
	}
}

// TestStops asks before each piece of work whether there is to be more.
func TestStops(t *testing.T) {
	begun := 0
	n := Do(1, 20, func() bool { return begun == 3 }, func(_, i int) int {
		begun++
		return i
	}, func(int, int) bool { return true })
	if n != 3 || begun != 3 {
		t.Errorf("took %d of %d begun, want 3 of 3", n, begun)
	}
}

// TestNothing has no work at all.
func TestNothing(t *testing.T) {
	n := Do(3, 0, nil, func(_, i int) int { return i }, func(int, int) bool { return true })
	if n != 0 {
		t.Errorf("took %d", n)
	}
}
