// Package batches judges how much servers do in one go, and how they pace it, by what they write
// and answer.
//
// Promise: what exceeds the limits exceeds every value that the settings have had, whichever of
// them a server went by; a clock may run half as fast again as it should.
//
// Refusal: it does not know who leads. It is told only what primaries write in their own terms.
package batches

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// The signatures of what exceeds a limit.
const (
	TooLarge    verdict.Signature = "batch-too-large"
	TooSoon     verdict.Signature = "batches-too-close"
	Together    verdict.Signature = "two-deletions-at-once"
	HandedTwice verdict.Signature = "document-handed-over-twice"
	WentOn      verdict.Signature = "batch-before-concern"
	TooEarly    verdict.Signature = "batch-before-majority"
)

// Limits are what operators have set.
type Limits struct {
	// Deleted and Inserted are how many documents a range deleter and a recipient write in one
	// entry of the log; 0: any number.
	Deleted, Inserted int
	// Cloned and Changed are how many bytes an answer of a donor has; one element always fits.
	Cloned, Changed int
	// Pause is between two batches of a range deletion, Rest between two that a recipient clones.
	Pause, Rest time.Duration
}

// Or are the limits that nothing exceeds which keeps to one of the two.
func (l Limits) Or(other Limits) Limits {
	return Limits{
		Deleted: most(l.Deleted, other.Deleted), Inserted: most(l.Inserted, other.Inserted),
		Cloned: max(l.Cloned, other.Cloned), Changed: max(l.Changed, other.Changed),
		Pause: min(l.Pause, other.Pause), Rest: min(l.Rest, other.Rest),
	}
}

// most is the larger one of two limits, of which 0 is none.
func most(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// retryPause is how long a deletion rests that has failed; then it does not rest as operators have
// set.
const retryPause = 100 * time.Millisecond

// Batches follows what the primaries of a cluster do in one go.
type Batches struct {
	Limits  Limits
	entries map[string]*entry            // the newest by node and for what
	turns   map[string]*turn             // by node
	handed  map[string]map[string]uint64 // by session: a document, and in which answer it was
	copied  map[string]Written           // the newest that a recipient has copied, by node and task
	lacks   func(Written) string
	open    func(Written) bool
}

// New has everything judged by the limits.
func New(l Limits) *Batches {
	return &Batches{
		Limits: l, entries: map[string]*entry{}, turns: map[string]*turn{},
		handed: map[string]map[string]uint64{}, copied: map[string]Written{},
		lacks: func(Written) string { return "" }, open: func(Written) bool { return false },
	}
}

// Lacking says how to learn that fewer members have what a recipient has written than it has to
// wait for; "" when enough do.
func (b *Batches) Lacking(of func(Written) string) { b.lacks = of }

// Unconfirmed says how to learn whether a primary does not know yet that a majority has what it has
// written.
func (b *Batches) Unconfirmed(is func(Written) bool) { b.open = is }

// Written is a document that a node has written in an entry of its own term, as a part of a task.
type Written struct {
	Node, Task  string
	Term, Index uint64
	At          int64
	Step        uint64
}

// entry is what an entry of the log has of a task.
type entry struct {
	Written
	documents int
}

// turn is which deletion a node has carried out last, and of which others it has since the last
// batch of each.
type turn struct {
	term  uint64
	task  string
	since map[string]Written
}

// add counts the document in; before is the entry before, if it was of the same term.
func (b *Batches) add(what string, w Written) (now *entry, before *Written) {
	name := what + " " + w.Node + " " + w.Task
	now = b.entries[name]
	switch {
	case now == nil || now.Term != w.Term:
		now = &entry{Written: w}
	case now.Index != w.Index:
		last := now.Written
		now, before = &entry{Written: w}, &last
	}
	b.entries[name] = now
	now.documents++
	return now, before
}

// Inserted is a document that a recipient has cloned.
func (b *Batches) Inserted(w Written) (broken []verdict.Violation) {
	now, before := b.add("insert", w)
	broken = b.large(now, "inserted", b.Limits.Inserted)
	b.Copied(w)
	if before == nil {
		return broken
	}
	broken = append(broken, b.wentOn(*before, "has cloned the next documents")...)
	if rested := time.Duration(w.At - before.At); rested < b.Limits.Rest*2/3 {
		broken = append(broken, verdict.Violation{
			Signature: TooSoon,
			Broke: fmt.Sprintf("%s cloned the next batch for %s only %v after the previous one",
				w.Node, w.Task, rested),
			Because: []string{fmt.Sprintf(
				"migrateCloneInsertionBatchDelayMS was never below %v in this run", b.Limits.Rest)},
			Events: []uint64{before.Step},
		})
	}
	return broken
}

// Copied is a document that a recipient has written for a migration in whatever state.
func (b *Batches) Copied(w Written) { b.copied[w.Node+" "+w.Task] = w }

// Entered is called when a recipient says that it has everything.
func (b *Batches) Entered(node, task string) (broken []verdict.Violation) {
	last, known := b.copied[node+" "+task]
	delete(b.copied, node+" "+task)
	if !known {
		return nil
	}
	return b.wentOn(last, "says that it has everything")
}

// wentOn says that a recipient has not waited until as many members have what it has written as it
// was asked to.
func (b *Batches) wentOn(last Written, did string) []verdict.Violation {
	lacking := b.lacks(last)
	if lacking == "" {
		return nil
	}
	return []verdict.Violation{{
		Signature: WentOn,
		Broke:     fmt.Sprintf("%s %s for %s", last.Node, did, last.Task),
		Because:   []string{lacking + ", by the write concern of the request to move the range"},
		Events:    []uint64{last.Step},
	}}
}

// large says that an entry has one document more than it may have.
func (b *Batches) large(e *entry, did string, limit int) []verdict.Violation {
	if limit == 0 || e.documents != limit+1 {
		return nil
	}
	return []verdict.Violation{{
		Signature: TooLarge,
		Broke: fmt.Sprintf("%s has %s more than %d documents for %s in entry %d of its log",
			e.Node, did, limit, e.Task, e.Index),
		Because: []string{fmt.Sprintf("the limit was never above %d in this run", limit)},
		Events:  []uint64{e.Step},
	}}
}

// Deleted is a document that a range deleter has deleted. ended is the step of the newest fault
// that may have ended a task, so that its turn was over.
func (b *Batches) Deleted(w Written, ended uint64) (broken []verdict.Violation) {
	now, before := b.add("delete", w)
	broken = b.large(now, "deleted", b.Limits.Deleted)
	pause := min(b.Limits.Pause, retryPause)
	if before != nil && time.Duration(w.At-before.At) < pause*2/3 {
		broken = append(broken, verdict.Violation{
			Signature: TooSoon,
			Broke: fmt.Sprintf("%s deleted the next batch for %s only %v after the previous one",
				w.Node, w.Task, time.Duration(w.At-before.At)),
			Because: []string{fmt.Sprintf("the pause must be at least %v: the shorter of "+
				"rangeDeleterBatchDelayMS and the pause after a failed batch", pause)},
			Events: []uint64{before.Step},
		})
	}
	if before != nil && ended < before.Step && b.open(*before) {
		broken = append(broken, verdict.Violation{
			Signature: TooEarly,
			Broke:     fmt.Sprintf("%s deleted the next batch for %s", w.Node, w.Task),
			Because: []string{fmt.Sprintf("no majority is known to have the previous one, entry %d of "+
				"its log, and no fault has ended the wait for that", before.Index)},
			Events: []uint64{before.Step},
		})
	}
	return append(broken, b.takeTurn(w, ended)...)
}

// takeTurn: a deletion that another has followed comes back only if it had failed.
func (b *Batches) takeTurn(w Written, ended uint64) (broken []verdict.Violation) {
	at := b.turns[w.Node]
	if at == nil || at.term != w.Term {
		at = &turn{term: w.Term, since: map[string]Written{}}
		b.turns[w.Node] = at
	}
	if last, begun := at.since[w.Task]; begun && at.task != w.Task && ended < last.Step {
		broken = append(broken, verdict.Violation{
			Signature: Together,
			Broke: fmt.Sprintf("%s deletes documents for %s, then for %s, and then for %s again",
				w.Node, w.Task, at.task, w.Task),
			Because: []string{"a member carries out one range deletion after the other, and no " +
				"fault has ended the first"},
			Events: []uint64{last.Step},
		})
	}
	at.task, at.since[w.Task] = w.Task, w
	return broken
}

// Over is called when a node says that a deletion is over, or that it begins.
func (b *Batches) Over(node, task string) {
	if at := b.turns[node]; at != nil {
		delete(at.since, task)
	}
	delete(b.entries, "delete "+node+" "+task)
}

// Answer is what a donor hands over.
type Answer struct {
	Node, Session string
	// Clone says that it is a part of the clone, and not of the changes.
	Clone bool
	// Number is that of the request; the same again gets the same answer.
	Number uint64
	// Documents are those that it has by name, where each can be handed over once in a clone.
	Documents []string
	// Elements is how many documents and identities it has, Bytes how large they are.
	Elements, Bytes int
}

// Handed judges an answer.
func (b *Batches) Handed(a *Answer) (broken []verdict.Violation) {
	limit, what := b.Limits.Changed, "changes"
	if a.Clone {
		limit, what = b.Limits.Cloned, "documents"
		broken = b.repeats(a)
	}
	if a.Elements > 1 && a.Bytes > limit {
		broken = append(broken, verdict.Violation{
			Signature: TooLarge,
			Broke: fmt.Sprintf("%s answered request %d of session %s with %d %s of %d bytes",
				a.Node, a.Number, a.Session, a.Elements, what, a.Bytes),
			Because: []string{fmt.Sprintf("the limit was never above %d bytes in this run", limit)},
		})
	}
	return broken
}

// repeats says which document a clone has had before, in the answer to another request.
func (b *Batches) repeats(a *Answer) (broken []verdict.Violation) {
	had := b.handed[a.Session]
	if had == nil {
		had = map[string]uint64{}
		b.handed[a.Session] = had
	}
	for _, d := range a.Documents {
		if n, known := had[d]; known && n != a.Number {
			broken = append(broken, verdict.Violation{
				Signature: HandedTwice,
				Broke: fmt.Sprintf("%s answered request %d of session %s with document %s",
					a.Node, a.Number, a.Session, d),
				Because: []string{fmt.Sprintf("it has answered request %d with it", n)},
			})
		}
		had[d] = a.Number
	}
	return broken
}
