package migrationmodel

// failovers are what new primaries begin with: nothing in memory, and all of the log or, for each
// place at which it may break, what comes before.
func failovers() []action {
	all := []action{
		does(DonorFailsOver, func(s *State) { s.donorForgets(false) }),
		// With a record, what a secondary knew is cleared before anything is served (protocol 9.2).
		does(DonorFailsOver, func(s *State) { s.donorForgets(true) }, commitNotSure, condition{
			func(s *State) bool { return s.Record == NoRecord || s.Record == Forgotten },
			"there is a record",
		}),
		does(RecipientFailsOver, func(s *State) { s.recipientForgets(false) }),
		does(RecipientFailsOver, func(s *State) { s.recipientForgets(true) }, commitSure),
		does(ConfigFailsOver, nothing),
		does(ConfigFailsOver, func(s *State) { s.Config = OutcomeOpen }, condition{
			func(s *State) bool { return !s.Sure }, "a majority has it",
		}),
	}
	for _, u := range undone() {
		all = append(all, losing(u, DonorFailsOver, func(s *State) { s.donorForgets(false) }))
	}
	for _, u := range undoneThere() {
		all = append(all,
			losing(u, RecipientFailsOver, func(s *State) { s.recipientForgets(false) }))
	}
	return all
}

// donorForgets is the end of a term of the donor. owns is what the new primary believes.
func (s *State) donorForgets(owns bool) {
	s.Led, s.Section, s.Owns = false, Open, owns
	s.PastAborts = s.PastAborts || s.Record == RecordAborted && s.Task == Pending
}

// recipientForgets is the end of a term of the recipient.
func (s *State) recipientForgets(owns bool) {
	s.Recipient, s.TheyOwn = NoRecipient, owns
	s.Resumed, s.Reblocked = false, false
}

// losing is a failover to a primary that lacks writes.
func losing(u loss, step Step, then func(*State)) action {
	return does(step, func(s *State) {
		u.undo(s)
		then(s)
	}, condition{u.may, "nobody lost anything"})
}

// loss is what a failover may undo: writes whose majority nobody has waited for.
type loss struct {
	may  func(*State) bool
	undo func(*State)
}

// undone are the losses of the donor: the tail of its log, in one of the places where it can break.
// Nobody waits for a majority when a record is removed and when a task is readied, dropped, begun
// or finished (protocol 9.1, 10.3).
func undone() []loss {
	return []loss{
		{func(s *State) bool { return s.Record == Undecided && s.Task == NoTask },
			func(s *State) { s.Record = NoRecord }},
		{func(s *State) bool { return s.Task == Pending && s.Record == Undecided && !s.Began },
			func(s *State) { s.Task = NoTask }},
		// Who has waited for the decision's majority does not lose it, and nobody goes on before.
		{func(s *State) bool { return isDecided(s) && s.Task == Pending && !s.Fenced },
			func(s *State) { s.Record, s.PastAborts = Undecided, false }},
		{func(s *State) bool { return s.Record == Forgotten }, (*State).remember},
		{func(s *State) bool { return s.Task > Pending && (isDecided(s) || s.Record == Forgotten) },
			func(s *State) {
				s.remember()
				s.Task = Pending
			}},
		{func(s *State) bool { return s.Task == Processing },
			func(s *State) { s.Task = TaskReady }},
		{func(s *State) bool { return s.Task == Processing && s.Record == Forgotten },
			func(s *State) {
				s.remember()
				s.Task = TaskReady
			}},
		{func(s *State) bool { return s.Task == Gone && s.Config == Committed },
			func(s *State) { s.Task = Processing }},
		{
			func(s *State) bool {
				return s.Task == Gone && s.Config == Committed && s.Record == Forgotten
			},
			func(s *State) {
				s.remember()
				s.Task = Processing
			},
		},
	}
}

func isDecided(s *State) bool { return s.Record == RecordCommitted || s.Record == RecordAborted }

// remember takes back that the record was removed.
func (s *State) remember() {
	if s.Record != Forgotten {
		return
	}
	s.Record = RecordAborted
	if s.Config == Committed {
		s.Record = RecordCommitted
	}
}

// undoneThere are the losses of the recipient.
func undoneThere() []loss {
	return []loss{
		{
			func(s *State) bool {
				return (s.Recipient == Ready || s.Recipient == Failed) && s.TheirTask == Pending
			},
			func(s *State) { s.TheirTask = NoTask },
		},
		{func(s *State) bool { return s.Recipient == CommitStart && !s.Resumed && s.Receipt },
			func(s *State) { s.Receipt, s.Blocks = false, false }},
		{func(s *State) bool { return s.Recipient == CommitStart && !s.Resumed && s.Blocks },
			func(s *State) { s.Blocks = false }},
		// The removal of its receipt was undone, and then the section that followed from it was.
		{func(s *State) bool { return s.Reblocked }, func(s *State) { s.Blocks = false }},
		{func(s *State) bool { return s.Recipient == Leaving && !s.Blocks },
			func(s *State) { s.Receipt, s.Blocks = true, true }},
		{func(s *State) bool { return s.Recipient == Leaving && !s.Receipt },
			func(s *State) { s.Receipt = true }},
		{func(s *State) bool { return s.Recipient == Unwinding && !s.Blocks },
			func(s *State) { s.Receipt, s.Blocks = true, true }},
		{func(s *State) bool { return s.Recipient == Unwinding && !s.Receipt },
			func(s *State) { s.Receipt = true }},
		{func(s *State) bool { return s.TheirTask == Gone && isDecided(s) && s.Task == Pending },
			func(s *State) { s.TheirTask = Pending }},
		{func(s *State) bool { return s.TheirTask >= TaskReady && s.Record == RecordAborted },
			func(s *State) { s.TheirTask = Pending }},
		{func(s *State) bool { return s.TheirTask == Processing },
			func(s *State) { s.TheirTask = TaskReady }},
		{func(s *State) bool { return s.TheirTask == Gone && s.Config != Committed },
			func(s *State) { s.TheirTask = Processing }},
	}
}
