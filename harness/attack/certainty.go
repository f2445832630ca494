package attack

import "github.com/shardproof/shardproof/histories"

// Answer is how an attempt to carry out a statement ended.
type Answer uint8

// The answers. The zero Answer claims the least.
const (
	// Lost: there was no answer. The attempt may execute at any later time.
	Lost Answer = iota
	// Open: an error that does not exclude that the attempt was executed.
	Open
	// Refused: an error by which the attempt was certainly not executed, and will not be.
	Refused
	// Unsent: the attempt never left the client.
	Unsent
	// Present: an insert found a document of its key.
	Present
	// Done: executed, and acknowledged as asked for.
	Done
)

// Statement is what a client knows of a statement after some attempts, all with the same number.
// The zero Statement is one that was not attempted.
type Statement struct {
	lost, open bool
	attempts   int
	last       Answer
}

// Note takes in the answer to the next attempt.
func (s *Statement) Note(a Answer) {
	s.attempts++
	s.last = a
	s.lost = s.lost || a == Lost
	s.open = s.open || a == Open
}

// Retries is how many attempts there were after the first.
func (s *Statement) Retries() int { return max(0, s.attempts-1) }

// Outcome is what a history may say of a write. changed is whether the last answer says that
// something was changed.
//
// Only the last attempt is known; an earlier one that was lost may yet be executed unless the
// servers recognise it by its number, and that they do is under test. If the last attempt changed
// something, the statement has happened. If it found nothing to change, that is the statement's
// result only when no attempt was lost.
func (s *Statement) Outcome(changed bool) histories.Outcome {
	switch doubt := s.lost || s.open; {
	case s.last == Done && (changed || !s.lost):
		return histories.OK
	case s.last == Present && !doubt:
		return histories.OK
	case (s.last == Refused || s.last == Unsent) && !doubt:
		return histories.Failed
	}
	return histories.Unknown
}

// Seen is what a history may say of a read: nothing happens by it, so only an answer counts.
func (s *Statement) Seen() histories.Outcome {
	if s.last == Done {
		return histories.OK
	}
	return histories.Failed
}
