package listed

import (
	"slices"
	"testing"
)

// TestEntries declares out of order, and one place twice.
func TestEntries(t *testing.T) {
	var e Entries[string]
	if e.Declare(20, "second") != "second" {
		t.Error("another entry came back")
	}
	e.Declare(10, "first")
	e.Declare(30, "third")
	if got := e.All(); !slices.Equal(got, []string{"first", "second", "third"}) {
		t.Errorf("got %v", got)
	}
	if got, ok := e.Find(func(s *string) bool { return *s > "first" }); got != "second" || !ok {
		t.Errorf("found %q, %v", got, ok)
	}
	if got, ok := e.Find(func(s *string) bool { return *s == "fourth" }); ok {
		t.Errorf("found %q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a place was given twice")
		}
	}()
	e.Declare(20, "other")
}
