// Package signals judges whether a donor's secondaries are told in time that what they know of a
// placement is about to change.
//
// Promise: a donor that requests its commit without having told its secondaries since it blocked
// writes is found at once, whether or not anybody reads from one. It is judged by the donor's log,
// the only thing that secondaries see.
//
// Refusal: it does not know whether secondaries obey the signal; others judge what they answer.
package signals

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// rule is signal (protocol 4 step 8, 17).
var rule = verdict.Checker{
	Name: "signal",
	Promise: "After a donor blocks writes and before it requests the commit, its log tells its " +
		"secondaries to discard their filtering metadata. A secondary that discards it " +
		"sooner may read the old metadata again; one that is never told would still use it " +
		"after the commit.",
	Signatures: verdict.Meanings{
		notTold: "a donor requested a commit without having told its secondaries, after it " +
			"blocked writes, to discard their routing tables",
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
		Broke: fmt.Sprintf("%s requests the commit of migration %s", e.Node, e.Migration()),
		Because: []string{fmt.Sprintf("its log ended with entry %d when it blocked writes, and no "+
			"later entry, up to %d, tells its secondaries to discard the routing table", since,
			log.Last())},
		Events: []uint64{e.Step},
	})
}
