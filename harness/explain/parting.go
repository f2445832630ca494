package explain

import (
	"math"
	"reflect"
	"slices"

	"github.com/shardproof/shardproof/histories/trace"
)

// FirstDifferences compares a run that fails with one that passes, by what both tell of the
// contradiction: the first moment of each, from where the runs part, that the other does not have.
// Nil for one that has none.
func FirstDifferences(failing, passing Run, about Contradiction) (only, instead *Moment) {
	since := partingTime(failing.Events, passing.Events)
	f := newSlice(failing, about)
	f.follow()
	about.Steps = nil // of the other run these are other events
	about.Text += " " + f.migrations()
	p := newSlice(passing, about)
	p.follow()
	a, b := f.moments(), p.moments()
	return firstLacking(a, b, since), firstLacking(b, a, since)
}

// partingTime is the time of the first event that differs.
func partingTime(a, b []trace.Event) int64 {
	for i := range min(len(a), len(b)) {
		if !reflect.DeepEqual(a[i], b[i]) {
			return min(a[i].At, b[i].At)
		}
	}
	return math.MaxInt64
}

// migrations names those of the slice.
func (s *slice) migrations() (text string) {
	for i := range s.events {
		switch e := &s.events[i]; e.Kind {
		case trace.DonorAdvanced, trace.RecipientAdvanced, trace.PrimaryMoving:
			if s.chosen[i] != 0 && !namesIt(text, e.Migration()) {
				text += " " + e.Migration()
			}
		}
	}
	return text
}

// same says whether two moments are the same at another time.
func (m Moment) same(as Moment) bool { return m.op == as.op && (m.op != "" || m.Text == as.Text) }

// firstLacking is the first of the moments since a time that are not among the others.
func firstLacking(of, among []Moment, since int64) *Moment {
	for i := range of {
		if of[i].At >= since && !slices.ContainsFunc(among, of[i].same) {
			return &of[i]
		}
	}
	return nil
}
