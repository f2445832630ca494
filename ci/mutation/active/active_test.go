package active

import (
	"slices"
	"testing"
)

// TestOff shows that without a chosen mutant everything is as it was, and that what is reached is
// noted.
func TestOff(t *testing.T) {
	behaves(t, -1, "abc", 3, []int{1, 2, 3}, []int{1, 2, 3}, []int{1, 2, 3}, true)
}

// TestOn shows what each form does when its mutant is on.
func TestOn(t *testing.T) { behaves(t, 7, "", 2, []int{2, 1, 3}, []int{2, 3}, []int{1, 2}, false) }

func behaves(
	t *testing.T, on int, zero string, fewer int, swapped, dropped, short []int, truth bool,
) {
	t.Helper()
	defer func(was int) { chosen = was }(chosen)
	chosen = on
	list := []int{1, 2, 3}
	if got := Zero(7, "abc"); got != zero {
		t.Errorf("Zero gives %q, not %q", got, zero)
	}
	if got := Fewer(7, 3); got != fewer {
		t.Errorf("Fewer gives %d, not %d", got, fewer)
	}
	if Not(7, true) != truth || Pick(7, false, true) != truth {
		t.Errorf("Not and Pick do not give %t", truth)
	}
	same(t, "Swap", Swap(7, 0, list), swapped)
	same(t, "Drop", Drop(7, 0, list), dropped)
	same(t, "Short", Short(7, list), short)
	same(t, "ShortSeq", slices.Collect(ShortSeq(7, slices.Values(list))), short)
	var pairs []int
	for _, v := range ShortSeq2(7, slices.All(list)) {
		pairs = append(pairs, v)
	}
	same(t, "ShortSeq2", pairs, short)
	same(t, "the list itself", list, []int{1, 2, 3})
	called := false
	if err := Skip(7, func() error { called = true; return nil }); err != nil || called == Is(7) {
		t.Errorf("Skip called: %t, with mutant %d on", called, on)
	}
	if reached[7] != 1 || reached[8] != 0 {
		t.Error("what was reached is not what was asked")
	}
	above := func(least int) func(int) bool { return func(n int) bool { return n > least } }
	if !All(list, above(0)) || All(list, above(1)) {
		t.Error("All is wrong")
	}
}

func same(t *testing.T, what string, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s gives %v, not %v", what, got, want)
	}
}
