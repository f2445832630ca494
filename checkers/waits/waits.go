// Package waits judges for how long servers wait: neither beyond the limits that operators have
// set, nor, where the protocol has them wait, for less.
//
// Promise: a limit is held against what a server does by that server's own clock, and against the
// value that favours the server among all that operators have set in the run. What is to happen at
// the end of a limit happens then.
//
// Refusal: a wait is judged only where its beginning and its end can be seen from outside, and only
// on a server of which nothing has held up a task meanwhile.
package waits

import (
	"time"

	"github.com/shardproof/shardproof/checkers/quiet"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

var rule = verdict.Checker{
	Name: "waits",
	Promise: "A server keeps the configured time limits: it refuses a request that a critical " +
		"section blocks only after the request has waited its full time, and no migration, " +
		"request or cursor outlasts its limit.",
	Signatures: verdict.Meanings{
		refusedEarly: "a request blocked by a critical section was refused before the section ended " +
			"or its wait limit expired",
		heldLong:     "a request waited behind a critical section for longer than it may",
		caughtUpLate: "a donor went on with a migration that had taken too long to catch up",
		lockedLate:   "a donor blocked writes after it had waited too long for the lock",
		leftMuch: "a donor was about to block writes although more was left to hand over than " +
			"operators allow",
		enteredLate: "a recipient went on to its critical section after the donor's request had " +
			"waited too long",
		concernLate: "a write waited for its write concern for longer than its wtimeout, or the " +
			"default, allows",
		cursorLate: "a cursor returned a batch although it had been idle for longer than its timeout",
	},
}

// The signatures of waits that are too short or too long.
const (
	refusedEarly verdict.Signature = "refused-before-wait"
	heldLong     verdict.Signature = "waited-beyond-limit"
	caughtUpLate verdict.Signature = "caught-up-beyond-limit"
	lockedLate   verdict.Signature = "locked-beyond-limit"
	leftMuch     verdict.Signature = "blocked-writes-too-early"
	enteredLate  verdict.Signature = "entered-beyond-limit"
	concernLate  verdict.Signature = "concern-beyond-limit"
	cursorLate   verdict.Signature = "cursor-beyond-limit"
)

// Catalog is the only checker of this package.
func Catalog() []verdict.Checker { return []verdict.Checker{rule} }

// Limits are what operators have set, of all values in the run the ones that allow most.
type Limits struct {
	// Behind is how long a request waits behind a critical section: at least, and at most.
	Behind, BehindMost time.Duration
	// CatchUp is for how long a recipient may catch up, Lock for how long a donor may wait for the
	// lock under which it blocks writes, and Enter for how long a recipient may take for the rest.
	CatchUp, Lock, Enter time.Duration
	// Concern is how long a write waits for its write concern that names no time itself.
	Concern time.Duration
	// Cursor is for how long a cursor may stay unused.
	Cursor time.Duration
	// Captured is how many bytes of changes a donor may have to hand over, and Percent which share
	// of a chunk, of up to so many bytes unless the request says, when it blocks writes.
	Captured, Percent, Chunk int64
	// LeavesChanges: a donor may block writes with changes left at all.
	LeavesChanges bool
}

// Judge follows what waits.
type Judge struct {
	quiet     *quiet.Record
	limits    func() Limits
	clock     func(node string) time.Duration
	verdict   verdict.Verdict
	step      uint64
	primaries map[string]int64 // since when a node is a settled primary
	sections  map[place]*section
	donors    map[string]*donor // by node
	// forced are the collections of which something is moved however big it is.
	forced  map[string]bool
	largest int64 // the largest chunk that a request allows
	commits map[string]*commits
	entries map[string][]entry
	cursors map[string]*cursor
}

// New returns a judge that rests on a record of disturbances, and must be shown every event after
// the record has been. The clock is that by which a node measures limits.
func New(
	record *quiet.Record, limits func() Limits, clock func(node string) time.Duration,
) *Judge {
	return &Judge{
		quiet: record, limits: limits, clock: clock, verdict: rule.Begin(),
		primaries: map[string]int64{}, sections: map[place]*section{},
		donors: map[string]*donor{}, forced: map[string]bool{}, commits: map[string]*commits{},
		entries: map[string][]entry{}, cursors: map[string]*cursor{},
	}
}

// Verdict is the conclusion so far.
func (j *Judge) Verdict() verdict.Verdict { return j.verdict }

// Observe takes the next event.
func (j *Judge) Observe(e *trace.Event) {
	j.step = e.Step
	switch e.Kind {
	case trace.NodeUp, trace.NodeDown:
		j.forget(e.Node)
		delete(j.entries, e.Node)
	case trace.Elected, trace.SteppedDown:
		j.forget(e.Node)
	case trace.Writable:
		j.primaries[e.Node] = e.At
	case trace.CriticalSection:
		j.followSection(e)
	case trace.Answered:
		j.judgeRefusal(e)
	case trace.MigrationRequested:
		j.donors[e.Node] = &donor{migration: e.Migration(), began: j.clock(e.Node), asked: e.At}
	case trace.DonorAdvanced:
		j.followDonor(e)
	case trace.PointHit:
		j.followLock(e)
	case trace.Applied:
		j.noteEntry(e)
		j.followWrite(e)
	case trace.RecipientAdvanced:
		j.followRecipient(e)
	}
}

// forget forgets what a node has in memory for its term.
func (j *Judge) forget(node string) {
	delete(j.primaries, node)
	delete(j.donors, node)
	delete(j.commits, node)
	//shardproof:allow map each section by itself
	for at := range j.sections {
		if at.node == node {
			delete(j.sections, at)
		}
	}
	//shardproof:allow map each cursor by itself
	for id, c := range j.cursors {
		if c.node == node {
			delete(j.cursors, id)
		}
	}
}

// slack is what may pass between the end of a limit and what a server does then, if nothing holds
// it up.
const slack = 100 * time.Millisecond

func (j *Judge) broken(s verdict.Signature, ns, broke string, because ...string) {
	j.verdict.Add(verdict.Violation{
		Signature: s, NS: ns, Broke: broke, Because: because, Events: []uint64{j.step},
	})
}
