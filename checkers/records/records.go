// Package records judges how servers change the records that they keep for themselves: of
// migrations, range deletions, operations on whole collections, sessions, and what they have heard.
//
// A record outlives the primary that has written it, and its successors go by it. Who writes back
// what it read some time ago undoes what others have written meanwhile. And what one record leaves
// open, such as a critical section, a new primary finishes by another record, its owner: a failover
// while that is not there leaves nobody who would finish it.
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
	Promise: "An internal record of a server, once committed by a majority, never " +
		"returns to an earlier state: a field that is set keeps its value, times and version " +
		"numbers never decrease, and a flag changes at most once, in one direction. A " +
		"range deletion task changes its namespace only when its collection is renamed. " +
		"What a shard has recorded of a collection by its name, it records by the new name " +
		"when the collection is renamed. In 4.2, a new primary first resets the count of commits in " +
		"progress if it is not zero; apart from that the count changes by one at a time and is " +
		"never negative.",
	Signatures: verdict.Meanings{
		restored: "a server wrote an earlier state of a record back",
		forgot:   "a rename lost what had been recorded of the collection by its former name",
		miscounted: "a shard miscounted the commits in progress, so that its next primary may not " +
			"know of one",
	},
}

// pairsRule is record-pairs (protocol 9, H-58).
var pairsRule = verdict.Checker{
	Name: "record-pairs",
	Promise: "A record of unfinished work always has an owner: another record, by which " +
		"a new primary would finish that work. The owner is written no later than the " +
		"record that needs it, and removed no sooner. The owner of a stored critical " +
		"section is its migration, movePrimary or unreleased DDL operation; the owner of " +
		"a pending range deletion task is the migration whose outcome it waits for. The entry " +
		"that removes the record of a DDL operation also remembers its request.",
	Signatures: verdict.Meanings{
		ownerless: "a record of unfinished work had no owner",
		unremembered: "an operation's record was removed, and its request was not remembered with " +
			"that, so that a repetition may be carried out again",
	},
}

const (
	restored  verdict.Signature = "record-field-restored"
	forgot    verdict.Signature = "record-lost-by-rename"
	ownerless verdict.Signature = "record-left-open"

	miscounted   verdict.Signature = "commits-miscounted"
	unremembered verdict.Signature = "request-not-remembered"
)

// Catalog are the checkers of this package.
func Catalog() []verdict.Checker { return []verdict.Checker{rule, pairsRule} }

// Value is that of a field: as bytes, and as a number, with 1 for true; 0 is no number. The zero
// Value is that of a field that is not there.
type Value struct {
	Bytes  string
	Number int64
}

// Record is a record as a server has just written it, with its fields that are judged, in the order
// of Fields.
type Record struct {
	Name
	// Index is that of the entry, Step that at which a majority had it.
	Index, Step uint64
	// Renames says that the entry renames a collection, too.
	Renames bool
	Values  []Value
	// Open is what the record leaves open.
	Open Open
}

// Name is that of a record. An empty Set stands for any.
type Name struct{ Set, NS, ID string }

// Judge follows the records of all replica sets. Make it with New.
type Judge struct {
	records map[Name]*Record
	// open are the records that leave something open, and told those of them that are reported.
	open, told map[Name]bool
	// counts are, by shard, the commits that are in progress as its record has them.
	counts map[string]commitCount
	// ended are records that the present entry removes, of work whose request is to be remembered.
	ended          []*Record
	verdict, pairs verdict.Verdict
}

// New returns a judge who knows no records.
func New() *Judge {
	return &Judge{
		records: map[Name]*Record{}, open: map[Name]bool{}, told: map[Name]bool{},
		counts:  map[string]commitCount{},
		verdict: rule.Begin(), pairs: pairsRule.Begin(),
	}
}

// Verdicts are the conclusions so far.
func (j *Judge) Verdicts() []verdict.Verdict { return []verdict.Verdict{j.verdict, j.pairs} }

// Removed forgets a record: one that is made with its name later is another.
func (j *Judge) Removed(n Name) {
	if r := j.records[n]; r != nil && r.Open.Request != (Name{}) {
		j.ended = append(j.ended, r)
	}
	delete(j.records, n)
	delete(j.open, n)
	delete(j.told, n)
}

// Written judges a record against what it was before.
func (j *Judge) Written(r *Record) {
	if before := j.records[r.Name]; before != nil {
		for i, f := range kept[r.NS] {
			j.judge(r, f, before, i)
		}
	}
	j.records[r.Name] = r
	delete(j.open, r.Name)
	if r.Open.leaves() {
		j.open[r.Name] = true
	}
}

// Renamed judges an entry that gives a collection a new name: lacks says what the record of that
// name lacks of the one of the former name, empty for nothing. Step is that at which a majority had
// the entry.
func (j *Judge) Renamed(to Name, index, step uint64, lacks string) {
	j.verdict.Checked++
	if lacks == "" {
		return
	}
	j.verdict.Add(verdict.Violation{
		Signature: forgot,
		Broke: fmt.Sprintf("entry %d of %s renames a collection, and its record in %s does not go "+
			"along", index, to.Set, to.NS),
		Because: []string{lacks},
		Events:  []uint64{step},
	})
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
		Events: []uint64{before.Step, r.Step},
	})
}
