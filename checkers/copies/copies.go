// Package copies judges whether the copy of the routing table that a shard keeps for its
// secondaries is one that they can read.
//
// Promise: a primary that answers that its copy is up to date is held to it at once, whether or not
// a secondary goes by it.
//
// Refusal: it reads no copy itself; whoever knows the primary's documents says what the copy lacks.
package copies

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// rule is copy (protocol 2.2, 3.4 step 5).
var rule = verdict.Checker{
	Name: "copy",
	Promise: "When a primary answers that it has brought the copy of a routing table up to date, " +
		"the copy among its documents is complete: no part of it is still to be replaced, and its " +
		"chunks are a table of the version that it names.",
	Signatures: verdict.Meanings{
		unusable: "a primary answered that a copy was up to date that its secondaries cannot use",
	},
}

const unusable verdict.Signature = "copy-of-table-unusable"

// Catalog is the only checker of this package.
func Catalog() []verdict.Checker { return []verdict.Checker{rule} }

// Judge judges answers. Make it with New.
type Judge struct{ verdict verdict.Verdict }

// New returns a judge who has seen no answer.
func New() *Judge { return &Judge{verdict: rule.Begin()} }

// Verdict is the conclusion so far.
func (j *Judge) Verdict() verdict.Verdict { return j.verdict }

// Flushed judges the answer of a primary; lacking says what is wrong with the copy, and is empty
// when nothing is.
func (j *Judge) Flushed(node, ns, lacking string) {
	j.verdict.Checked++
	if lacking == "" {
		return
	}
	j.verdict.Add(verdict.Violation{
		Signature: unusable, NS: ns,
		Broke:   fmt.Sprintf("%s answered that its copy of the table of %s is up to date", node, ns),
		Because: []string{lacking},
	})
}
