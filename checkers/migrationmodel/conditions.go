package migrationmodel

import "fmt"

// The conditions, in the words of the protocol. Each sentence says what is the case when the
// condition does not hold.

func donorIs(d Donor) condition {
	was := "the donor had not begun"
	if d != NoDonor {
		was = fmt.Sprintf("the donor is not in state %s of the step before", donors[d])
	}
	return condition{func(s *State) bool { return s.Donor == d }, was}
}

func recipientIs(r Recipient) condition {
	return condition{
		func(s *State) bool { return s.Recipient == r },
		fmt.Sprintf("the recipient is not in state %s of the step before", recipients[r]),
	}
}

func taskIs(t Task) condition {
	return condition{
		func(s *State) bool { return s.Task == t },
		fmt.Sprintf("the donor's task is not in the state before (%s)", tasks[t]),
	}
}

func theirTaskIs(t Task) condition {
	return condition{
		func(s *State) bool { return s.TheirTask == t },
		fmt.Sprintf("the recipient's task is not in the state before (%s)", tasks[t]),
	}
}

func recordIs(r Record) condition {
	return condition{
		func(s *State) bool { return s.Record == r },
		fmt.Sprintf("the donor's coordinator document is not %q", records[r]),
	}
}

var (
	led = condition{
		func(s *State) bool { return s.Led },
		"the term in which the donor began is over",
	}
	notLed = condition{
		func(s *State) bool { return !s.Led && s.Donor != NoDonor },
		"the donor's first term goes on",
	}
	taskRecorded = condition{
		func(s *State) bool { return s.Task != NoTask },
		"the donor has no range deletion on record",
	}
	recipientBegan = condition{
		func(s *State) bool { return s.Began },
		"the recipient never began",
	}
	// askedToTakeOver: the donor blocks writes before it asks (protocol 5.1 S5).
	askedToTakeOver = condition{
		func(s *State) bool { return s.Asked },
		"the donor has not blocked writes, and so has not asked the recipient to take over",
	}
	answered = condition{
		func(s *State) bool { return s.Answered },
		"the recipient has not answered that it has everything",
	}
	placementTaken = condition{
		func(s *State) bool { return s.Donor >= Cloning || !s.Led },
		"the donor has not looked yet which chunk it moves",
	}
	placementNotTaken = condition{
		func(s *State) bool { return s.Donor < Cloning },
		"the donor has looked which chunk it moves",
	}
	// heldForGood: what a deposed recipient may say is what a majority has (protocol 5.2 step 7).
	heldForGood = condition{
		func(s *State) bool {
			past := s.Resumed || s.Recipient == NoRecipient
			return s.Answered || past && s.Receipt && s.Blocks && !s.Reblocked
		},
		"no majority of the recipient has its receipt and its critical section",
	}
	commitSent = condition{
		func(s *State) bool { return s.Sent },
		"the donor has not asked the config server to commit",
	}
	notFenced = condition{
		func(s *State) bool { return !s.Fenced },
		"the recipient refuses by now what was sent for this migration",
	}
	outcomeOpen = condition{
		func(s *State) bool { return s.Config == OutcomeOpen },
		"the config server has committed it before, or refuses it",
	}
	outcomeWritten = condition{
		func(s *State) bool { return s.Config != OutcomeOpen },
		"the config server has written no outcome",
	}
	commitSure = condition{
		func(s *State) bool { return s.Config == Committed && s.Sure },
		"no majority of the config server has the commit",
	}
	commitNotSure = condition{
		func(s *State) bool { return s.Config != Committed || !s.Sure },
		"a majority of the config server has the commit",
	}
	commitImpossible = condition{
		func(s *State) bool { return impossible(s) },
		"the commit may still be carried out: it was sent, and nothing on the config server " +
			"keeps it out",
	}
	gaveUp = condition{
		func(s *State) bool { return s.Donor == DonorOver || !s.Led },
		"the donor has not given up",
	}
	outcomeFinal = condition{
		func(s *State) bool { return s.Config == Committed && s.Sure || impossible(s) },
		"the outcome is not final: the config server may still commit",
	}
	decided = condition{
		func(s *State) bool {
			return s.Record == RecordCommitted || s.Record == RecordAborted
		},
		"no decision is on record",
	}
	writesBlocked = condition{
		func(s *State) bool { return s.Section != Open },
		"the donor does not block writes",
	}
	readsBlocked = condition{
		func(s *State) bool { return s.Section == Reads },
		"the donor does not block reads",
	}
	nothingBlocked = condition{
		func(s *State) bool { return s.Section == Open },
		"the donor still blocks",
	}
	// doesNotServeInDoubt: once the commit was sent, the donor stops believing that it owns the
	// range before it unblocks (protocol 5.1 S6).
	doesNotServeInDoubt = condition{
		func(s *State) bool { return !s.Sent || !s.Owns },
		"the commit was sent, and the donor still believes to own the range",
	}
	donorServes = condition{
		func(s *State) bool { return serves(s) },
		"the donor blocks writes, does not know that it owns the range, or has to find out first " +
			"what became of the migration",
	}
	mayRefresh = condition{
		func(s *State) bool { return s.Section != Open || !recovers(s) },
		"the donor has to find out first what became of the migration",
	}
	recipientServes = condition{
		func(s *State) bool { return s.TheyOwn && !s.Blocks },
		"the recipient blocks writes, or does not know that it owns the range",
	}
	theyBlock = condition{
		func(s *State) bool { return s.Blocks },
		"the recipient does not block writes",
	}
	theyDoNotBlock = condition{
		func(s *State) bool { return !s.Blocks },
		"the recipient blocks writes",
	}
	receiptWritten = condition{
		func(s *State) bool { return s.Receipt },
		"the recipient has no recovery document",
	}
	receiptGone = condition{
		func(s *State) bool { return !s.Receipt },
		"the recipient's recovery document is still there",
	}
	released = condition{
		func(s *State) bool { return idle(s) && !s.Blocks && !s.Receipt },
		"the recipient still holds its critical section, or is still at work",
	}
	// A request that comes late may make the recipient begin once more after it was released. It
	// gets no further than copying, since its donor is over; or has everything, if the donor was
	// deposed and did not know yet.
	releasedOnce = condition{
		func(s *State) bool {
			once := s.Recipient <= Copying || !s.Led && s.Recipient <= Steady
			return (idle(s) || once) && !s.Blocks && !s.Receipt
		},
		"the recipient still holds its critical section, or is still at work",
	}
	// To fence is to use the session of the migration, which a recipient at work has in hand.
	sessionFree = condition{
		func(s *State) bool { return idle(s) || s.Recipient == Ready && s.TheirTask == NoTask },
		"the recipient has the session of the migration in hand",
	}
	fenced = condition{
		func(s *State) bool { return s.Fenced },
		"the recipient does not refuse yet what was sent for this migration",
	}
	notEntered = condition{
		func(s *State) bool {
			return s.Recipient != NoRecipient && s.Recipient < Entered
		},
		"a recipient that has entered its critical section leaves it only when it is released",
	}
	notResumed = condition{
		func(s *State) bool { return !s.Resumed },
		"the recipient holds what an earlier primary has promised, until it is released",
	}
	recipientIdle = condition{
		func(s *State) bool { return idle(s) && !s.Receipt },
		"the recipient is at work on this migration already",
	}
	theirTaskSettled = condition{
		func(s *State) bool { return s.TheirTask != Pending },
		"the recipient's range deletion is still pending",
	}
	taskNotPending = condition{
		func(s *State) bool { return s.Task != Pending },
		"the donor's range deletion is still pending",
	}
	taskDropped = condition{
		func(s *State) bool { return s.Task == NoTask || s.Task == Gone },
		"the donor's range deletion is still on record",
	}
	// A primary that is deposed after it has dropped its deletion goes on, although the next one
	// has to drop it again.
	taskDroppedOnce = condition{
		func(s *State) bool { return taskDropped.holds(s) || s.PastAborts },
		taskDropped.unless,
	}
	theirTaskDropped = condition{
		func(s *State) bool { return s.TheirTask == NoTask || s.TheirTask == Gone },
		"the recipient's range deletion, by which it would delete what it owns, is still on record",
	}
)

// impossible: nothing can carry the commit out any more. It was never sent, by a process that sends
// nothing any more; or a majority of the config server has what makes it refuse (protocol 9.2).
func impossible(s *State) bool {
	return s.Donor == DonorOver && !s.Sent || s.Config == Refused && s.Sure
}

// idle: no process of the recipient is at work.
func idle(s *State) bool {
	return s.Recipient == NoRecipient || s.Recipient == RecipientDone || s.Recipient == Failed
}

// serves: the donor's primary would carry a client's write out. With a record of an earlier term,
// or of a commit that was sent, what became of the migration comes first (protocol 5.1 S6, 9.2).
func serves(s *State) bool { return s.Owns && s.Section == Open && !recovers(s) }

func recovers(s *State) bool {
	return s.Record != NoRecord && s.Record != Forgotten && (!s.Led || s.Sent)
}
