package migrationmodel

// Step is what can be seen of an action from outside; Unseen for what happens inside a server.
type Step uint8

// The steps.
const (
	Unseen Step = iota
	DonorBegins
	DonorClones
	DonorClonesStale
	DonorPromisesDeletion
	DonorCaughtUp
	DonorBlocksWrites
	DonorEntersSection
	DonorCompletes
	DonorBlocksReads
	DonorSendsCommit
	DonorLearnsItOwns
	DonorLearnsItLost
	DonorLeavesSection
	DonorEnds
	DonorDecidesCommitted
	DonorDecidesAborted
	DonorReadiesDeletion
	DonorBeginsDeletion
	DonorFinishesDeletion
	DonorDropsDeletion
	MigrationEndsCommitted
	MigrationEndsAborted
	DonorServes
	DonorFailsOver
	ConfigCommits
	ConfigRefuses
	ConfigSure
	ConfigFailsOver
	RecipientBegins
	RecipientPromisesDeletion
	RecipientClones
	RecipientCatchesUp
	RecipientSteady
	RecipientCommitStarts
	RecipientBlocks
	RecipientEnters
	RecipientLeaves
	RecipientUnblocks
	RecipientEnds
	RecipientFails
	RecipientLearnsItOwns
	RecipientLearnsItDoesNot
	RecipientDropsDeletion
	RecipientReadiesDeletion
	RecipientBeginsDeletion
	RecipientFinishesDeletion
	RecipientServes
	RecipientFailsOver
	// Of a primary that was deposed and does not know: what it sends may still count.
	PastDonorAdvances
	PastRecipientBegins
	PastRecipientEnters
	steps
)

var stepNames = [steps]string{
	Unseen:                    "(unseen)",
	DonorBegins:               "the donor begins",
	DonorClones:               "the donor enters kCloning",
	DonorClonesStale:          "the donor enters kCloning with an outdated placement",
	DonorPromisesDeletion:     "the donor records a pending deletion",
	DonorCaughtUp:             "the donor enters kCloneCaughtUp",
	DonorBlocksWrites:         "the donor blocks writes",
	DonorEntersSection:        "the donor enters kCriticalSection",
	DonorCompletes:            "the donor enters kCloneCompleted",
	DonorBlocksReads:          "the donor blocks reads",
	DonorSendsCommit:          "the donor enters kCommittingOnConfig",
	DonorLearnsItOwns:         "the donor takes over a placement in which it owns the range",
	DonorLearnsItLost:         "the donor knows no longer that it owns the range",
	DonorLeavesSection:        "the donor leaves its critical section",
	DonorEnds:                 "the donor enters kDone",
	DonorDecidesCommitted:     "the donor decides: committed",
	DonorDecidesAborted:       "the donor decides: aborted",
	DonorReadiesDeletion:      "the donor readies its deletion",
	DonorBeginsDeletion:       "the donor begins its deletion",
	DonorFinishesDeletion:     "the donor finishes its deletion",
	DonorDropsDeletion:        "the donor drops its deletion",
	MigrationEndsCommitted:    "the migration ends: committed",
	MigrationEndsAborted:      "the migration ends: aborted",
	DonorServes:               "the donor applies a client's write in the range",
	DonorFailsOver:            "the donor has a new primary",
	ConfigCommits:             "the config server writes the commit",
	ConfigRefuses:             "the config server writes what makes it refuse the commit",
	ConfigSure:                "a majority of the config server has the outcome",
	ConfigFailsOver:           "the config server has a new primary",
	RecipientBegins:           "the recipient enters kReady",
	RecipientPromisesDeletion: "the recipient records a pending deletion",
	RecipientClones:           "the recipient enters kClone",
	RecipientCatchesUp:        "the recipient enters kCatchup",
	RecipientSteady:           "the recipient enters kSteady",
	RecipientCommitStarts:     "the recipient enters kCommitStart",
	RecipientBlocks:           "the recipient blocks writes",
	RecipientEnters:           "the recipient enters kEnteredCritSec",
	RecipientLeaves:           "the recipient enters kExitCritSec",
	RecipientUnblocks:         "the recipient leaves its critical section",
	RecipientEnds:             "the recipient enters kDone",
	RecipientFails:            "the recipient enters kFail or kAbort",
	RecipientLearnsItOwns:     "the recipient takes over a placement in which it owns the range",
	RecipientLearnsItDoesNot:  "the recipient knows no longer that it owns the range",
	RecipientDropsDeletion:    "the recipient drops its deletion",
	RecipientReadiesDeletion:  "the recipient readies its deletion",
	RecipientBeginsDeletion:   "the recipient begins its deletion",
	RecipientFinishesDeletion: "the recipient finishes its deletion",
	RecipientServes:           "the recipient applies a client's write in the range",
	RecipientFailsOver:        "the recipient has a new primary",
	PastDonorAdvances:         "a deposed primary of the donor goes on",
	PastRecipientBegins:       "a deposed primary of the recipient enters kReady",
	PastRecipientEnters:       "a deposed primary of the recipient enters kEnteredCritSec",
}

// String says what is seen.
func (s Step) String() string { return stepNames[s] }

// Steps are all that can be seen.
func Steps() (all []Step) {
	for s := Unseen + 1; s < steps; s++ {
		all = append(all, s)
	}
	return all
}

// condition is a part of a guard: what the protocol requires before an action, in words that
// complete "although".
type condition struct {
	holds  func(*State) bool
	unless string // what is the case when it does not hold
}

// action is one line of the protocol.
type action struct {
	step Step
	name string // of what is unseen
	when []condition
	then func(*State)
}

// enabled says whether the action may be taken.
func (a *action) enabled(s *State) bool {
	for i := range a.when {
		if !a.when[i].holds(s) {
			return false
		}
	}
	return true
}

func (a *action) title() string {
	if a.step == Unseen {
		return a.name
	}
	return a.step.String()
}

// Model is the machine of one protocol.
type Model struct {
	protocol Protocol
	initial  []State
	actions  []action
	hidden   []*action
	seen     [steps][]*action
}

// New is the machine of a protocol. It is built once, since nothing changes a machine.
func New(p Protocol) *Model { return built[p] }

var built = [...]*Model{V80: build(V80, "", nil), V42: build(V42, "", nil)}

// build leaves out a condition, wherever it is required, if any is named, and puts another one in
// the place of that with its name.
func build(p Protocol, without string, instead *condition) *Model {
	m := &Model{protocol: p, initial: []State{{Led: true}}}
	m.actions = actions80()
	if p == V42 {
		m.actions = actions42()
	}
	for i := range m.actions {
		a := &m.actions[i]
		var kept []condition
		for _, c := range a.when {
			if instead != nil && c.unless == instead.unless {
				c = *instead
			}
			if c.unless != without || without == "" {
				kept = append(kept, c)
			}
		}
		a.when = kept
		if a.step == Unseen {
			m.hidden = append(m.hidden, a)
		} else {
			m.seen[a.step] = append(m.seen[a.step], a)
		}
	}
	return m
}

// Protocol is the protocol that the machine is of.
func (m *Model) Protocol() Protocol { return m.protocol }

func does(step Step, then func(*State), when ...condition) action {
	return action{step: step, when: when, then: then}
}

func inside(name string, then func(*State), when ...condition) action {
	return action{name: name, when: when, then: then}
}

func nothing(*State) {}
