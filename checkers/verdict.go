// Package checkers judges runs: one promise a file, each a pure function of what the run recorded. Some look at the
// history that clients saw, some at the state after the end, and the step oracles at every event as it happens.
//
// Promise: a failure is a proof, told as steps and reasons; what cannot be decided within limits is undecided and never a
// pass; the documented non-guarantees of the store (weak read concerns, unknown outcomes) are never flagged.
package checkers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

// Outcome is what a checker concludes. The zero value is not an outcome.
type Outcome string

// The outcomes, the worst first: a run's outcome is the worst of all its verdicts.
const (
	Fail       Outcome = "fail"          // the promise broke
	Undecided  Outcome = "undecided"     // a limit was reached before an answer
	Documented Outcome = "known-anomaly" // the promise broke in a way that the protocol's version is known for; see Weakness
	Pass       Outcome = "pass"          // the promise held
)

// Worse says whether o outweighs other.
func (o Outcome) Worse(other Outcome) bool { return o.rank() < other.rank() }

func (o Outcome) rank() int {
	return slices.Index([]Outcome{Fail, Undecided, Documented, Pass}, o)
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
	// Undecided says what was left open and why.
	Undecided []string `json:"undecided,omitempty"`
}

// Violation is one broken promise with its proof.
type Violation struct {
	// Signature groups failures of the same kind, for instance lost-write.
	Signature string `json:"signature"`
	NS        string `json:"ns,omitempty"`
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
}

// String is the violation as a short paragraph.
func (v *Violation) String() string {
	return v.Signature + ": " + v.Broke + "\n  because " + strings.Join(v.Because, ";\n  ")
}

func (v *Verdict) add(violation Violation) {
	v.Outcome = Fail
	v.Found++
	if len(v.Violations) < MaxViolations {
		v.Violations = append(v.Violations, violation)
	}
}

func (v *Verdict) leaveOpen(format string, args ...any) {
	if v.Outcome != Fail {
		v.Outcome = Undecided
	}
	if len(v.Undecided) < MaxViolations {
		v.Undecided = append(v.Undecided, fmt.Sprintf(format, args...))
	}
}

// Worst is the verdict that decides a run: the first of the worst outcome. The zero Verdict for none.
func Worst(verdicts []Verdict) Verdict {
	var worst Verdict
	for _, v := range verdicts {
		if worst.Checker == "" || v.Outcome.Worse(worst.Outcome) {
			worst = v
		}
	}
	return worst
}

// Checker is one promise and who judges it, for lists.
type Checker struct{ Name, Promise string }

func (c Checker) pass() Verdict { return Verdict{Checker: c.Name, Promise: c.Promise, Outcome: Pass} }

// Catalogue is every checker, in the order in which they are listed.
func Catalogue() []Checker {
	all := []Checker{Identity, Linearizability, Scans, ExactlyOnce, ChangeStreams, Causal, Snapshots, Liveness, Convergence}
	for _, r := range rules {
		all = append(all, r.checker)
	}
	return all
}

// History judges what clients saw: one verdict of each checker that needs nothing else.
func History(ops []histories.Op, limits Limits) []Verdict {
	if limits == (Limits{}) {
		limits = StandardLimits()
	}
	h := keysOf(withoutWatches(ops))
	identity, found := checkIdentity(h)
	verdicts := []Verdict{identity, checkLinearizability(h, found, limits), checkScans(h.ops), checkExactlyOnce(h), checkChangeStreams(ops)}
	return append(verdicts, checkInstants(h)...)
}

// withoutWatches are the operations on keys, which all checkers but that of change streams look at.
func withoutWatches(ops []histories.Op) []histories.Op {
	watches := func(op histories.Op) bool { return op.Kind == scenario.Watch }
	if !slices.ContainsFunc(ops, watches) {
		return ops
	}
	return slices.DeleteFunc(slices.Clone(ops), watches)
}
