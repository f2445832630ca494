package migrationmodel

// actions42 are the actions of 4.2, in which nothing of a migration is on record but a count: what
// a donor that ends has not done, nobody does (protocol 4).
func actions42() []action {
	var all []action
	for _, of := range [][]action{
		donorSteps42(), afterCommit42(), configSteps42(), recipientSteps42(), failovers42(),
		pastDonor(inside("a deposed donor asks the config server to commit",
			func(s *State) { s.Sent = true }, donorIs(Completed), notLed)),
	} {
		all = append(all, of...)
	}
	return all
}

func donorSteps42() []action {
	return []action{
		does(DonorBegins, enters(Created), donorIs(NoDonor)),
		does(DonorClones, (*State).takePlacement, donorIs(Created), led),
		does(DonorClonesStale, (*State).takePlacement, donorIs(Created), led),
		does(DonorCaughtUp, enters(CaughtUp), donorIs(Cloning), led, recipientBegan),
		does(DonorBlocksWrites, func(s *State) { s.Section = Writes }, donorIs(CaughtUp), led),
		does(DonorEntersSection, func(s *State) { s.Donor, s.Asked = Blocking, true },
			donorIs(CaughtUp), led, writesBlocked),
		does(DonorCompletes, enters(Completed), donorIs(Blocking), led, answered),
		does(DonorBlocksReads, func(s *State) { s.Section = Reads }, donorIs(Completed), led),
		inside("the donor asks the config server to commit", func(s *State) { s.Sent = true },
			donorIs(Completed), led, readsBlocked),
	}
}

// afterCommit42 is what the donor makes of the answer: it goes by what it reads after a write of
// its own on the config server, and then unblocks (protocol 4 steps 10 to 12).
func afterCommit42() []action {
	return []action{
		does(DonorLearnsItOwns, func(s *State) { s.Owns = true }, condition{
			func(s *State) bool { return s.Config != Committed || s.Section != Open },
			"the config server has committed, and nothing is blocked",
		}),
		does(DonorLearnsItLost, func(s *State) { s.Owns = false }),
		does(DonorLeavesSection, func(s *State) { s.Section = Open },
			led, writesBlocked, ownsOrLost),
		does(DonorEnds, enters(DonorOver), condition{
			func(s *State) bool { return s.Donor != NoDonor && s.Donor != DonorOver },
			"the donor is not at work",
		}, led, nothingBlocked),
		does(MigrationEndsCommitted, nothing, donorIs(DonorOver), commitSure),
		does(MigrationEndsAborted, nothing, donorIs(DonorOver), commitNotSure),
		does(MigrationEndsAborted, nothing, donorIs(DonorOver), condition{
			func(s *State) bool { return s.Sent },
			"no commit was on its way, which may come late (H-21)",
		}, nothingBlocked),
		does(DonorReadiesDeletion, func(s *State) { s.Task = TaskReady },
			donorIs(DonorOver), led, commitSure, taskIs(NoTask)),
		does(DonorBeginsDeletion, func(s *State) { s.Task = Processing }, taskIs(TaskReady)),
		does(DonorBeginsDeletion, nothing, taskIs(Processing)), // after an interruption
		does(DonorFinishesDeletion, func(s *State) { s.Task = Gone }, taskIs(Processing)),
	}
}

// ownsOrLost: a donor unblocks only after it has read what the config server has.
var ownsOrLost = condition{
	func(s *State) bool { return !s.Owns || !s.Sent || s.Config != Committed },
	"the config server has committed, and the donor still believes to own the range",
}

func configSteps42() []action {
	return []action{
		does(ConfigCommits, func(s *State) { s.Config, s.Sure = Committed, false },
			commitSent, outcomeOpen, condition{func(*State) bool { return true }, late}),
		does(ConfigSure, func(s *State) { s.Sure = true }, outcomeWritten),
		// Neither a split nor a merge is final: nothing fences a commit (H-21).
		does(ConfigRefuses, nothing),
		does(ConfigSure, nothing, outcomeOpen),
	}
}

// late names the place where a commit is required to be in time, when it is.
const late = "the donor does not wait for the commit any more"

// inTime is what 4.2 relies on and nothing ensures: the commit arrives while the donor waits for
// it.
var inTime = condition{func(s *State) bool { return s.Led && s.Section == Reads }, late}

// recipientSteps42: a recipient has nothing on record, and blocks nothing.
func recipientSteps42() []action {
	return []action{
		does(RecipientBegins, func(s *State) { s.Recipient, s.Began = Ready, true },
			placementTaken, recipientIdle),
		does(RecipientClones, becomes(Copying), recipientIs(Ready)),
		does(RecipientCatchesUp, becomes(CatchingUp), recipientIs(Copying)),
		does(RecipientSteady, becomes(Steady), recipientIs(CatchingUp)),
		does(RecipientCommitStarts, becomes(CommitStart), recipientIs(Steady), askedToTakeOver),
		does(RecipientEnds, func(s *State) { s.Recipient, s.Answered = RecipientDone, true },
			recipientIs(CommitStart)),
		does(PastRecipientBegins, func(s *State) { s.Began = true }, placementTaken),
		does(PastRecipientEnters, func(s *State) { s.Answered = true },
			askedToTakeOver, recipientBegan),
		does(RecipientFails, becomes(Failed), notEntered),
		does(RecipientLearnsItOwns, func(s *State) { s.TheyOwn = true }, commitSure),
		does(RecipientLearnsItDoesNot, func(s *State) { s.TheyOwn = false }),
	}
}

// failovers42: all that was in memory is gone, deletions included.
func failovers42() []action {
	return []action{
		does(DonorFailsOver, func(s *State) {
			s.donorForgets(false)
			s.Task = NoTask
		}),
		does(RecipientFailsOver, func(s *State) { s.recipientForgets(false) }),
		does(ConfigFailsOver, nothing),
		does(ConfigFailsOver, func(s *State) { s.Config = OutcomeOpen }, condition{
			func(s *State) bool { return !s.Sure }, "a majority has it",
		}),
	}
}
