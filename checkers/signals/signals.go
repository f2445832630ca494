// Package signals judges whether a donor's secondaries are told in time that what they know of a
// placement is about to change.
//
// Promise: a donor that asks for its commit without having told them since it blocked writes is
// found at once, whether or not anybody reads from a secondary. Judged from the log of the donor,
// which is all that secondaries go by.
//
// Refusal: it does not know whether secondaries heed the signal; reads that they answer show that.
package signals

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// rule is signal (protocol 4 step 8, 17).
var rule = verdict.Checker{
	Name: "signal",
	Promise: "Between the moment when a donor blocks writes and its request for the commit, its " +
		"log tells its secondaries to forget the placement: one that forgets it earlier may read " +
		"the old one again, and one that does not would go by it after the commit.",
	Signatures: verdict.Meanings{
		notTold: "a donor asked for the commit of a migration without having told its " +
			"secondaries since it blocked writes",
	},
}

const notTold verdict.Signature = "secondaries-not-told"

// Catalog is the only checker of this package.
func Catalog() []verdict.Checker { return []verdict.Checker{rule} }

// Log is the log of a node.
type Log interface {
	// Last is the index of the newest entry, 0 for none.
	Last() uint64
	// Tells says whether one of the entries behind an index has secondaries forget the placement
	// of a collection, or whether the log may have had one there that it has forgotten.
	Tells(ns string, behind uint64) bool
}

// Judge follows the donors.
type Judge struct {
	log func(node string) Log
	// blocked is what the log of a donor ended with when it blocked writes, by node and migration.
	blocked map[[2]string]uint64
	verdict verdict.Verdict
}

// New returns a judge who looks at the logs of nodes; that of a node which is down may be nil.
func New(log func(node string) Log) *Judge {
	return &Judge{log: log, blocked: map[[2]string]uint64{}, verdict: rule.Begin()}
}

// Verdict is the conclusion so far.
func (j *Judge) Verdict() verdict.Verdict { return j.verdict }

// Observe takes the next event.
func (j *Judge) Observe(e *trace.Event) {
	if e.Kind != trace.DonorAdvanced {
		return
	}
	of := [2]string{e.Node, e.Migration()}
	log := j.log(e.Node)
	switch state := e.DonorState(); {
	case log == nil || state.Terminal():
		delete(j.blocked, of)
	case state == trace.DonorCriticalSection:
		j.blocked[of] = log.Last()
	case state == trace.DonorCommittingOnConfig:
		j.judge(e, log, of)
	}
}

func (j *Judge) judge(e *trace.Event, log Log, of [2]string) {
	since, blocks := j.blocked[of]
	if !blocks {
		return
	}
	j.verdict.Checked++
	if log.Tells(e.NS, since) {
		return
	}
	j.verdict.Add(verdict.Violation{
		Signature: notTold, NS: e.NS,
		Broke: fmt.Sprintf("%s asks for the commit of migration %s", e.Node, e.Migration()),
		Because: []string{fmt.Sprintf("it blocked writes when its log ended with entry %d, and none "+
			"of those up to %d tells its secondaries to forget the placement", since, log.Last())},
		Events: []uint64{e.Step},
	})
}
