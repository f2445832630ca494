// Package omissions judges whether a shard leaves out of its answer to a query what belongs there.
//
// Promise: each answer is judged for itself, so a document that a router gets from no shard is
// found even where no client could tell that it had to be there.
//
// Refusal: it does not decide which documents must be in an answer; whoever knows what the shard
// had, and what it owned, says so.
package omissions

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// rule is omission (protocol 10.1).
var rule = verdict.Checker{
	Name: "omission",
	Promise: "A shard that answers a versioned query to its end leaves out no document that the " +
		"query selects, that the shard owned by the version with which the query was let in, and " +
		"that it had all the while since the query came. A snapshot read leaves out none that the " +
		"shard had, and owned, at its time.",
	Signatures: verdict.Meanings{
		leftOut: "a shard left a document out of the answer to a query that it had and owned",
	},
}

const leftOut verdict.Signature = "owned-document-left-out"

// Catalog is the only checker of this package.
func Catalog() []verdict.Checker { return []verdict.Checker{rule} }

// Answer is the whole answer of a shard's member to a query, over all its batches.
type Answer struct {
	Node, NS string
	// Version is that with which the query was let in, for people.
	Version string
	// Returned is how many documents the answer has, Left those that it should have, too: their
	// shard keys, for people.
	Returned int
	Left     []string
}

// Judge judges answers. Make it with New.
type Judge struct{ verdict verdict.Verdict }

// New returns a judge who has seen no answer.
func New() *Judge { return &Judge{verdict: rule.Begin()} }

// Verdict is the conclusion so far.
func (j *Judge) Verdict() verdict.Verdict { return j.verdict }

// Answered judges an answer.
func (j *Judge) Answered(a *Answer) {
	j.verdict.Checked++
	left := slices.Clone(a.Left)
	slices.Sort(left)
	for _, k := range slices.Compact(left) {
		j.verdict.Add(verdict.Violation{
			Signature: leftOut, NS: a.NS, Key: k,
			Broke: fmt.Sprintf("%s left the document of key %s out of an answer of %d documents",
				a.Node, k, a.Returned),
			Because: []string{
				"the query selects it, and was let in with " + a.Version + ", by which the shard owns it",
				"it was there in every state that the query may have read",
			},
		})
	}
}
