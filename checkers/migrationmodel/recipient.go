package migrationmodel

func becomes(r Recipient) func(*State) { return func(s *State) { s.Recipient = r } }

// recipientSteps are the recipient's steps up to its critical section (protocol 5.2).
func recipientSteps() []action {
	return []action{
		does(RecipientBegins, func(s *State) {
			s.Recipient, s.Resumed, s.Began = Ready, false, true
		}, taskRecorded, notFenced, recipientIdle),
		does(RecipientPromisesDeletion, func(s *State) { s.TheirTask = Pending },
			recipientIs(Ready), notFenced, theirTaskIs(NoTask)),
		does(RecipientClones, becomes(Copying), recipientIs(Ready), theirTaskIs(Pending)),
		does(RecipientCatchesUp, becomes(CatchingUp), recipientIs(Copying)),
		does(RecipientSteady, becomes(Steady), recipientIs(CatchingUp)),
		does(RecipientCommitStarts, becomes(CommitStart), recipientIs(Steady), askedToTakeOver),
		inside("the recipient writes its recovery document", func(s *State) { s.Receipt = true },
			recipientIs(CommitStart), receiptGone, notFenced),
		does(RecipientBlocks, func(s *State) {
			s.Reblocked = s.Reblocked || s.Resumed && !s.Blocks
			s.Blocks = true
		}, recipientIs(CommitStart), receiptWritten),
		does(RecipientBlocks, nothing, theyBlock), // a new primary blocks from the beginning
		does(RecipientEnters, func(s *State) {
			s.Recipient, s.Answered, s.Reblocked = Entered, true, false
		}, recipientIs(CommitStart), theyBlock),
		does(PastRecipientBegins, func(s *State) { s.Began = true }, taskRecorded, notFenced),
		does(PastRecipientEnters, func(s *State) { s.Answered = true }, heldForGood),
		does(RecipientFails, becomes(Failed), notEntered, notResumed, receiptGone),
		does(RecipientFails, becomes(Unwinding), notEntered, notResumed, receiptWritten),
	}
}

// recipientLeaving is how its critical section ends: released when the outcome is final, or after a
// failure on the way into it (protocol 5.2 step 8, 9.4).
func recipientLeaving() []action {
	return []action{
		does(RecipientLeaves, becomes(Leaving), recipientIs(Entered), outcomeFinal),
		does(RecipientUnblocks, func(s *State) { s.Blocks = false },
			recipientIs(Leaving), theyBlock),
		does(RecipientUnblocks, func(s *State) { s.Blocks = false },
			recipientIs(Unwinding), theyBlock),
		inside("the recipient removes its recovery document", func(s *State) { s.Receipt = false },
			recipientIs(Leaving), theyDoNotBlock, receiptWritten),
		inside("the recipient removes its recovery document", func(s *State) { s.Receipt = false },
			recipientIs(Unwinding), theyDoNotBlock, receiptWritten),
		inside("the recipient has unwound", becomes(Failed), recipientIs(Unwinding), receiptGone),
		does(RecipientEnds, becomes(RecipientDone), recipientIs(Leaving), receiptGone),
		// A new primary takes over what is on record (protocol 9.4).
		does(RecipientCommitStarts, func(s *State) { s.Recipient, s.Resumed = CommitStart, true },
			recipientIs(NoRecipient), receiptWritten),
	}
}

// recipientKnowledge is what its primary learns of who owns the range.
func recipientKnowledge() []action {
	return []action{
		does(RecipientLearnsItOwns, func(s *State) { s.TheyOwn = true }, commitSure),
		does(RecipientLearnsItDoesNot, func(s *State) { s.TheyOwn = false }),
		does(RecipientServes, nothing, recipientServes, commitSure),
	}
}

// recipientDeletion is the recipient's range deletion: the donor drops it after a commit and
// readies it after an abort (protocol 9.1).
func recipientDeletion() []action {
	return []action{
		does(RecipientDropsDeletion, func(s *State) { s.TheirTask = Gone },
			theirTaskIs(Pending), recordIs(RecordCommitted), fenced),
		does(RecipientReadiesDeletion, func(s *State) { s.TheirTask = TaskReady },
			theirTaskIs(Pending), recordIs(RecordAborted), fenced, taskDroppedOnce),
		does(RecipientBeginsDeletion, func(s *State) { s.TheirTask = Processing },
			theirTaskIs(TaskReady)),
		does(RecipientFinishesDeletion, func(s *State) { s.TheirTask = Gone },
			theirTaskIs(Processing)),
	}
}
