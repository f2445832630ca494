package trace

import "slices"

// parseName finds the value that has the name; values start with 1.
func parseName[T ~uint8](names []string, s string) (T, bool) {
	i := slices.Index(names, s)
	if i < 1 {
		return 0, false
	}
	return T(i), true
}

// nameOf is the name of a value; empty for 0, which is no state, and for what has none.
func nameOf[T ~uint8](names []string, v T) string {
	if int(v) < len(names) {
		return names[v]
	}
	return ""
}

// DonorState is how far the donor of a migration has come (protocol 5.1). The zero value is none.
type DonorState uint8

// The states of a donor, in their order. Before DonorCommittingOnConfig giving up means aborted;
// from then on only the config server knows.
const (
	DonorCreated DonorState = iota + 1
	DonorCloning
	DonorCloneCaughtUp
	DonorCriticalSection
	DonorCloneCompleted
	DonorCommittingOnConfig
	DonorDone
)

var donorStates = []string{
	"", "kCreated", "kCloning", "kCloneCaughtUp", "kCriticalSection", "kCloneCompleted",
	"kCommittingOnConfig", "kDone",
}

// String is the state's name as operators know it, empty for none.
func (s DonorState) String() string { return nameOf(donorStates, s) }

// ParseDonorState is the inverse of String.
func ParseDonorState(s string) (DonorState, bool) { return parseName[DonorState](donorStates, s) }

// DonorStates are all of them, in their order.
func DonorStates() []DonorState { return statesTo(DonorDone) }

// CommitWindow says whether writes are blocked and the outcome is open: from the critical section
// to the config server's answer.
func (s DonorState) CommitWindow() bool {
	return s >= DonorCriticalSection && s <= DonorCommittingOnConfig
}

// Terminal says whether nothing of the migration itself follows; a range deletion may.
func (s DonorState) Terminal() bool { return s == DonorDone }

// RecipientState is how far the recipient of a migration has come (protocol 5.2). The zero value is
// none.
type RecipientState uint8

// The states of a recipient, in their order. Before RecipientEnteredCritSec it may fail or be
// aborted; from then on only the donor's release ends it.
const (
	RecipientReady RecipientState = iota + 1
	RecipientClone
	RecipientCatchup
	RecipientSteady
	RecipientCommitStart
	RecipientEnteredCritSec
	RecipientExitCritSec
	RecipientDone
	RecipientFail
	RecipientAbort
)

var recipientStates = []string{
	"", "kReady", "kClone", "kCatchup", "kSteady", "kCommitStart", "kEnteredCritSec",
	"kExitCritSec",
	"kDone", "kFail", "kAbort",
}

// String is the state's name as operators know it, empty for none.
func (s RecipientState) String() string { return nameOf(recipientStates, s) }

// ParseRecipientState is the inverse of String.
func ParseRecipientState(s string) (RecipientState, bool) {
	return parseName[RecipientState](recipientStates, s)
}

// RecipientStates are all of them, in their order.
func RecipientStates() []RecipientState { return statesTo(RecipientAbort) }

// CommitWindow says whether the donor has asked the recipient to commit and the outcome is open.
func (s RecipientState) CommitWindow() bool {
	return s == RecipientCommitStart || s == RecipientEnteredCritSec
}

// Terminal says whether the recipient has come to its end, with success or without.
func (s RecipientState) Terminal() bool { return s >= RecipientDone }

// Failed says whether the recipient has ended without success.
func (s RecipientState) Failed() bool { return s == RecipientFail || s == RecipientAbort }

// Open says whether the outcome is not known to the recipient.
func (s RecipientState) Open() bool { return s >= RecipientReady && s <= RecipientEnteredCritSec }

// Receiving says whether documents arrive, or have arrived and are not owned yet. In RecipientReady
// it still waits for deletions of the range to end.
func (s RecipientState) Receiving() bool { return s.Open() && s != RecipientReady }

func statesTo[T ~uint8](last T) (all []T) {
	for s := T(1); s <= last; s++ {
		all = append(all, s)
	}
	return all
}

// Decision is the outcome of a migration as its donor has it. The zero value is none.
type Decision uint8

// The decisions.
const (
	Committed Decision = iota + 1
	Aborted
)

var decisions = []string{"", "committed", "aborted"}

// String is the decision's name, empty for none.
func (d Decision) String() string { return nameOf(decisions, d) }

// ParseDecision is the inverse of String.
func ParseDecision(s string) (Decision, bool) { return parseName[Decision](decisions, s) }

// SectionState is what a critical section blocks. The zero value is none.
type SectionState uint8

// The states of a critical section, the weakest first.
const (
	SectionReleased SectionState = iota + 1
	WritesBlocked
	ReadsBlocked
)

var sectionStates = []string{"", "released", "writesBlocked", "readsBlocked"}

// String is the state's name, empty for none.
func (s SectionState) String() string { return nameOf(sectionStates, s) }

// ParseSectionState is the inverse of String.
func ParseSectionState(s string) (SectionState, bool) {
	return parseName[SectionState](sectionStates, s)
}

// Terminal says whether nothing is blocked any more.
func (s SectionState) Terminal() bool { return s == SectionReleased }

// DeletionState is how far the deletion of a range has come. The zero value is none.
type DeletionState uint8

// The states of a range deletion, in their order.
const (
	DeletionPending DeletionState = iota + 1 // it waits for the decision
	DeletionReady                            // it may begin
	DeletionProcessing
	DeletionDone
	DeletionDropped // nothing is to be deleted: the shard keeps the range, or has no collection
)

var deletionStates = []string{"", "pending", "ready", "processing", "done", "dropped"}

// String is the state's name, empty for none.
func (s DeletionState) String() string { return nameOf(deletionStates, s) }

// ParseDeletionState is the inverse of String.
func ParseDeletionState(s string) (DeletionState, bool) {
	return parseName[DeletionState](deletionStates, s)
}

// Terminal says whether nothing is left to be deleted.
func (s DeletionState) Terminal() bool { return s >= DeletionDone }

// PrimaryMovePhase is how far a movePrimary has come. The zero value is none.
type PrimaryMovePhase uint8

// The phases of a movePrimary, in their order.
const (
	PrimaryCloning PrimaryMovePhase = iota + 1
	PrimaryCatchUp
	PrimaryEnterCritSec
	PrimaryCommit
	PrimaryExitCritSec
	PrimaryCleaning
	PrimaryDone
	PrimaryAborted
)

var primaryMovePhases = []string{
	"", "clone", "catchup", "enterCriticalSection", "commit", "exitCriticalSection",
	"clean", "done",
	"aborted",
}

// String is the phase's name as it is on record, empty for none.
func (p PrimaryMovePhase) String() string { return nameOf(primaryMovePhases, p) }

// ParsePrimaryMovePhase is the inverse of String.
func ParsePrimaryMovePhase(s string) (PrimaryMovePhase, bool) {
	return parseName[PrimaryMovePhase](primaryMovePhases, s)
}

// CommitWindow says whether writes are blocked and the outcome is open.
func (p PrimaryMovePhase) CommitWindow() bool { return p >= PrimaryCatchUp && p <= PrimaryCommit }

// Terminal says whether the move has ended, with success or without.
func (p PrimaryMovePhase) Terminal() bool { return p == PrimaryDone || p == PrimaryAborted }

// CursorState is what answers tell of a cursor. The zero value is none.
type CursorState uint8

// The states.
const (
	CursorLives  CursorState = iota + 1 // there is another batch to be asked for
	CursorEnds                          // the query was exhausted, or failed
	CursorKilled                        // the client wants no more of it
	CursorLost                          // the client, which wants more, is told that it is gone
)

var cursorStates = []string{"", "lives", "ends", "killed", "lost"}

// String is the state's name, empty for none.
func (s CursorState) String() string { return nameOf(cursorStates, s) }

// ParseCursorState is the inverse of String.
func ParseCursorState(s string) (CursorState, bool) {
	return parseName[CursorState](cursorStates, s)
}
