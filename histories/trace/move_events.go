package trace

// MigrationRequestedEvent: a donor takes a request; without Max it decides how much moves.
type MigrationRequestedEvent struct {
	Shard string
	Peer  string
	NS    string
	Min   string
	Max   string
	// Migration is its name from now on.
	Migration string
	// Request is the name under which it was asked for.
	Request string
}

// Event is the event that travels.
func (p MigrationRequestedEvent) Event() *Event {
	return &Event{
		Kind: MigrationRequested, Shard: p.Shard, Peer: p.Peer, NS: p.NS, Min: p.Min, Max: p.Max,
		subject: p.Migration, detail: p.Request,
	}
}

// DonorAdvancedEvent: a donor enters a state; with DonorCommittingOnConfig Chunks is the chunk
// with the version that the commit names.
type DonorAdvancedEvent struct {
	Shard  string
	Peer   string
	NS     string
	Min    string
	Max    string
	Chunks []Chunk
	// Migration is its name.
	Migration string
	// State is the state.
	State DonorState
}

// Event is the event that travels.
func (p DonorAdvancedEvent) Event() *Event {
	return &Event{
		Kind: DonorAdvanced, Shard: p.Shard, Peer: p.Peer, NS: p.NS, Min: p.Min, Max: p.Max,
		Chunks: p.Chunks, subject: p.Migration, detail: p.State.String(), state: uint8(p.State),
	}
}

// RecipientAdvancedEvent: a recipient enters a state; Shard is the recipient's, Peer the
// donor's.
type RecipientAdvancedEvent struct {
	Shard string
	Peer  string
	NS    string
	Min   string
	Max   string
	// Migration is its name.
	Migration string
	// State is the state.
	State RecipientState
}

// Event is the event that travels.
func (p RecipientAdvancedEvent) Event() *Event {
	return &Event{
		Kind: RecipientAdvanced, Shard: p.Shard, Peer: p.Peer, NS: p.NS, Min: p.Min, Max: p.Max,
		subject: p.Migration, detail: p.State.String(), state: uint8(p.State),
	}
}

// DecisionMadeEvent: the donor has persisted its decision.
type DecisionMadeEvent struct {
	Shard string
	// Migration is its name.
	Migration string
	// Decision is the outcome.
	Decision Decision
}

// Event is the event that travels.
func (p DecisionMadeEvent) Event() *Event {
	return &Event{
		Kind: DecisionMade, Shard: p.Shard, subject: p.Migration, detail: p.Decision.String(),
		state: uint8(p.Decision),
	}
}

// MigrationEndedEvent: the donor has completed it.
type MigrationEndedEvent struct {
	Shard string
	// Migration is its name.
	Migration string
	// Decision is the outcome.
	Decision Decision
	// Recovered is true when a later primary completed it.
	Recovered bool
}

// Event is the event that travels.
func (p MigrationEndedEvent) Event() *Event {
	var recovered int
	if p.Recovered {
		recovered = 1
	}
	return &Event{
		Kind: MigrationEnded, Shard: p.Shard, subject: p.Migration, detail: p.Decision.String(),
		state: uint8(p.Decision), number: recovered,
	}
}

// RangeDeletionEvent: a task enters a state.
type RangeDeletionEvent struct {
	Shard string
	NS    string
	Min   string
	Max   string
	// Migration is the task's name, that of its migration.
	Migration string
	// State is the state.
	State DeletionState
	// Orphans is how many the task counts, -1 when nobody counts them or the collection was
	// replaced.
	Orphans int
}

// Event is the event that travels.
func (p RangeDeletionEvent) Event() *Event {
	return &Event{
		Kind: RangeDeletion, Shard: p.Shard, NS: p.NS, Min: p.Min, Max: p.Max,
		subject: p.Migration, detail: p.State.String(), state: uint8(p.State), number: p.Orphans,
	}
}

// PrimaryMovingEvent: a move enters a phase; NS is the database.
type PrimaryMovingEvent struct {
	Shard string
	Peer  string
	NS    string
	// Migration is the move's name.
	Migration string
	// Phase is the phase.
	Phase PrimaryMovePhase
}

// Event is the event that travels.
func (p PrimaryMovingEvent) Event() *Event {
	return &Event{
		Kind: PrimaryMoving, Shard: p.Shard, Peer: p.Peer, NS: p.NS, subject: p.Migration,
		detail: p.Phase.String(), state: uint8(p.Phase),
	}
}
