// Package opkind is the table of what clients can ask for: the kinds of operations, what each of
// them carries, what it does to a document or a collection, and what its answer claims. Who reads,
// prints, checks, models or shrinks operations asks this table and knows no kind by name.
//
// A kind is one file here and one that carries it out for a store:
//
//	// Touch changes a document to what it was.
//	const Touch Name = "touch"
//
//	var _ = declare(75, Touch, Kind{
//		About: "changes a document to what it was", Shape: Keyed,
//		Condition: DocumentPresent, Effect: Leave, Refused: DocumentAbsent,
//	})
//
// The number is the kind's place in lists.
//
// Promise: everything here is a fact about the kind, the same for every store and every run.
//
// Refusal: no kind is carried out here, and no answer is judged.
package opkind

import (
	"strings"

	"github.com/shardproof/shardproof/histories/listed"
)

// Name is what an operation does, as scenarios and histories call it.
type Name string

// Shape is what an operation is about.
type Shape uint8

// The shapes.
const (
	Keyed   Shape = iota + 1 // one document, by its key
	Ranged                   // all documents with keys in a range, in batches
	Whole                    // the collection as a whole
	Streams                  // the changes of the collection; only histories have such operations
)

// Effect is what an operation does when it takes effect: to its document, or to all of a
// collection.
type Effect uint8

// The effects. Set makes a new document of the value, Change keeps the list of the old one.
const (
	Leave Effect = iota
	Set
	Change
	Remove
	Append
	Move // everything has another name afterwards
)

// Condition is what must hold for an operation to take effect.
type Condition uint8

// The conditions.
const (
	Unconditional Condition = iota
	DocumentPresent
	DocumentMissing
	DocumentExpected // the document has the expected value, or is missing when none is expected
)

// Refusal is what is known when an acknowledged operation was not applied.
type Refusal uint8

// The refusals.
const (
	// It is applied always; that nothing was there is part of its result.
	NeverRefused Refusal = iota
	// There was no document.
	DocumentAbsent
	// There was one, other than the condition demands.
	DocumentOther
)

// Index is what an operation does to the collection's index.
type Index uint8

// What may become of it. A kind that says nothing may still be overtaken by one that does.
const (
	IndexKept Index = iota
	IndexMade
	IndexRemoved
	// IndexUntouched kinds cannot change whether there is one, whenever they happen.
	IndexUntouched
)

// Kind is what all operations of one name have in common.
type Kind struct {
	Name Name
	// About says in a few words what it does.
	About string
	Shape Shape
	// Value: it carries the identity that it writes. Renames: it carries another name.
	Value, Renames bool
	// Condition, Effect and Refused are what it means for its document, or of a Whole kind for all.
	Condition Condition
	Effect    Effect
	Refused   Refusal
	// Returns: an acknowledged one returns the document that it found, before its effect. Tells: it
	// may say no more than whether there was one.
	Returns, Tells bool
	Index          Index
}

// Reads says whether it only looks.
func (k *Kind) Reads() bool { return k.Effect == Leave && (k.Shape == Keyed || k.Shape == Ranged) }

// Expects says whether it carries the value that must be there, or that nothing must.
func (k *Kind) Expects() bool { return k.Condition == DocumentExpected }

var (
	declaredKinds listed.Entries[Kind]
	kindsByName   = map[Name]*Kind{}
	// likelyKinds are most of them, by likely: histories ask for the kind of each operation many
	// times over.
	likelyKinds [64]*Kind
)

// likely is where a name that is not empty is looked for first.
func (n Name) likely() int {
	return (31*len(n) + 7*int(n[0]) + int(n[len(n)-1])) % len(likelyKinds)
}

// declare adds a kind. It is called from package-level variables only.
func declare(place int, name Name, k Kind) *Kind {
	k.Name = name
	declaredKinds.Declare(place, k)
	kindsByName[name], likelyKinds[name.likely()] = &k, &k
	return &k
}

// All are all kinds, by their places.
func All() []Kind { return declaredKinds.All() }

// unknownKind is what a name stands for that is none: nothing follows from it.
var unknownKind Kind

// Of is the kind of that name; for a name that is none, a kind that carries nothing and does
// nothing.
func (n Name) Of() *Kind {
	if n != "" {
		if k := likelyKinds[n.likely()]; k != nil && k.Name == n {
			return k
		}
	}
	if k := kindsByName[n]; k != nil {
		return k
	}
	return &unknownKind
}

// Known says whether a scenario can have operations of the kind.
func (n Name) Known() bool {
	k := n.Of()
	return k.Shape != 0 && k.Shape != Streams
}

// Writes says whether the operation carries an identity that it writes.
func (n Name) Writes() bool { return n.Of().Value }

// Whole says whether the operation is about the collection and has no key.
func (n Name) Whole() bool { return n.Of().Shape == Whole }

// Known are the names of all kinds that scenarios can have, by their places.
func Known() (names []Name) {
	for _, k := range All() {
		if k.Name.Known() {
			names = append(names, k.Name)
		}
	}
	return names
}

// List is Known as text, with commas between the names.
func List() string {
	var names []string
	for _, n := range Known() {
		names = append(names, string(n))
	}
	return strings.Join(names, ", ")
}
