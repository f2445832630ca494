// Package wellformed says whether a record of operations is a history at all: whether every word in
// it is one that checkers know, and every number one that can be.
//
// A misspelt outcome or concern would not fail any check. It would make an operation weaker than it
// was, so that a checker passes what it should refuse. Hence a history is read strictly, before
// anything is judged.
//
// Promise: what is refused is named with the operation, the values in it, and what to do. Whatever
// a run records is accepted; so is every history of another system in which no client calls twice
// at a time, but for inserts that it sends in one command.
//
// Refusal: nothing is said about whether answers are right; that is what checkers judge.
package wellformed

import (
	"errors"
	"fmt"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// Flaw is why a record of operations is no history.
type Flaw struct {
	// At is the position of the operation, from 0; Wrong and Remedy are parts of sentences.
	At            int
	Wrong, Remedy string
}

// Error is "what is wrong; what to do".
func (f *Flaw) Error() string { return f.Wrong + "; " + f.Remedy }

// ErrEmpty is the flaw of a history of nothing.
var ErrEmpty = errors.New("the history holds no operation; record at least one")

// Check looks for the first flaw of a history, which is a *Flaw, or ErrEmpty.
func Check(ops []histories.Op) error {
	var c Checking
	for i := range ops {
		c.Add(&ops[i])
	}
	return c.Err()
}

// CheckFile is Check of what histories.Read has read of a file: the flaw is a *histories.FileError
// with the line.
func CheckFile(file string, ops []histories.Op) error { return inFile(file, Check(ops)) }

// Checking is Check of a history that comes operation by operation. The zero Checking is that of
// none.
type Checking struct {
	count int
	words familiar
	rest  among
	flaw  *Flaw
}

// Add takes the next operation.
func (c *Checking) Add(op *histories.Op) {
	c.count++
	if c.flaw != nil {
		return
	}
	wrong, remedy := c.words.flaw(op)
	if wrong == "" {
		wrong, remedy = c.rest.flaw(op)
	}
	if wrong != "" {
		c.flaw = &Flaw{c.count - 1, fmt.Sprintf("operation %d %s", op.ID, wrong), remedy}
	}
}

// Err is the first flaw so far, as Check has it.
func (c *Checking) Err() error {
	switch {
	case c.count == 0:
		return ErrEmpty
	case c.flaw != nil:
		return c.flaw
	}
	return nil
}

// ErrIn is Err of a file, as CheckFile has it.
func (c *Checking) ErrIn(file string) error { return inFile(file, c.Err()) }

// inFile says of a flaw where in a file it is.
func inFile(file string, err error) error {
	var flaw *Flaw
	switch {
	case errors.As(err, &flaw):
		const headers = 1
		return &histories.FileError{
			File: file, Line: headers + flaw.At + 1, Wrong: flaw.Wrong, Remedy: flaw.Remedy,
		}
	case err != nil:
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// idPage notes which of so many successive numbers are taken.
type idPage [64]uint64

const idsOfPage = 64 * 64

// among is what the operations so far leave free: numbers, and the time of each client.
type among struct {
	ids map[int]*idPage
	// near is the page at which a number was taken last: the next one mostly is on it, too.
	near   *idPage
	nearAt int
	// last is what each client did last; few are clients of small numbers, by number.
	last map[int]*lastOp
	few  [256]lastOp
}

// lastOp is what a client did last. Inserts that were called directly after one another went into
// one command, so that they overlap.
type lastOp struct {
	id               int
	kind             opkind.Name
	called, answered uint64
}

func (a *among) flaw(op *histories.Op) (wrong, remedy string) {
	if !a.take(op.ID) {
		return "is there twice", "give every operation an id of its own"
	}
	last := a.lastOf(op.Client)
	oneCommand := op.Kind == opkind.Insert && last.kind == opkind.Insert && op.Call == last.called+1
	if last.answered >= op.Call && !oneCommand {
		return fmt.Sprintf("of client %d was called at %d, before the answer to its operation "+
				"%d at %d",
				op.Client, op.Call, last.id, last.answered),
			"give each of the threads of a client a number of its own, and write its operations " +
				"in the order of their calls"
	}
	last.id, last.kind, last.called = op.ID, op.Kind, op.Call
	last.answered = max(last.answered, op.Return)
	return "", ""
}

func (a *among) lastOf(client int) *lastOp {
	if client >= 0 && client < len(a.few) {
		return &a.few[client]
	}
	last := a.last[client]
	if last == nil {
		if a.last == nil {
			a.last = map[int]*lastOp{}
		}
		last = new(lastOp)
		a.last[client] = last
	}
	return last
}

// take says whether the number was free.
func (a *among) take(id int) bool {
	at, bit := id/idsOfPage, id%idsOfPage
	if bit < 0 {
		at, bit = at-1, bit+idsOfPage
	}
	if a.near == nil || a.nearAt != at {
		a.near, a.nearAt = a.page(at), at
	}
	word, mask := bit/64, uint64(1)<<(bit%64)
	free := a.near[word]&mask == 0
	a.near[word] |= mask
	return free
}

func (a *among) page(at int) *idPage {
	page := a.ids[at]
	if page == nil {
		if a.ids == nil {
			a.ids = map[int]*idPage{}
		}
		page = new(idPage)
		a.ids[at] = page
	}
	return page
}
