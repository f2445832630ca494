package trace

import (
	"strconv"
	"strings"
)

// AnsweredEvent: a node answers a request of Peer with an error; or, without a Code, that a
// migration or a deletion is over.
type AnsweredEvent struct {
	Peer string
	NS   string
	// Chunks is the placement that the request came with, if any: a version, and no bounds.
	Chunks []Chunk
	// Request is what was asked for.
	Request string
	// Code is that of the error.
	Code string
	// Arrived is when the request came, in true virtual time.
	Arrived int64
}

// Event is the event that travels.
func (p AnsweredEvent) Event() *Event {
	return &Event{
		Kind: Answered, Peer: p.Peer, NS: p.NS, Chunks: p.Chunks, subject: p.Request,
		detail: p.Code, amount: p.Arrived,
	}
}

// CallEndedEvent: a node learns that its request to Peer has failed, by an answer or by none; or,
// without a Code, what it asked of the routing table.
type CallEndedEvent struct {
	Peer string
	NS   string
	// Request is what was asked for.
	Request string
	// Code is that of the error.
	Code string
	// Sent is when the request was sent, in true virtual time.
	Sent int64
}

// Event is the event that travels.
func (p CallEndedEvent) Event() *Event {
	return &Event{
		Kind: CallEnded, Peer: p.Peer, NS: p.NS, subject: p.Request, detail: p.Code,
		amount: p.Sent,
	}
}

// CursorAnsweredEvent: a node answers Peer about a query; or, if the cursor is lost, learns so from
// Peer.
type CursorAnsweredEvent struct {
	Peer string
	NS   string
	// Chunks is the placement that a query which keeps its documents came with: a version, and no
	// bounds. Later batches have none.
	Chunks []Chunk
	// Cursor is the name under which the query goes on, or did.
	Cursor string
	// State is what is known of it from now on.
	State CursorState
	// Arrived is when the request came, in true virtual time.
	Arrived int64
}

// Event is the event that travels.
func (p CursorAnsweredEvent) Event() *Event {
	return &Event{
		Kind: CursorAnswered, Peer: p.Peer, NS: p.NS, Chunks: p.Chunks, subject: p.Cursor,
		detail: p.State.String(), state: uint8(p.State), amount: p.Arrived,
	}
}

// WeighedEvent: a node learns from the shard Peer how much it has of a collection, or of one of its
// chunks.
type WeighedEvent struct {
	Peer string
	NS   string
	// Min and Max bound the chunk, and are empty for the whole collection.
	Min, Max string
	// Bytes is how much.
	Bytes int64
}

// Event is the event that travels.
func (p WeighedEvent) Event() *Event {
	return &Event{
		Kind: Weighed, Peer: p.Peer, NS: p.NS, Min: p.Min, Max: p.Max, amount: p.Bytes,
	}
}

// MoveAskedEvent: a donor has dealt with a request of the balancer to move to Peer.
type MoveAskedEvent struct {
	Peer string
	NS   string
	Min  string
	// Max is empty when the donor decides how much.
	Max string
	// Request is the request's name.
	Request string
	// Asking is what else it says.
	Asking string
}

// Event is the event that travels.
func (p MoveAskedEvent) Event() *Event {
	return &Event{
		Kind: MoveAsked, Peer: p.Peer, NS: p.NS, Min: p.Min, Max: p.Max, subject: p.Request,
		detail: p.Asking,
	}
}

// SplitAskedEvent: a node has asked Peer to cut a chunk, and knows what became of it.
type SplitAskedEvent struct {
	Peer, NS, Min, Max string
	// Chunks are the pieces, of which only the bounds are known.
	Chunks []Chunk
}

// Event is the event that travels.
func (p SplitAskedEvent) Event() *Event {
	return &Event{
		Kind: SplitAsked, Peer: p.Peer, NS: p.NS, Min: p.Min, Max: p.Max, Chunks: p.Chunks,
	}
}

// SplitFoundEvent: a shard answers Peer where a range can be cut into chunks of a size.
type SplitFoundEvent struct {
	Peer, NS, Min, Max string
	// Chunks are the pieces, of which only the bounds are known.
	Chunks []Chunk
	// ChunkBytes is the size.
	ChunkBytes int64
	// Arrived is when the request came, in true virtual time.
	Arrived int64
}

// Event is the event that travels.
func (p SplitFoundEvent) Event() *Event {
	return &Event{
		Kind: SplitFound, Peer: p.Peer, NS: p.NS, Min: p.Min, Max: p.Max, Chunks: p.Chunks,
		number: int(p.ChunkBytes), amount: p.Arrived,
	}
}

// SplitBegunEvent: a shard of 4.2 has learned that it may cut chunks of a collection that have
// outgrown a size, and is about to look at one.
type SplitBegunEvent struct {
	NS string
	// ChunkBytes is the size.
	ChunkBytes int64
	// Sent is when it asked whether it may, in true virtual time.
	Sent int64
}

// Event is the event that travels.
func (p SplitBegunEvent) Event() *Event {
	return &Event{
		Kind: SplitBegun, NS: p.NS, number: int(p.ChunkBytes), amount: p.Sent,
	}
}

// SplitMadeEvent: the config server answers Peer, a shard, that it has cut a chunk, or why not.
type SplitMadeEvent struct {
	Peer, NS, Min, Max string
	// Chunks are the pieces, of which only the bounds are known.
	Chunks []Chunk
	// Code is that of the error.
	Code string
}

// Event is the event that travels.
func (p SplitMadeEvent) Event() *Event {
	return &Event{
		Kind: SplitMade, Peer: p.Peer, NS: p.NS, Min: p.Min, Max: p.Max, Chunks: p.Chunks,
		detail: p.Code,
	}
}

// ExchangedEvent: a node has answered a request of Peer. It tells what was said, for stories; who
// judges a run does not go by it.
type ExchangedEvent struct {
	Peer string
	NS   string
	// Request is what was asked for.
	Request string
	// Arguments are those of the request, each by its name, a space and its value. Answer is what
	// was answered, for people.
	Arguments []string
	Answer    string
	// Passed are the failpoint sites that the request passed, in order.
	Passed []Passage
	// Carried are the documents of the answer.
	Carried []Carried
	// Arrived is when the request came, in true virtual time.
	Arrived int64
}

// Carried is a document in a message: its encoded _id, and its hash; 0 for its deletion.
type Carried struct {
	DocID string
	Hash  uint64
}

// Passage is when a task passed a failpoint site, in true virtual time.
type Passage struct {
	Site string
	At   int64
}

// Event is the event that travels.
func (p ExchangedEvent) Event() *Event {
	said := []string{strings.Join(p.Arguments, argumentNext), p.Answer}
	for _, one := range p.Passed {
		said = append(said, one.Site+passedAt+strconv.FormatInt(one.At, 10))
	}
	e := &Event{
		Kind: Exchanged, Peer: p.Peer, NS: p.NS, subject: p.Request,
		detail: strings.Join(said, saidNext), amount: p.Arrived,
	}
	for _, c := range p.Carried {
		e.Chunks = append(e.Chunks, Chunk{Min: c.DocID, Since: c.Hash})
	}
	return e
}

// saidNext stands between what was asked, what was answered and each passage, argumentNext between
// arguments, passedAt between a site and a time.
const (
	saidNext     = " → "
	argumentNext = ", "
	passedAt     = " at "
)
