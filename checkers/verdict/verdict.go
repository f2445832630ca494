// Package verdict is what every checker concludes with: a promise, an outcome, and for each broken
// promise its proof.
//
// Promise: a verdict says which promise was judged, on how much, and why it broke; of all verdicts
// on a run the worst one decides, and which is worse is said here once. What could not be decided
// is never a pass.
//
// Refusal: it judges nothing itself; checkers do.
package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// Outcome is what a checker concludes. The zero value is not an outcome.
type Outcome string

// The outcomes, the worst first: a run's outcome is the worst of all its verdicts.
const (
	// Fail: the promise broke.
	Fail Outcome = "fail"
	// Undecided: a limit was reached before an answer.
	Undecided Outcome = "undecided"
	// Documented: the promise broke in a way that the protocol's version is known for; see
	// KnownAnomaly.
	Documented Outcome = "known-anomaly"
	// Pass: the promise held.
	Pass Outcome = "pass"
)

// Worse says whether o outweighs other.
func (o Outcome) Worse(other Outcome) bool { return o.rank() < other.rank() }

func (o Outcome) rank() int {
	return slices.Index([]Outcome{Fail, Undecided, Documented, Pass}, o)
}

// Signature groups failures of the same kind, for instance lost-write. Each checker lists its own.
type Signature string

// Meanings are signatures and what has happened when a violation has one, in a few words.
type Meanings map[Signature]string

// Checker is one promise, for lists, with every signature that its violations may have.
type Checker struct {
	Name, Promise string
	Signatures    Meanings
}

// Begin is the verdict of the checker as long as nothing is wrong.
func (c *Checker) Begin() Verdict {
	return Verdict{Checker: c.Name, Promise: c.Promise, Outcome: Pass}
}

// MaxViolations is how many violations a verdict lists; Found counts all.
const MaxViolations = 20

// Verdict is one checker's conclusion on one run.
type Verdict struct {
	Checker string  `json:"checker"`
	Promise string  `json:"promise"`
	Outcome Outcome `json:"outcome"`
	// Checked counts what was looked at: operations, events or members.
	Checked    int         `json:"checked"`
	Found      int         `json:"found,omitempty"`
	Violations []Violation `json:"violations,omitempty"`
	// Undecidable counts, by the reason, what was looked at and promises nothing that could be
	// judged; it is held against nobody.
	Undecidable map[string]int `json:"undecidable,omitempty"`
	// Undecided says what was left open and why.
	Undecided []string `json:"undecided,omitempty"`
}

// Violation is one broken promise with its proof.
type Violation struct {
	Signature Signature `json:"signature"`
	NS        string    `json:"ns,omitempty"`
	// Key is the key for people: a number, a range, or empty.
	Key string `json:"key,omitempty"`
	// Broke is what happened, in one sentence.
	Broke string `json:"broke"`
	// Because are the reasons why it is a contradiction, one sentence each.
	Because []string `json:"because,omitempty"`
	// Ops are the identifiers of the operations that prove it, Events the steps of the events.
	Ops    []int    `json:"ops,omitempty"`
	Events []uint64 `json:"events,omitempty"`
	// Times are about when that happened which is neither: virtual nanoseconds.
	Times []int64 `json:"times,omitempty"`
	// Ranges are the encoded shard keys that it is about, when it is about ranges instead of a key.
	Ranges []KeyRange `json:"-"`
}

// KeyRange are the encoded shard keys from Min up to Max.
type KeyRange struct{ Min, Max string }

// String is the violation as a short paragraph.
func (v *Violation) String() string {
	return string(v.Signature) + ": " + v.Broke + "\n  because " + strings.Join(v.Because, ";\n  ")
}

// Add records a violation: the promise has broken.
func (v *Verdict) Add(violation Violation) {
	v.Outcome = Fail
	v.Found++
	if len(v.Violations) < MaxViolations {
		v.Violations = append(v.Violations, violation)
	}
}

// LeaveOpen records what could not be decided and why. A verdict that has failed stays failed.
func (v *Verdict) LeaveOpen(format string, args ...any) {
	if v.Outcome != Fail {
		v.Outcome = Undecided
	}
	if len(v.Undecided) < MaxViolations {
		v.Undecided = append(v.Undecided, fmt.Sprintf(format, args...))
	}
}

// Worst is the verdict that decides a run: the first of the worst outcome. The zero Verdict for
// none.
func Worst(verdicts []Verdict) Verdict {
	var worst Verdict
	for _, v := range verdicts {
		if worst.Checker == "" || v.Outcome.Worse(worst.Outcome) {
			worst = v
		}
	}
	return worst
}
