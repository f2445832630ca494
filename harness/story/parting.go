package story

import (
	"slices"

	"github.com/shardproof/shardproof/histories/event"
)

// Part compares a run that fails with one that passes, by what both tell of the contradiction: the first moment of each that
// the other does not have. Nil for one that has none.
func Part(failing, passing Run, about Contradiction) (only, instead *Moment) {
	f := newSlice(failing, about)
	f.follow()
	about.Steps = nil // of the other run these are other events
	about.Text += " " + f.migrations()
	p := newSlice(passing, about)
	p.follow()
	a, b := f.moments(), p.moments()
	return lacking(a, b), lacking(b, a)
}

// migrations names those of the slice.
func (s *slice) migrations() (text string) {
	for i := range s.events {
		switch e := &s.events[i]; e.Kind {
		case event.DonorState, event.RecipientState, event.PrimaryMoving:
			if s.chosen[i] != 0 && !names(text, e.ID) {
				text += " " + e.ID
			}
		}
	}
	return text
}

// same says whether two moments are the same at another time.
func (m Moment) same(as Moment) bool { return m.op == as.op && (m.op != "" || m.Text == as.Text) }

// lacking is the first of the moments that are not among the others.
func lacking(of, among []Moment) *Moment {
	for i := range of {
		if !slices.ContainsFunc(among, of[i].same) {
			return &of[i]
		}
	}
	return nil
}
