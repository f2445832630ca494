// Package checkers judges the history that clients saw: what each operation asked for and was
// answered, with the order in which calls and answers happened. It knows nothing of the store and
// can judge histories of any other.
//
//	ops := []histories.Op{...}                      // or histories.ReadHistory(file, r)
//	for _, v := range checkers.Check(ops, checkers.Limits{}) {
//		fmt.Println(v.Checker, v.Outcome)
//	}
//
// A checker is one file: it declares its promise, its signatures, and a function from the history
// to a verdict.
//
//	var monotonic = Checker{Name: "monotonic", Promise: "Values of a key only grow.", ...}
//
//	var _ = declare(80, &monotonic, func(h *history) Verdict { ... })
//
// The number is its place in the list. What else judges a run stands beside: linearize decides one
// key, oracle judges events inside the store, endstate what is left at the end, and verdict is what
// all of them conclude with.
//
// Promise: a failure is a proof, given as steps and reasons; what cannot be decided within limits
// is undecided and never a pass; weak read concerns and unknown outcomes, which guarantee nothing,
// are never flagged.
//
// Refusal: no input but the history, no clock but for limits, no state between two calls.
package checkers

import (
	"github.com/shardproof/shardproof/checkers/compact"
	"github.com/shardproof/shardproof/checkers/linearize"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/formats"
	"github.com/shardproof/shardproof/histories/listed"
)

// What checkers conclude with, see package verdict.
type (
	// Verdict is one checker's conclusion.
	Verdict = verdict.Verdict
	// Violation is one broken promise with its proof.
	Violation = verdict.Violation
	// Outcome is pass, fail, undecided or documented.
	Outcome = verdict.Outcome
	// Checker is one promise.
	Checker = verdict.Checker
	// Signature groups failures of the same kind.
	Signature = verdict.Signature
	// Meanings are signatures and what they stand for.
	Meanings = verdict.Meanings
)

// The outcomes, the worst first.
const (
	Fail       = verdict.Fail
	Undecided  = verdict.Undecided
	Documented = verdict.Documented
	Pass       = verdict.Pass
)

// Worst is the verdict that decides: the first of the worst outcome. The zero Verdict for none.
func Worst(verdicts []Verdict) Verdict { return verdict.Worst(verdicts) }

// declared is a history checker.
type declared struct {
	checker *Checker
	judge   func(*history) Verdict
}

var declaredCheckers listed.Entries[declared]

// declare adds a checker. It is called from package-level variables only. The place must be free.
func declare(place int, c *Checker, judge func(*history) Verdict) declared {
	return declaredCheckers.Declare(place, declared{c, judge})
}

// Catalog is every history checker, in the order in which they are listed.
func Catalog() []Checker {
	var all []Checker
	for _, d := range declaredCheckers.All() {
		all = append(all, *d.checker)
	}
	return all
}

// Check judges a history: one verdict of each checker, in the order of the catalog. Identifiers
// of operations must be unique, and written values unique for each key; a history that repeats
// values is decided by search alone.
func Check(ops []histories.Op, limits Limits) []Verdict {
	return CheckHistory(compact.Of(ops), limits)
}

// History is a history in compact form, a sixth as large as a slice of its operations: of a long
// one, Add each as it is read.
type History = compact.History

// CheckHistory is Check of a history that was added operation by operation.
func CheckHistory(ops *History, limits Limits) []Verdict {
	if limits.isZero() {
		limits = StandardLimits()
	}
	h := &history{keyed: keysOf(ops), limits: limits}
	var verdicts []Verdict
	for _, d := range declaredCheckers.All() {
		verdicts = append(verdicts, d.judge(h))
	}
	return verdicts
}

// history is what checkers look at, taken apart once for all of them.
type history struct {
	keyed
	limits Limits

	// unique is what the unique-writes analysis has found, clusterTimes the verdicts by cluster
	// time; both are made when they are first asked for.
	unique       *uniqueFindings
	clusterTimes *clusterTimeVerdicts
}

// keyed is a history taken apart, with the operations that the keys refer to.
type keyed struct {
	ops  *compact.History
	keys []linearize.Key
}

func keysOf(ops *compact.History) keyed { return keyed{ops, linearize.Split(ops)} }

// CheckFile is Check of a history file in any form that formats.Read reads, as runs and Jepsen's
// tests leave it; an error says where the file is wrong and what to do.
func CheckFile(path string, limits Limits) ([]Verdict, error) {
	var ops History
	if err := formats.Each(path, formats.Limits{}, ops.Add); err != nil {
		return nil, err
	}
	return CheckHistory(&ops, limits), nil
}
