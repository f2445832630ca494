// Package records judges how servers change the records that they keep for themselves: of
// migrations, range deletions, operations on whole collections, sessions, and what they have heard.
//
// A record outlives the primary that has written it, and its successors go by it. Who writes back
// what it read some time ago undoes what others have written meanwhile.
//
// Promise: every change of a record that a majority has is judged, in the order of the log.
//
// Refusal: a field that a record does not have counts as zero or as not yet set. What a field says
// is not compared with what happened; other checkers do that.
package records

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// rule is record-fields (protocol 2).
var rule = verdict.Checker{
	Name: "record-fields",
	Promise: "A record that servers keep for themselves never goes back to an earlier state: what " +
		"is set once stays, and times, numbers and flags do not fall. The task of a range " +
		"deletion changes its namespace only together with the collection.",
	Signatures: verdict.Meanings{
		restored: "a server wrote an earlier state of a record back",
	},
}

const restored verdict.Signature = "record-field-restored"

// Catalog is the only checker of this package.
func Catalog() []verdict.Checker { return []verdict.Checker{rule} }

// Value is that of a field: as bytes, and as a number, with 1 for true; 0 is no number. The zero
// Value is that of a field that is not there.
type Value struct {
	Bytes  string
	Number int64
}

// Record is a record as a server has just written it, with its fields that are judged, in the order
// of Fields.
type Record struct {
	Set, NS, ID string
	Index       uint64
	// Renames says that the entry renames a collection, too.
	Renames bool
	Values  []Value
}

type name struct{ set, ns, id string }

// Judge follows the records of all replica sets. Make it with New.
type Judge struct {
	records map[name]*Record
	verdict verdict.Verdict
}

// New returns a judge who knows no records.
func New() *Judge {
	return &Judge{records: map[name]*Record{}, verdict: rule.Begin()}
}

// Verdict is the conclusion so far.
func (j *Judge) Verdict() verdict.Verdict { return j.verdict }

// Removed forgets a record: one that is made with its name later is another.
func (j *Judge) Removed(set, ns, id string) { delete(j.records, name{set, ns, id}) }

// Written judges a record against what it was before.
func (j *Judge) Written(r *Record) {
	of := name{r.Set, r.NS, r.ID}
	if before := j.records[of]; before != nil {
		for i, f := range kept[r.NS] {
			j.judge(r, f, before, i)
		}
	}
	j.records[of] = r
}

func (j *Judge) judge(r *Record, f field, before *Record, i int) {
	j.verdict.Checked++
	was, is := before.Values[i], r.Values[i]
	if was == is || f.may(was, is, r.Renames) {
		return
	}
	j.verdict.Add(verdict.Violation{
		Signature: restored,
		Broke: fmt.Sprintf("entry %d of %s changes %s of a record in %s", r.Index, r.Set, f.name,
			r.NS),
		Because: []string{fmt.Sprintf("entry %d had written the record before; %s", before.Index,
			f.promise)},
	})
}
