// Package trace is the record of what happened inside a cluster, step by step: what the step
// oracles judge, what the coverage tables count and what a story is made of. An observer of a run
// sees these values and nothing else.
//
// Each kind of event has a type with exactly its fields, such as RangeDeletionEvent; its Event
// method makes the Event that travels. A reader looks at the Kind, at fields that mean the
// same for all kinds, and asks the rest by methods named after what they mean, such as Migration or
// DonorState. The states of a donor, a recipient, a range deletion and so on are types of their
// own.
//
//	n.Emit(trace.DonorAdvancedEvent{Migration: id, State: trace.DonorCloning}.Event())
//	over := e.Kind == trace.DonorAdvanced && e.DonorState().Terminal()
//
// Promise: an event carries names, numbers and encoded keys, never a pointer into a node; making
// one allocates once.
//
// Refusal: no event is interpreted here; the package knows no store.
package trace

// Event is one thing that happened. Which fields count depends on Kind; the others are zero.
type Event struct {
	// Step counts all events of the run from 1; At is true virtual time in nanoseconds. The world
	// sets both, and Node.
	Step uint64
	At   int64
	Node string

	Kind  Kind
	Actor Actor
	// state is a DonorState, a DeletionState and so on, as Kind says; detail is then its name.
	state uint8

	// Shard is the replica set whose event it is. Peer is the other side: the shard to which or
	// from which something moves, the shard that a change of the cluster is about, the target of a
	// fault, the receiver of a message.
	Shard, Peer string
	// Term and Index are a place in the replica set's log.
	Term, Index uint64
	// NS is a collection, or a database. Key and DocID are a document's, encoded; Min and Max bound
	// a range of encoded keys.
	NS         string
	Key, DocID string
	Min, Max   string
	// Hash is that of a document, 0 for none.
	Hash   uint64
	Chunks []Chunk

	// subject, detail, number and amount are what a kind has besides; the methods of Event give
	// them their names. wall is what the node's clock shows, where the Kind has it.
	subject, detail string
	number          int
	amount, wall    int64
}

// Chunk is one row of the catalog as the oracles see it. Min and Max are encoded keys.
type Chunk struct {
	Min, Max     string
	Shard        string
	Major, Minor uint32
	Epoch        string
	// History is newest first (protocol 2.1).
	History []Placement
	// Since is from when on the shard has the chunk, Jumbo that it is marked as too big to be
	// moved.
	Since uint64
	Jumbo bool
}

// Placement is one entry of a chunk's history.
type Placement struct {
	ValidAfter uint64
	Shard      string
}

// Observer takes events as they happen. It must not keep the pointer.
type Observer interface{ Observe(e *Event) }

// Actor says on whose behalf something was written or held.
type Actor uint8

// The actors.
const (
	Nobody       Actor = iota
	User               // a client's operation
	Donor              // the donor's own book-keeping
	Recipient          // the recipient's clone and mods
	Session            // transferred session history
	RangeDeleter       // deletion of orphans
	System             // everything else a server writes for itself
)

var actors = [...]string{
	"nobody", "user", "donor", "recipient", "session", "range-deleter", "system",
}

// String is the actor's name in texts and files.
func (a Actor) String() string {
	if int(a) < len(actors) {
		return actors[a]
	}
	return "actor-unknown"
}
