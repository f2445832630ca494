package migrationmodel

// actions80 are the actions of 8.0.
func actions80() []action {
	var all []action
	for _, of := range [][]action{
		donorSteps(), donorKnowledge(), donorDecision(), donorDeletion(),
		pastDonor(past(Completed, Committing, func(s *State) { s.Sent = true }), taskRecorded),
		configSteps(), recipientSteps(), recipientLeaving(), recipientKnowledge(),
		recipientDeletion(), failovers(),
	} {
		all = append(all, of...)
	}
	return all
}

func enters(d Donor) func(*State) { return func(s *State) { s.Donor = d } }

func (s *State) takePlacement() { s.Donor, s.Owns = Cloning, true }

// donorSteps are the donor's steps up to the commit (protocol 5.1).
func donorSteps() []action {
	return []action{
		does(DonorBegins, enters(Created), donorIs(NoDonor)),
		// Capture begins at the instant at which the donor knows the placement.
		does(DonorClones, (*State).takePlacement, donorIs(Created), led),
		// The placement that it knows may be an older one than the config server has: then the
		// commit will be refused (protocol 3.3).
		does(DonorClonesStale, func(s *State) {
			s.takePlacement()
			s.Config = Refused
		}, donorIs(Created), led, outcomeOpen),
		does(DonorClonesStale, func(s *State) {
			s.takePlacement()
			s.Config, s.Sure = Refused, true
		}, donorIs(Created), led, outcomeOpen),
		inside("the donor writes its coordinator document", func(s *State) { s.Record = Undecided },
			donorIs(Cloning), led, recordIs(NoRecord)),
		does(DonorPromisesDeletion, func(s *State) { s.Task = Pending },
			donorIs(Cloning), led, recordIs(Undecided), taskIs(NoTask)),
		does(DonorCaughtUp, enters(CaughtUp), donorIs(Cloning), led, taskRecorded, recipientBegan),
		does(DonorBlocksWrites, func(s *State) { s.Section = Writes }, donorIs(CaughtUp), led),
		does(DonorEntersSection, func(s *State) { s.Donor, s.Asked = Blocking, true },
			donorIs(CaughtUp), led, writesBlocked),
		does(DonorCompletes, enters(Completed), donorIs(Blocking), led, answered),
		does(DonorBlocksReads, func(s *State) { s.Section = Reads }, donorIs(Completed), led),
		does(DonorSendsCommit, func(s *State) { s.Donor, s.Sent = Committing, true },
			donorIs(Completed), led, readsBlocked),
		does(DonorLeavesSection, func(s *State) { s.Section = Open },
			led, writesBlocked, doesNotServeInDoubt),
		does(DonorEnds, enters(DonorOver), condition{
			func(s *State) bool { return s.Donor != NoDonor && s.Donor != DonorOver },
			"the donor is not at work",
		}, led, nothingBlocked, doesNotServeInDoubt),
	}
}

// pastDonor is what a donor may do that does not know yet that it is deposed: it cannot write, and
// what is after the commit needs a write. commit is how it asks for that.
func pastDonor(commit action, begins ...condition) []action {
	return []action{
		past(Created, Cloning, nothing),
		past(Cloning, CaughtUp, nothing, append(begins, recipientBegan)...),
		past(CaughtUp, Blocking, func(s *State) { s.Asked = true }),
		past(Blocking, Completed, nothing, answered),
		commit,
		inside("a deposed donor learns that its term is over", enters(DonorOver), notLed,
			condition{func(s *State) bool { return s.Donor != DonorOver }, "it knows"}),
	}
}

// past is a step of a deposed donor.
func past(from, to Donor, then func(*State), more ...condition) action {
	return does(PastDonorAdvances, func(s *State) {
		s.Donor = to
		then(s)
	}, append(more, donorIs(from), notLed)...)
}

// donorKnowledge is what the donor's primary learns of who owns the range. It reads what a majority
// of the config server has (protocol 3.4).
func donorKnowledge() []action {
	return []action{
		does(DonorLearnsItOwns, func(s *State) { s.Owns = true }, commitNotSure, mayRefresh),
		// What was read before the commit may arrive after it; a shard that blocks serves nobody.
		does(DonorLearnsItOwns, func(s *State) { s.Owns = true }, writesBlocked),
		does(DonorLearnsItLost, func(s *State) { s.Owns = false }),
		does(DonorServes, nothing, donorServes),
	}
}

// donorDecision is the decision and what follows from it, in this order (protocol 9.1).
func donorDecision() []action {
	return []action{
		inside("the donor records: committed", func(s *State) { s.Record = RecordCommitted },
			recordIs(Undecided), commitSure),
		inside("the donor records: aborted", func(s *State) { s.Record = RecordAborted },
			recordIs(Undecided), gaveUp, commitImpossible),
		does(DonorDecidesCommitted, nothing, recordIs(RecordCommitted)),
		does(DonorDecidesAborted, nothing, recordIs(RecordAborted)),
		// A migration that failed while its record was being written is aborted without one.
		does(DonorDecidesAborted, nothing, recordIs(NoRecord), donorIs(DonorOver)),
		inside("the donor fences the recipient", func(s *State) { s.Fenced = true },
			notFenced, recordIs(RecordCommitted), released),
		inside("the donor fences the recipient", func(s *State) { s.Fenced = true },
			notFenced, recordIs(RecordAborted), releasedOnce, sessionFree, taskDroppedOnce),
		inside("the donor removes its record", func(s *State) { s.Record = Forgotten },
			recordIs(RecordCommitted), fenced, theirTaskDropped, taskNotPending),
		inside("the donor removes its record", func(s *State) { s.Record = Forgotten },
			recordIs(RecordAborted), fenced, theirTaskSettled, taskDropped),
		does(MigrationEndsCommitted, nothing, recordIs(Forgotten), commitSure),
		does(MigrationEndsAborted, nothing, recordIs(Forgotten), commitImpossible),
		does(MigrationEndsAborted, nothing, recordIs(NoRecord), donorIs(DonorOver)),
	}
}

// donorDeletion is the donor's range deletion (protocol 9.1, 10.3).
func donorDeletion() []action {
	return []action{
		does(DonorReadiesDeletion, func(s *State) { s.Task = TaskReady },
			recordIs(RecordCommitted), fenced, theirTaskDropped, taskIs(Pending)),
		does(DonorDropsDeletion, func(s *State) { s.Task, s.PastAborts = Gone, false },
			recordIs(RecordAborted), releasedOnce, taskIs(Pending)),
		does(DonorBeginsDeletion, func(s *State) { s.Task = Processing }, taskIs(TaskReady)),
		does(DonorFinishesDeletion, func(s *State) { s.Task = Gone }, taskIs(Processing)),
	}
}

// configSteps are those of the config server (protocol 3.3, 9.2).
func configSteps() []action {
	return []action{
		does(ConfigCommits, func(s *State) { s.Config, s.Sure = Committed, false },
			commitSent, outcomeOpen),
		does(ConfigRefuses, func(s *State) { s.Config, s.Sure = Refused, false },
			outcomeOpen, placementTaken),
		// A chunk that has moved or is refused may be split, merged or raised again.
		does(ConfigRefuses, nothing, outcomeWritten),
		// What is written before the donor looks is part of what it finds.
		does(ConfigRefuses, nothing, placementNotTaken),
		does(ConfigSure, nothing, placementNotTaken),
		does(ConfigSure, func(s *State) { s.Sure = true }, outcomeWritten),
	}
}
