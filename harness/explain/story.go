// Package explain says why a promise broke: of everything that happened in a run the few things
// that led there, in order, in sentences; the failure block around them; and the most similar
// scenario that passes, with where the two runs part.
//
// A story is a causal slice. It begins with the contradiction: the operations and events that prove
// it. It adds every turn of the document it is about, which is a moment at which what clients can
// see of it changes although no client wrote: there the cause is. From there it goes backwards over
// what an event names: the migration that a commit carries out, the task for which a document is
// deleted, the writes of the same document, the replica sets that a migration is between, and on
// those the crashes, elections and faults while it ran. Which message carried what is not on
// record; the identifiers of migrations, tasks, cursors and sessions stand for it. What a party did
// without an event is told by the failpoint sites that it has passed.
//
// A contradiction about no document rests on facts, and its cause is the last event that made each
// of them so: the write that made a row of the catalog, what operators said of a shard, a zone or
// the balancer, the round in which the balancer chose, the last table that a node installed, the
// change that gave a version which a refusal names.
//
// Promise: a slice is a part of what was recorded, in its order; it holds every event of the
// contradiction; events of other documents, migrations and sets do not change it. A pure function:
// the same record gives the same story.
//
// Refusal: it judges nothing. Without a contradiction it has nothing to report.
package explain

import (
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// Run is the record of a run from its first event on.
type Run struct {
	Events   []trace.Event
	Passages []runner.Passage
	History  []histories.Op
}

// Contradiction is what cannot be together.
type Contradiction struct {
	// NS and Key are the document it is about, the key as people write it; empty when it is about
	// none.
	NS, Key string
	// Ops are identifiers of operations, Steps those of events.
	Ops   []int
	Steps []uint64
	// Times are about when the rest of it happened, in virtual nanoseconds.
	Times []int64
	// Text is searched for names of migrations and replica sets, for contradictions that have
	// nothing else.
	Text string
}

// Story is the slice of a run, told.
type Story struct {
	Moments []Moment
	// Turns are the steps at which the document changed although no client wrote it.
	Turns []uint64
	// LeftOut counts what of the slice was left out to be short, Unrelated the events that are not
	// of the slice.
	LeftOut, Unrelated int
}

// Moment is one line of a story: an event, a few that belong together, or the return of an
// operation.
type Moment struct {
	// Step is that of the event, the last of several; zero for an operation. At is virtual time in
	// nanoseconds.
	Step uint64
	At   int64
	Text string
	// Weight says how much it matters; Must is never left out.
	Weight Weight
	// Op is the operation whose return it is, zero for an event.
	Op int
	// op is what an operation was asked and answered; answer marks the end of an exchange.
	op     string
	answer bool
	// again is set for an exchange that is told in one moment, and is the same for the same request
	// with the same answer; repeats are when it came again, first is the text without these.
	again, first string
	repeats      []string
	// migration is set for a phase of one: such moments are told together when they follow each
	// other.
	migration string
	phase     phase
}

// Weight is how much a moment matters.
type Weight int

// The weights.
const (
	Ambient Weight = iota + 1 // a circumstance: a slow disk, the end of a fault
	Phase                     // a state of a migration that took part
	Telling                   // a fault, a failover, a decision
	Close                     // a write of the document, a change of its owner
	Must                      // part of the contradiction, or a turn
)

// StoryOf tells how a failing run, made with Options.Events, came to its failure; nil for a run
// without a contradiction.
func StoryOf(r *runner.Result) *Story {
	if len(r.Worst().Violations) == 0 {
		return nil
	}
	return Build(recordOf(r), contradictionOf(r), storyLines)
}

// Proof are the operations that contradict each other, by identifier, and the steps of the events
// that do.
func Proof(r *runner.Result) (ops []int, steps []uint64) {
	if len(r.Worst().Violations) == 0 {
		return nil, nil
	}
	about := contradictionOf(r)
	return about.Ops, about.Steps
}

// Build tells the slice of the contradiction in at most so many moments, not counting those that
// must be there.
func Build(r Run, about Contradiction, most int) *Story {
	s := newSlice(r, about)
	s.follow()
	told := &Story{Unrelated: len(r.Events) - len(s.chosen)}
	for _, t := range s.turns {
		told.Turns = append(told.Turns, r.Events[t.at].Step)
	}
	all := joinRepeats(joinPhases(s.moments()))
	told.Moments = shortenMoments(all, most)
	told.LeftOut = len(all) - len(told.Moments)
	return told
}
