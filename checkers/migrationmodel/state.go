// Package migrationmodel is the migration of one range as an abstract state machine: the donor, the
// recipient and the config server, what each has on record and what each believes, with the ways in
// which messages and primaries are lost (protocol 4, 5, 8 to 10). Documents, versions and time are
// left out. An action is one line of the protocol: when it may be taken and what it changes.
//
//	g := migrationmodel.New(migrationmodel.V80).Explore()     // every state that can be reached
//	f := migrationmodel.New(migrationmodel.V80).Follow()      // what is consistent with a run
//	refused := f.Take(migrationmodel.DonorSendsCommit)
//
// Promise: Explore visits every state. What was sent may arrive at any time later, more than once
// or never: an action that a message causes needs only that the message was sent. A failover may
// undo what its set was not waited for to have by majority, and nothing else.
//
// Refusal: a step that the model does not allow is a proof against either of them, the run or the
// model; to allow more than the protocol does is the cheaper mistake, and where it is made a
// comment says so. A collection that is dropped or renamed, and a range that moves on, are not
// modelled.
package migrationmodel

import (
	"fmt"
	"strings"
)

// Protocol is the version of the protocol.
type Protocol uint8

// The protocols.
const (
	V80 Protocol = iota
	V42
)

// State is a state of one migration. It is comparable.
type State struct {
	// Donor is how far the process of the donor has come; it lives in the term in which it began.
	// Led is true while that term lasts: afterwards the process may still send what it was about
	// to.
	Donor Donor
	Led   bool
	// Section is what the donor's primary blocks, Owns that it believes to own the range.
	Section Section
	Owns    bool
	// Record is the coordinator document, Task the donor's range deletion (protocol 2.2).
	Record Record
	Task   Task
	// PastAborts: a primary of a past term has the decision to abort on record, and may go on with
	// what follows from it, with its deletion dropped in a log that nobody else has.
	PastAborts bool

	// Asked: the recipient was asked to take over (_recvChunkCommit). Sent: the config server was
	// asked to commit.
	Asked, Sent bool
	// Config is what the config server's primary has written, Sure that a majority has it.
	Config Outcome
	Sure   bool

	// Recipient is how far the process of the recipient has come, in the present term. Resumed: it
	// holds what an earlier primary had on record.
	Recipient Recipient
	Resumed   bool
	// Receipt is its recovery document, Blocks its critical section, TheirTask its range deletion.
	// Reblocked: it blocked again what an earlier primary had unblocked, and not with a majority.
	Receipt, Blocks, Reblocked bool
	TheirTask                  Task
	// TheyOwn is that the recipient's primary believes to own the range.
	TheyOwn bool
	// Began: it was once ready. Answered: it said once that it has everything. Fenced: its primary
	// refuses what was sent for this migration.
	Began, Answered, Fenced bool
}

// Donor is a state of the donor's process (protocol 5.1).
type Donor uint8

// The states of a donor.
const (
	NoDonor Donor = iota
	Created
	Cloning
	CaughtUp
	Blocking
	Completed
	Committing
	DonorOver
)

// Recipient is a state of the recipient's process (protocol 5.2).
type Recipient uint8

// The states of a recipient.
const (
	NoRecipient Recipient = iota
	Ready
	Copying
	CatchingUp
	Steady
	CommitStart
	Entered
	Leaving
	RecipientDone
	Unwinding // failed, with a recovery document that is to be removed first
	Failed
)

// Section is what a critical section blocks.
type Section uint8

// The sections.
const (
	Open Section = iota
	Writes
	Reads
)

// Record is what the coordinator document says.
type Record uint8

// The records, in the order in which they are written; a decision is one of two.
const (
	NoRecord Record = iota
	Undecided
	RecordCommitted
	RecordAborted
	Forgotten
)

// Task is a range deletion on record.
type Task uint8

// The tasks, in their order.
const (
	NoTask Task = iota
	Pending
	TaskReady
	Processing
	Gone
)

// Outcome is what the config server makes of a migration. Refused: the chunk has a newer version
// than the commit names, or migrations are forbidden.
type Outcome uint8

// The outcomes.
const (
	OutcomeOpen Outcome = iota
	Committed
	Refused
)

var (
	donors = []string{
		"", "kCreated", "kCloning", "kCloneCaughtUp", "kCriticalSection", "kCloneCompleted",
		"kCommittingOnConfig", "kDone",
	}
	recipients = []string{
		"", "kReady", "kClone", "kCatchup", "kSteady", "kCommitStart", "kEnteredCritSec",
		"kExitCritSec", "kDone", "failed, unwinding", "failed",
	}
	sections = []string{"", "blocks writes", "blocks reads and writes"}
	records  = []string{
		"", "undecided on record", "committed on record", "aborted on record", "record removed",
	}
	tasks    = []string{"", "deletion pending", "deletion ready", "deletion begun", "deletion gone"}
	outcomes = []string{"undecided", "committed", "refuses the commit"}
)

// String describes the state in the words of the protocol: donor; config server; recipient.
func (s State) String() string {
	return "donor " + list("nothing", donors[s.Donor],
		word(s.Donor > 0 && !s.Led, "of a past term"), sections[s.Section],
		word(s.Owns, "believes to own"), records[s.Record], tasks[s.Task]) +
		"; config server " + list("", outcomes[s.Config],
		word(s.Config != OutcomeOpen && !s.Sure, "not with a majority")) +
		"; recipient " + list("nothing", recipients[s.Recipient], word(s.Resumed, "resumed"),
		word(s.Receipt, "receipt"), word(s.Blocks, "blocks writes"),
		word(s.TheyOwn, "believes to own"), tasks[s.TheirTask], word(s.Fenced, "fenced"))
}

func word(on bool, w string) string {
	if on {
		return w
	}
	return ""
}

// list joins the words that are there.
func list(none string, words ...string) string {
	var there []string
	for _, w := range words {
		if w != "" {
			there = append(there, w)
		}
	}
	if len(there) == 0 {
		return none
	}
	return strings.Join(there, ", ")
}

// String is the protocol's version.
func (p Protocol) String() string { return fmt.Sprint([]string{"8.0", "4.2"}[p]) }
