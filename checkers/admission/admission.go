// Package admission judges whether members of shards refuse migrations that they must refuse.
//
// Promise: a member that starts a migration which it must refuse is found at that moment, whether
// or not harm comes of it. Most of these limits protect a real cluster from load: no data would
// show that they were exceeded.
//
// Refusal: it reads no data itself; its caller says how many documents a range has, and in which
// migrations a member takes part.
package admission

import (
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// rule is admission (protocol 4 step 2, 5.1 S3; errata E9).
var rule = verdict.Checker{
	Name: "admission",
	Promise: "A member takes part in one migration at a time, as its donor or its recipient. A " +
		"donor hands over no range that has more documents than a chunk may have, unless an " +
		"operator has it moved by force.",
	Signatures: verdict.Meanings{
		twoAtOnce: "a member took part in two migrations at the same time",
		tooBig:    "a donor moved a range that was too big, although that was not forced",
	},
}

const (
	twoAtOnce verdict.Signature = "two-migrations-at-once"
	tooBig    verdict.Signature = "too-big-not-refused"
)

// Catalog is the only checker of this package.
func Catalog() []verdict.Checker { return []verdict.Checker{rule} }

// request is what donors were asked for under one name: of several requests, what allows most.
type request struct {
	forced bool
	bytes  int64
}

// Judge follows what is asked for and what begins. Make it with New.
type Judge struct {
	last  func(node string) uint64
	parts func(node string) []string
	// requests has the requests by name. By migration, named has the name of its request, and
	// attached has where the log of its donor ended when it began to clone.
	requests map[string]request
	named    map[string]string
	attached map[string]uint64
	verdict  verdict.Verdict
}

// New returns a Judge. It asks last where the log of a node ends, and parts in which migrations the
// node takes part.
func New(last func(node string) uint64, parts func(node string) []string) *Judge {
	return &Judge{
		last: last, parts: parts, requests: map[string]request{}, named: map[string]string{},
		attached: map[string]uint64{}, verdict: rule.Begin(),
	}
}

// Verdict is the conclusion so far.
func (j *Judge) Verdict() verdict.Verdict { return j.verdict }

// Asked is called when a donor is asked to move a range: by force or not, and with the greatest
// size of a chunk in bytes; 0 stands for the donor's own setting.
func (j *Judge) Asked(name string, forced bool, bytes int64) {
	r := j.requests[name]
	j.requests[name] = request{r.forced || forced, max(r.bytes, bytes)}
}

// Observe takes the next event.
func (j *Judge) Observe(e *trace.Event) {
	switch {
	case e.Kind == trace.MigrationRequested:
		j.named[e.Migration()] = e.Request()
		j.judgeParts(e)
	case e.Kind == trace.RecipientAdvanced && e.RecipientState() == trace.RecipientReady:
		j.judgeParts(e)
	case e.Kind == trace.DonorAdvanced && e.DonorState() == trace.DonorCloning:
		j.attached[e.Migration()] = j.last(e.Node)
	}
}

// judgeParts judges a member that begins to take part in a migration.
func (j *Judge) judgeParts(e *trace.Event) {
	j.verdict.Checked++
	parts := j.parts(e.Node)
	if len(parts) < 2 {
		return
	}
	j.verdict.Add(verdict.Violation{
		Signature: twoAtOnce, NS: e.NS,
		Broke:   fmt.Sprintf("%s begins to take part in migration %s", e.Node, e.Migration()),
		Because: []string{"it is now the " + strings.Join(parts, ", and the ")},
		Events:  []uint64{e.Step},
	})
}

// Cloning says where the log of a donor ended when it began to clone for a migration, and which
// size of chunks its request named, 0 for none. The last result is false when these are not known,
// or when the size of the range does not matter.
func (j *Judge) Cloning(migration string) (after uint64, bytes int64, limited bool) {
	name, asked := j.named[migration]
	after, begun := j.attached[migration]
	r, known := j.requests[name]
	return after, r.bytes, asked && begun && known && !r.forced
}

// HandsOver judges a donor that tells its recipient to begin: documents is how many the range has,
// most is how many it may have.
func (j *Judge) HandsOver(node, migration, ns string, documents, most int64) {
	j.verdict.Checked++
	if documents <= most {
		return
	}
	j.verdict.Add(verdict.Violation{
		Signature: tooBig, NS: ns,
		Broke: fmt.Sprintf("%s tells the recipient of migration %s to begin", node, migration),
		Because: []string{fmt.Sprintf("the range has at least %d documents, and a chunk has room for "+
			"%d at most", documents, most)},
	})
}
