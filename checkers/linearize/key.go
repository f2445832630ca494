// Package linearize decides whether the operations on one key can be explained by one order that
// respects real time.
//
// It knows two ways. The near-linear one uses that every write carries an identity of its own: who
// replaced what is then known, and the rest is sorting (after Gibbons and Korach, Testing Shared
// Memories, with the read mapping known). The general one searches (porcupine).
//
// Promise: Explained comes with an order that was replayed against the specification, Contradiction
// with a proof; what the near-linear way cannot decide is Open, never guessed. A key of any history
// gets one of these answers.
//
// Refusal: it judges one key; what holds only across keys is for the other checkers.
package linearize

import (
	"math"

	"github.com/shardproof/shardproof/checkers/compact"
)

// ID is an identity on one key: an index into Key.Names.
type ID int32

// The identities that every key has: no document, and a document that was never given a value.
const (
	Absent ID = iota
	Unnamed
	firstName
)

// Never is a time after every other.
const Never = 1 << 62

// Observation is what an act noticed of the state just before it.
type Observation uint8

// What an act may notice.
const (
	Nothing Observation = iota
	Exactly             // Seen is the state: a value, or Absent
	Present             // there is a document
	Except              // the state is not Seen
)

// Do is what an act does to the state.
type Do uint8

// What an act may do. Set and Change put a value; Set makes a new document, Change keeps its list.
const (
	Leave Do = iota
	Set
	Change
	Remove
	Append
	// The document, if there is one, is in the place Into from now on, and what was there is gone.
	Move
)

func (d Do) puts() bool { return d == Set || d == Change }

// KeyOp is what one operation noticed and did on one key. A scan makes one act on each key of its
// range.
type KeyOp struct {
	Call, Return uint64
	// Op is the position of the operation in the history.
	Op        int32
	Seen, Put ID
	// List is the list of the document that the act returned, as an index into Key.Lists; 0 for an
	// empty one.
	List int32
	See  Observation
	Do   Do
	// Place is where the act took place, Into where a Move goes: see Key.NS.
	Place, Into uint8
	// Shows marks an act that returned the document as it found it: its list is known, too.
	Shows bool
	// Maybe marks an act of unknown outcome: it happened as a whole, or not at all. Settled marks
	// one that was so until somebody was found to have seen it.
	Maybe, Settled bool
}

// mostNames is how many names a collection may have in a history that can be searched.
const mostNames = 2

// Key is the history of one key.
type Key struct {
	// NS is the collection. Collections that take each other's names are one: NS is the first name
	// then, and each name is a place that may have a document of the key.
	NS  string
	Key int64
	// Acts are ordered by Call.
	Acts []KeyOp
	// Names are the identities as texts of the history; Writers the position in it of the operation
	// that was to write it, or NoWriter; Refused is true when that operation certainly failed.
	Names   []compact.Text
	Writers []int32
	Refused []bool
	// Lists are the lists that were returned. The first one is empty.
	Lists [][]ID
	// Repeats is true when two operations write the same identity; then only searching helps.
	Repeats bool
	// Wiped is true when the whole collection was dropped or renamed, which removes or moves a
	// document and tells nothing of it; then, too, only searching helps. Places is how many names
	// the collection has.
	Wiped  bool
	Places int
	// WeakReads are what reads of weaker concern saw: no claim about order, but nobody may see what
	// was never written, and what a majority read saw is there to stay.
	WeakReads []WeakRead
}

// WeakRead is an identity that a read of weaker concern than linearizable saw before it returned.
type WeakRead struct {
	Op     int32
	Seen   ID
	Return uint64
	// Passing: the read may have shown what was rolled back later.
	Passing bool
}

// NoWriter is the writer of an identity that no operation of the history writes.
const NoWriter = math.MinInt32

// pushes says whether something is pushed on the key, or somebody read a list.
func (k *Key) pushes() bool {
	if len(k.Lists) > 1 {
		return true
	}
	for i := range k.Acts {
		if k.Acts[i].Do == Append {
			return true
		}
	}
	return false
}

// Answer is what is known about a key.
type Answer uint8

// The answers.
const (
	Open Answer = iota
	Explained
	Contradiction
)

// Reason is the kind of a proof.
type Reason uint8

// The reasons. The comment says what Acts and ID of the proof are.
const (
	NoReason Reason = iota
	// [reader]: ID was never written, or by an operation that failed.
	Phantom
	// [reader, writer]: the reader ended before the writer of ID began.
	Early
	// [one, other]: both replaced ID.
	Forked
	// [one]: what it replaced came after it.
	Circle
	// [first, second, newer]: first must precede second, which ended before first began; newer
	// replaced what first saw.
	Backwards
	// [a1, a2, b1, b2]: a1 saw A and ended before b2 saw B began, b1 saw B and ended before a2 saw
	// A began.
	Entangled
	// [one, other]: both found no document and made one, and nothing removed either.
	TwoLives
	// [one, other, maker]: one saw a document that nothing ever ended, and ended before other saw
	// another one.
	Outlived
	// [absence, before, after]: the document was there from before to after; after may be missing.
	Missed
	// [reader]: its list holds ID twice.
	Duplicated
	// [one, other]: their lists are no prefixes of each other; ID is where one differs.
	Diverging
	// [push, reader, later]: the push of ID ended before later began, and reader, who came no
	// sooner, did not see it.
	Unseen
)

// Proof shows that no order explains a key. Acts are positions in Key.Acts.
type Proof struct {
	Reason Reason
	Acts   []int32
	ID     ID
}

// Result is an answer with its evidence: Order (positions in Key.Acts) when explained, Proof when
// not.
type Result struct {
	Answer Answer
	Order  []int32
	Proof  Proof
}
