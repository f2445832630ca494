package trace

// ElectedEvent: a node becomes the leader.
type ElectedEvent struct {
	Shard string
	Term  uint64
	Index uint64
	// Log is the last index of each term in its log, as term:index,...; Index is the last of
	// all.
	Log string
}

// Event is the event that travels.
func (p ElectedEvent) Event() *Event {
	return &Event{
		Kind: Elected, Shard: p.Shard, Term: p.Term, Index: p.Index, subject: p.Log,
	}
}

// WritableEvent: step-up is over, user writes are accepted.
type WritableEvent struct {
	Shard string
	Term  uint64
}

// Event is the event that travels.
func (p WritableEvent) Event() *Event {
	return &Event{
		Kind: Writable, Shard: p.Shard, Term: p.Term,
	}
}

// SteppedDownEvent: the node leads no longer.
type SteppedDownEvent struct {
	Shard string
	Term  uint64
}

// Event is the event that travels.
func (p SteppedDownEvent) Event() *Event {
	return &Event{
		Kind: SteppedDown, Shard: p.Shard, Term: p.Term,
	}
}

// MajorityEvent: the leader learned that everything to Index is committed.
type MajorityEvent struct {
	Shard string
	Term  uint64
	Index uint64
}

// Event is the event that travels.
func (p MajorityEvent) Event() *Event {
	return &Event{
		Kind: Majority, Shard: p.Shard, Term: p.Term, Index: p.Index,
	}
}

// RolledBackEvent: the node forgot everything it had applied after Index, or came back from a
// crash with the log up to Index.
type RolledBackEvent struct {
	Shard string
	Index uint64
}

// Event is the event that travels.
func (p RolledBackEvent) Event() *Event {
	return &Event{
		Kind: RolledBack, Shard: p.Shard, Index: p.Index,
	}
}

// AppliedEvent: a document operation takes effect.
type AppliedEvent struct {
	Actor Actor
	Shard string
	Term  uint64
	Index uint64
	NS    string
	Key   string
	DocID string
	Hash  uint64
	// For is the session, migration or task for which it was done.
	For string
}

// Event is the event that travels.
func (p AppliedEvent) Event() *Event {
	return &Event{
		Kind: Applied, Actor: p.Actor, Shard: p.Shard, Term: p.Term, Index: p.Index, NS: p.NS,
		Key: p.Key, DocID: p.DocID, Hash: p.Hash, subject: p.For,
	}
}

// ExecutedEvent: a statement of a retryable write goes on record, before the Applied of the
// same entry; with Actor Session it was executed elsewhere.
type ExecutedEvent struct {
	Actor Actor
	Shard string
	Term  uint64
	Index uint64
	NS    string
	Key   string
	// Session is the client's session.
	Session string
	// Txn is the transaction's number in the session, never zero.
	Txn int64
	// Statement is the statement's number in it, -1 for a dead end: the history is incomplete.
	Statement int
	// Migration is the one that brought it, if any.
	Migration string
}

// Event is the event that travels.
func (p ExecutedEvent) Event() *Event {
	return &Event{
		Kind: Executed, Actor: p.Actor, Shard: p.Shard, Term: p.Term, Index: p.Index, NS: p.NS,
		Key: p.Key, subject: p.Session, amount: p.Txn, number: p.Statement, detail: p.Migration,
	}
}
