// Package warnings judges whether the log of a shard announces that a range is about to be deleted,
// and whether queries on secondaries heed it.
//
// Promise: a deletion that was not announced is found at its first document, whether or not anybody
// reads from a secondary. A query that goes on after the announcement is found at its next batch,
// whether or not a document is missing from that. Both are judged by the logs, which are all that
// secondaries see.
//
// Refusal: it does not know whether operators accept that documents are missing; its caller leaves
// out the batches of such runs.
package warnings

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// rule is warning (protocol 10.4).
var rule = verdict.Checker{
	Name: "warning",
	Promise: "Before a primary deletes the first document of a range, its log announces the " +
		"deletion. Once the announcement has arrived, a query on a secondary that may see a part " +
		"of the range returns nothing more, unless operators accept that documents are missing.",
	Signatures: verdict.Meanings{
		notAnnounced: "a primary deleted a document of a range, and its log had not announced " +
			"the deletion",
		notHeeded: "a secondary returned a batch of a query although its log had announced the " +
			"deletion of what the query may see",
	},
}

const (
	notAnnounced verdict.Signature = "deleted-unannounced"
	notHeeded    verdict.Signature = "announcement-not-heeded"
)

// Catalog is the only checker of this package.
func Catalog() []verdict.Checker { return []verdict.Checker{rule} }

// Range is a range of encoded keys.
type Range struct{ Min, Max string }

// Log is the log of a node.
type Log interface {
	// Last is the index of the newest entry, 0 for none.
	Last() uint64
	// Announced says whether the log announces the deletion of a task before an entry of a term. It
	// is true, too, when that can no longer be told.
	Announced(task string, term, before uint64) bool
	// Announces are the ranges of a collection whose deletion is announced in the entries after one
	// index and up to another, inclusive.
	Announces(ns string, after, last uint64) []Range
}

// deletion is what a primary deletes for a task in a term.
type deletion struct {
	node, task string
	term       uint64
}

// cursor is an open query: what it may see, up to where in the log it has been judged, and the
// number of its newest batch.
type cursor struct {
	ns     string
	parts  []trace.Chunk
	judged uint64
	batch  int
	step   uint64
}

// Judge follows the deletions and the queries. Make it with New.
type Judge struct {
	log func(node string) Log
	// tasks are those that delete ranges, begun are those of which a document has been deleted.
	tasks   map[string]bool
	begun   map[deletion]bool
	cursors map[string]*cursor
	verdict verdict.Verdict
}

// New returns a Judge that looks at the logs of nodes; log may return nil for a node that is down.
func New(log func(node string) Log) *Judge {
	return &Judge{
		log: log, tasks: map[string]bool{}, begun: map[deletion]bool{},
		cursors: map[string]*cursor{}, verdict: rule.Begin(),
	}
}

// Verdict is the conclusion so far.
func (j *Judge) Verdict() verdict.Verdict { return j.verdict }

// Observe takes the next event. The caller passes on deletions by primaries only.
func (j *Judge) Observe(e *trace.Event) {
	switch e.Kind {
	case trace.CursorOpened:
		if log := j.log(e.Node); log != nil {
			j.cursors[e.Cursor()] = &cursor{
				ns: e.NS, parts: slices.Clone(e.Chunks), judged: log.Last(), step: e.Step,
			}
		}
	case trace.CursorClosed:
		delete(j.cursors, e.Cursor())
	case trace.RangeDeletion:
		j.tasks[e.Migration()] = true
	case trace.Applied:
		if e.Actor == trace.RangeDeleter && e.Hash == 0 && e.Key != "" {
			j.judgeDeletion(e)
		}
	}
}

// judgeDeletion judges the first document that is deleted for a task in a term. Documents that are
// dropped with their collection are left out.
func (j *Judge) judgeDeletion(e *trace.Event) {
	d, log := deletion{e.Node, e.For(), e.Term}, j.log(e.Node)
	if !j.tasks[d.task] || j.begun[d] || log == nil {
		return
	}
	j.begun[d] = true
	j.verdict.Checked++
	if log.Announced(d.task, d.term, e.Index) {
		return
	}
	j.verdict.Add(verdict.Violation{
		Signature: notAnnounced, NS: e.NS,
		Broke: fmt.Sprintf("%s deletes the first document of a range for %s, in entry %d of its log",
			e.Node, d.task, e.Index),
		Because: []string{"no entry before that one announces the deletion: a query on a secondary " +
			"goes on, and lacks documents"},
		Events: []uint64{e.Step},
	})
}

// Returned judges a batch of a query on a secondary; arrived is the newest entry that its log had
// when the batch was asked for. A batch that is sent again was judged the first time.
func (j *Judge) Returned(node, id string, batch int, arrived uint64) {
	c, log := j.cursors[id], j.log(node)
	if c == nil || log == nil || batch != 0 && batch <= c.batch {
		return
	}
	c.batch = batch
	j.verdict.Checked++
	for _, r := range log.Announces(c.ns, c.judged, arrived) {
		if slices.ContainsFunc(c.parts, func(p trace.Chunk) bool {
			return p.Min < r.Max && r.Min < p.Max
		}) {
			j.verdict.Add(verdict.Violation{
				Signature: notHeeded, NS: c.ns,
				Broke: fmt.Sprintf("%s returned batch %d of query %s", node, batch, id),
				Because: []string{fmt.Sprintf("an entry of its log after %d and up to %d "+
					"announces the deletion of a range that the query may see", c.judged, arrived)},
				Events: []uint64{c.step},
			})
			break
		}
	}
	c.judged = max(c.judged, arrived)
}
