package trace

// BalancerRoundEvent: a round begins or ends.
type BalancerRoundEvent struct {
	Shard string
	Term  uint64
	// Round counts those of the term.
	Round int
	// Phase says which.
	Phase RoundPhase
}

// Event is the event that travels.
func (p BalancerRoundEvent) Event() *Event {
	return &Event{
		Kind: BalancerRound, Shard: p.Shard, Term: p.Term, number: p.Round,
		detail: p.Phase.String(), state: uint8(p.Phase),
	}
}

// BalancerQueuedEvent: the primary is about to ask for the migration of a chunk from Shard to Peer,
// which are taken from now on. It asks a little later, or not at all.
type BalancerQueuedEvent struct {
	Shard string
	Peer  string
	Term  uint64
	NS    string
	Min   string
	Max   string
	// Request is the request's name.
	Request string
}

// Event is the event that travels.
func (p BalancerQueuedEvent) Event() *Event {
	return &Event{
		Kind: BalancerQueued, Shard: p.Shard, Peer: p.Peer, Term: p.Term, NS: p.NS, Min: p.Min,
		Max: p.Max, subject: p.Request,
	}
}

// BalancerChoseEvent: a migration is asked for, from Shard to Peer; without Max the donor
// decides how much. The world adds the node's wall clock.
type BalancerChoseEvent struct {
	Shard string
	Peer  string
	Term  uint64
	NS    string
	Min   string
	Max   string
	// Request is the request's name.
	Request string
	// Why is the reason.
	Why string
	// AheadOfUTC is how far local time is ahead, in nanoseconds.
	AheadOfUTC int64
}

// Event is the event that travels.
func (p BalancerChoseEvent) Event() *Event {
	return &Event{
		Kind: BalancerChose, Shard: p.Shard, Peer: p.Peer, Term: p.Term, NS: p.NS, Min: p.Min,
		Max: p.Max, subject: p.Request, detail: p.Why, amount: p.AheadOfUTC,
	}
}

// BalancerDoneEvent: a request has ended: its shards are free again.
type BalancerDoneEvent struct {
	Shard string
	Term  uint64
	// Request is the request's name.
	Request string
	// Outcome is BalancerMoved or the code of the error.
	Outcome string
}

// Event is the event that travels.
func (p BalancerDoneEvent) Event() *Event {
	return &Event{
		Kind: BalancerDone, Shard: p.Shard, Term: p.Term, subject: p.Request, detail: p.Outcome,
	}
}

// BalancerStateEvent: the mode was written; it counts from the Majority that covers it.
type BalancerStateEvent struct {
	Shard string
	Term  uint64
	Index uint64
	// Mode is the mode.
	Mode BalancerMode
	// Window is the active window, such as 23:00-7:00, empty for all day.
	Window string
	// Closed: nothing that the balancer has asked for is committed.
	Closed bool
}

// Event is the event that travels.
func (p BalancerStateEvent) Event() *Event {
	e := &Event{
		Kind: BalancerState, Shard: p.Shard, Term: p.Term, Index: p.Index,
		detail: p.Mode.String(), state: uint8(p.Mode), subject: p.Window,
	}
	if p.Closed {
		e.number = 1
	}
	return e
}

// BalancerStoppedEvent: a stop is answered: nothing that the balancer asked for is committed
// until it is on again.
type BalancerStoppedEvent struct {
	Shard string
	Term  uint64
}

// Event is the event that travels.
func (p BalancerStoppedEvent) Event() *Event {
	return &Event{
		Kind: BalancerStopped, Shard: p.Shard, Term: p.Term,
	}
}
