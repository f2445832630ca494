// Package omissions judges whether a shard leaves out what belongs in its answer: documents of the
// answer to a query, or parts of the routing table that it keeps for its secondaries.
//
// Promise: each answer is judged for itself. So it finds a document that a router gets from no
// shard even if no client could miss it, and a copy of a routing table that secondaries cannot read
// even if none of them tries.
//
// Refusal: it reads no data itself; its caller says what an answer lacks.
package omissions

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/verdict"
)

var (
	// queryRule is omission (protocol 10.1).
	queryRule = verdict.Checker{
		Name: "omission",
		Promise: "If a shard answers a versioned query to the end, the answer contains every " +
			"document that the query selects, that the shard has had since the query arrived, " +
			"and that it owns at the version with which it accepted the query. A snapshot read " +
			"returns every selected document that the shard had and owned at its time. A query " +
			"other than a snapshot read ends when its collection is dropped, renamed or sharded " +
			"on that member.",
		Signatures: verdict.Meanings{
			outlived: "a query continued after its collection had been dropped, renamed or sharded",
			leftOut:  "the answer to a query lacks a selected document that the shard had and owned",
		},
	}
	// copyRule is copy (protocol 2.2, 3.4 step 5).
	copyRule = verdict.Checker{
		Name: "copy",
		Promise: "When a primary answers that its stored copy of a routing table is up to date, " +
			"the copy is complete: none of its chunks is still to be replaced, and together they " +
			"are a table of the version that is stored with them.",
		Signatures: verdict.Meanings{
			unusable: "a primary reported its copy of a routing table to be up to date, but " +
				"secondaries cannot use the copy",
		},
	}
)

// The signatures of what was left out.
const (
	leftOut  verdict.Signature = "owned-document-left-out"
	outlived verdict.Signature = "query-outlived-collection"
	unusable verdict.Signature = "copy-of-table-unusable"
)

// Catalog is every checker of this package.
func Catalog() []verdict.Checker { return []verdict.Checker{queryRule, copyRule} }

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
type Judge struct{ queries, copies verdict.Verdict }

// New returns a judge who has seen no answer.
func New() *Judge { return &Judge{queryRule.Begin(), copyRule.Begin()} }

// Verdicts are the conclusions so far, in the order of the catalog.
func (j *Judge) Verdicts() []verdict.Verdict { return []verdict.Verdict{j.queries, j.copies} }

// Answered judges the answer to a query.
func (j *Judge) Answered(a *Answer) {
	j.queries.Checked++
	left := slices.Clone(a.Left)
	slices.Sort(left)
	for _, k := range slices.Compact(left) {
		j.queries.Add(verdict.Violation{
			Signature: leftOut, NS: a.NS, Key: k,
			Broke: fmt.Sprintf("%s left the document of key %s out of an answer of %d documents",
				a.Node, k, a.Returned),
			Because: []string{
				fmt.Sprintf("the query selects it, and by %s, with which the query was accepted, "+
					"the shard owns it", a.Version),
				"it was there in every state that the query may have read",
			},
		})
	}
}

// Outlived reports a batch of a query that should have ended with an entry of the member's log.
func (j *Judge) Outlived(node, ns string, entry uint64) {
	j.queries.Add(verdict.Violation{
		Signature: outlived, NS: ns,
		Broke: fmt.Sprintf("%s continued a query of %s", node, ns),
		Because: []string{fmt.Sprintf("entry %d of its log, written after the query had begun, "+
			"drops, shards or renames the collection, or renames another one to its name", entry)},
	})
}

// Flushed judges the answer of a primary that its copy of a routing table is up to date; lacking
// says what is wrong with the copy, and is empty when nothing is.
func (j *Judge) Flushed(node, ns, lacking string) {
	j.copies.Checked++
	if lacking == "" {
		return
	}
	j.copies.Add(verdict.Violation{
		Signature: unusable, NS: ns,
		Broke: fmt.Sprintf("%s answered that its copy of the routing table of %s is up to date",
			node, ns),
		Because: []string{lacking},
	})
}
