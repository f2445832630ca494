package trace

import (
	"strconv"
	"strings"
)

// Migration is the migration, or the movePrimary, that the event is part of: of a range deletion
// the one that left the range behind, of what is written that for which it is written. Empty for
// none.
func (e *Event) Migration() string {
	switch e.Kind {
	case MigrationRequested, DonorAdvanced, RecipientAdvanced, DecisionMade, MigrationEnded,
		RangeDeletion, CriticalSection, PrimaryMoving, PointHit:
		return e.subject
	case Applied:
		if e.Actor != User {
			return e.subject
		}
	case Executed:
		return e.detail
	case CatalogWritten:
		if c := CatalogChange(e.state); c == ChunkMoved || c == PrimaryMoved {
			_, id, _ := strings.Cut(e.detail, " ")
			return id
		}
	}
	return ""
}

// For is the session, migration or task for which an Applied was done.
func (e *Event) For() string { return e.subjectOf(Applied) }

// Session is the client's session of an Executed, or of an Applied that a client asked for.
func (e *Event) Session() string {
	if e.Kind == Executed || e.Kind == Applied && e.Actor == User {
		return e.subject
	}
	return ""
}

// Cursor is the name of the cursor that is opened, closed or spoken of.
func (e *Event) Cursor() string {
	switch e.Kind {
	case CursorOpened, CursorClosed, CursorAnswered:
		return e.subject
	}
	return ""
}

// Log is the last index of each term in the log of an Elected, as term:index,...
func (e *Event) Log() string { return e.subjectOf(Elected) }

// Request is the name of the request that the balancer makes or has ended, or for which a donor has
// begun a migration.
func (e *Event) Request() string {
	switch e.Kind {
	case BalancerQueued, BalancerChose, BalancerDone, MoveAsked:
		return e.subject
	case MigrationRequested:
		return e.detail
	}
	return ""
}

// Asked is what the request of an Answered, a CallEnded or an Exchanged asks for.
func (e *Event) Asked() string {
	if e.Kind == Answered || e.Kind == CallEnded || e.Kind == Exchanged {
		return e.subject
	}
	return ""
}

// Said are the arguments of the request of an Exchanged, and the answer.
func (e *Event) Said() (arguments, answer string) {
	said := append(strings.Split(e.detailOf(Exchanged), saidNext), "")
	return said[0], said[1]
}

// Argument is the value of an argument of the request of an Exchanged, and whether it has that.
func (e *Event) Argument(name string) (value string, given bool) {
	asked, _ := e.Said()
	for one := range strings.SplitSeq(asked, argumentNext) {
		if of, value, _ := strings.Cut(one, " "); of == name && of != "" {
			return value, true
		}
	}
	return "", false
}

// Passed are the failpoint sites that the request of an Exchanged passed, in order.
func (e *Event) Passed() (all []Passage) {
	said := strings.Split(e.detailOf(Exchanged), saidNext)
	for _, one := range said[min(2, len(said)):] {
		site, at, _ := strings.Cut(one, passedAt)
		if n, err := strconv.ParseInt(at, 10, 64); err == nil {
			all = append(all, Passage{site, n})
		}
	}
	return all
}

// Carried are the documents in the answer of an Exchanged.
func (e *Event) Carried() (all []Carried) {
	if e.Kind == Exchanged {
		for _, c := range e.Chunks {
			all = append(all, Carried{c.Min, c.Since})
		}
	}
	return all
}

// Code is that of the error of an Answered, a CallEnded or a SplitMade; empty for none.
func (e *Event) Code() string {
	if e.Kind == Answered || e.Kind == CallEnded || e.Kind == SplitMade {
		return e.detail
	}
	return ""
}

// ChunkBytes is the size of a chunk that is aimed at by a SplitFound or a SplitBegun.
func (e *Event) ChunkBytes() int64 {
	if e.Kind == SplitFound || e.Kind == SplitBegun {
		return int64(e.number)
	}
	return 0
}

// Arrived is when the request of an Answered, a CursorAnswered, a SplitFound or an Exchanged came,
// in true virtual time.
func (e *Event) Arrived() int64 {
	switch e.Kind {
	case Answered, CursorAnswered, SplitFound, Exchanged:
		return e.amount
	}
	return 0
}

// Bytes is how much there is by a Weighed.
func (e *Event) Bytes() int64 {
	if e.Kind == Weighed {
		return e.amount
	}
	return 0
}

// Asking is what the request of a MoveAsked says beside what is to move.
func (e *Event) Asking() string { return e.detailOf(MoveAsked) }

// Sent is when the request of a CallEnded, or that which a SplitBegun follows from, was sent, in
// true virtual time.
func (e *Event) Sent() int64 {
	if e.Kind == CallEnded || e.Kind == SplitBegun {
		return e.amount
	}
	return 0
}

// CursorState is what a CursorAnswered tells of the cursor.
func (e *Event) CursorState() CursorState { return CursorState(e.stateOf(CursorAnswered)) }

// Window is the active window of a BalancerState.
func (e *Event) Window() string { return e.subjectOf(BalancerState) }

// Zones are those of the shard of a ClusterChanged with commas between them, or the zone of its
// range.
func (e *Event) Zones() string { return e.subjectOf(ClusterChanged) }

// Fields are those that an EntryChanged changed, in the order of the document.
func (e *Event) Fields() []string {
	if e.Kind != EntryChanged {
		return nil
	}
	return strings.Fields(e.subject)
}

// MaxBytes is the limit of the shard of a ClusterChanged; 0 is none.
func (e *Event) MaxBytes() int64 {
	if e.Kind == ClusterChanged {
		return e.amount
	}
	return 0
}

// Place is where chance decided a Chance: the class of a message, or the place on the node.
func (e *Event) Place() string { return e.subjectOf(Chance) }

func (e *Event) subjectOf(k Kind) string {
	if e.Kind == k {
		return e.subject
	}
	return ""
}

func (e *Event) detailOf(k Kind) string {
	if e.Kind == k {
		return e.detail
	}
	return ""
}

func (e *Event) stateOf(k Kind) uint8 {
	if e.Kind == k {
		return e.state
	}
	return 0
}

func (e *Event) numberOf(k Kind) int {
	if e.Kind == k {
		return e.number
	}
	return 0
}

// FaultKind is the name in the catalog of the fault of a Fault or Repair.
func (e *Event) FaultKind() string {
	if e.Kind == Fault || e.Kind == Repair {
		return e.detail
	}
	return ""
}

// FaultNumber is the number in the scenario of the fault of a Fault or Repair.
func (e *Event) FaultNumber() int {
	if e.Kind == Fault || e.Kind == Repair {
		return e.number
	}
	return 0
}

// Site is the failpoint of a PointHit.
func (e *Event) Site() string { return e.detailOf(PointHit) }

// Probe is that of a Reached.
func (e *Event) Probe() string { return e.detailOf(Reached) }

// ProbeNumber is the number that a Reached was given.
func (e *Event) ProbeNumber() int { return e.numberOf(Reached) }

// StepFailed says whether chance or a fault had the step at a failpoint that was hit fail.
func (e *Event) StepFailed() bool { return e.Kind == PointHit && e.amount != 0 }

// Question is the kind of a Chance's question at the choice gate.
func (e *Event) Question() string { return e.detailOf(Chance) }

// Answer is what chance answered in a Chance.
func (e *Event) Answer() int64 {
	if e.Kind == Chance {
		return e.amount
	}
	return 0
}

// Why is the reason of a ProcessAborted, a CatalogWritten, an EntryChanged or a BalancerChose.
func (e *Event) Why() string {
	switch e.Kind {
	case ProcessAborted, CatalogWritten, EntryChanged, BalancerChose:
		return e.detail
	}
	return ""
}

// Version is that of the placement that a MetadataInstalled has.
func (e *Event) Version() string { return e.detailOf(MetadataInstalled) }

// Change is what a CatalogWritten does; 0 for a change without a name.
func (e *Event) Change() CatalogChange { return CatalogChange(e.stateOf(CatalogWritten)) }

// FormerName is the one from which a CatalogWritten renames the collection, empty when it does not.
func (e *Event) FormerName() string {
	if e.Change() != RenamedFrom {
		return ""
	}
	_, from, _ := strings.Cut(e.detail, " ")
	return from
}

// ClusterChange is what a ClusterChanged changes.
func (e *Event) ClusterChange() ClusterChange { return ClusterChange(e.stateOf(ClusterChanged)) }

// Statement is the number of an Executed's statement in its transaction, -1 for a dead end.
func (e *Event) Statement() int { return e.numberOf(Executed) }

// Txn is the number of an Executed's transaction in its session.
func (e *Event) Txn() int64 {
	if e.Kind == Executed {
		return e.amount
	}
	return 0
}

// DonorState is that of a DonorAdvanced.
func (e *Event) DonorState() DonorState { return DonorState(e.stateOf(DonorAdvanced)) }

// RecipientState is that of a RecipientAdvanced.
func (e *Event) RecipientState() RecipientState {
	return RecipientState(e.stateOf(RecipientAdvanced))
}

// Decision is that of a DecisionMade or MigrationEnded.
func (e *Event) Decision() Decision {
	if e.Kind == DecisionMade || e.Kind == MigrationEnded {
		return Decision(e.state)
	}
	return 0
}

// Recovered says whether a MigrationEnded is the work of a later primary.
func (e *Event) Recovered() bool { return e.Kind == MigrationEnded && e.number == 1 }

// ClusterTime is that of the entry of a CatalogWritten, 0 when it is not known.
func (e *Event) ClusterTime() uint64 {
	if e.Kind == CatalogWritten {
		return uint64(e.amount)
	}
	return 0
}

// SectionState is that of a CriticalSection.
func (e *Event) SectionState() SectionState { return SectionState(e.stateOf(CriticalSection)) }

// DeletionState is that of a RangeDeletion.
func (e *Event) DeletionState() DeletionState { return DeletionState(e.stateOf(RangeDeletion)) }

// Orphans is how many the task of a RangeDeletion counts, -1 when nobody counts them.
func (e *Event) Orphans() int { return e.numberOf(RangeDeletion) }

// PrimaryMovePhase is that of a PrimaryMoving.
func (e *Event) PrimaryMovePhase() PrimaryMovePhase {
	return PrimaryMovePhase(e.stateOf(PrimaryMoving))
}

// Round is the number of a BalancerRound in its term.
func (e *Event) Round() int { return e.numberOf(BalancerRound) }

// RoundPhase says whether the round of a BalancerRound begins or ends.
func (e *Event) RoundPhase() RoundPhase { return RoundPhase(e.stateOf(BalancerRound)) }

// Closed says whether nothing that the balancer has asked for is committed after a BalancerState.
func (e *Event) Closed() bool { return e.Kind == BalancerState && e.number == 1 }

// BalancerMode is that of a BalancerState.
func (e *Event) BalancerMode() BalancerMode { return BalancerMode(e.stateOf(BalancerState)) }

// Outcome is that of a BalancerDone: BalancerMoved or the code of an error.
func (e *Event) Outcome() string { return e.detailOf(BalancerDone) }

// LocalTime is the time of day at the node of a BalancerChose, in nanoseconds since a midnight.
func (e *Event) LocalTime() int64 {
	if e.Kind == BalancerChose {
		return e.wall + e.amount
	}
	return 0
}

// AheadOfUTC is how far that is ahead of UTC, in nanoseconds; 0 for other events.
func (e *Event) AheadOfUTC() int64 {
	if e.Kind == BalancerChose {
		return e.amount
	}
	return 0
}

// State is the name of the state that the event enters, for texts: of a donor, a recipient, a
// critical section, a deletion, a movePrimary, a decision, a mode. Empty for events of other kinds.
func (e *Event) State() string {
	if e.Kind < kinds && layouts[e.Kind].parse != nil && e.Kind != CatalogWritten {
		return e.detail
	}
	return ""
}

// SetClock has the world add what the node's clock shows where the kind has it: nanoseconds since a
// midnight in UTC.
func (e *Event) SetClock(wall func() int64) {
	if e.Kind == BalancerChose {
		e.wall = wall()
	}
}

// Details are what the event has besides its exported fields: whom or what it names, what it says,
// and a number. They are for hashing and for texts about events of any kind.
func (e *Event) Details() (subject, says string, number int) {
	return e.subject, e.detail, e.number
}
