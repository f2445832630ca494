// Package listed keeps the entries of a catalog whose files declare themselves: each has a place,
// and lists show entries by their places, in whatever order files are compiled.
//
// Promise: two entries never have one place; a second one ends the program when it starts.
//
// Refusal: it knows nothing of its entries but their places.
package listed

import (
	"cmp"
	"fmt"
	"slices"
)

// Entries are those of one catalog. The zero value has none.
type Entries[T any] struct{ all []placed[T] }

type placed[T any] struct {
	place int
	entry T
}

// Declare adds an entry and returns it. It is called from package-level variables only.
func (e *Entries[T]) Declare(place int, entry T) T {
	at, taken := slices.BinarySearchFunc(e.all, place, func(p placed[T], place int) int {
		return cmp.Compare(p.place, place)
	})
	if taken {
		panic(fmt.Sprintf("two entries of a catalog of %T have the place %d", entry, place))
	}
	e.all = slices.Insert(e.all, at, placed[T]{place, entry})
	return entry
}

// Find is the first entry that is wanted, by their places; false when none is.
func (e *Entries[T]) Find(wanted func(*T) bool) (found T, ok bool) {
	for i := range e.all {
		if wanted(&e.all[i].entry) {
			return e.all[i].entry, true
		}
	}
	return found, false
}

// All are the entries by their places.
func (e *Entries[T]) All() []T {
	all := make([]T, len(e.all))
	for i, p := range e.all {
		all[i] = p.entry
	}
	return all
}
