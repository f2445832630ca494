package endstate

import "github.com/shardproof/shardproof/checkers/verdict"

// Probes judges what was tried after everything had come to rest (K-PROBE).
var Probes = verdict.Checker{
	Name: "probes",
	Promise: "When everything has come to rest nothing is stuck: a range can be split, moved to " +
		"another shard and back, and merged; in 4.2, a shard checks whether to split a chunk " +
		"that is written to; a collection can be changed; a session's newest statement is " +
		"answered from its record and a next one is executed; and a scan can be opened and " +
		"closed.",
	Signatures: verdict.Meanings{
		probeFailed:       "what must be possible was refused, or not answered",
		probeForgotten:    "a session's newest statement was executed again",
		probeNotCompleted: "the probes did not end in time",
	},
}

// The signatures of its violations.
const (
	probeFailed       verdict.Signature = "probe-failed"
	probeForgotten    verdict.Signature = "statement-executed-again"
	probeNotCompleted verdict.Signature = "probe-not-finished"
)

// Trial is one thing that was tried.
type Trial struct {
	// What is a clause for people, such as "move k=5 of test.docs to shard-b"; NS the collection,
	// Key the key, empty when it is about no single one.
	What, NS, Key string
	// Refused says why it was not done; empty when it was.
	Refused string
	// Ranges are the encoded shard keys that it was refused for, when that is known.
	Ranges []verdict.KeyRange
	// Again: a statement that had been executed was executed once more.
	Again bool
}

// Trials are all that were made. Open names those that have no answer.
type Trials struct {
	Made []Trial
	Open []string
}

// Check judges the trials.
func (p *Trials) Check() verdict.Verdict {
	v := Probes.Begin()
	v.Checked = len(p.Made)
	const rest = "all faults had been repaired, and nothing was in progress"
	for _, made := range p.Made {
		switch {
		case made.Again:
			v.Add(verdict.Violation{Signature: probeForgotten, NS: made.NS, Key: made.Key,
				Broke:   "to " + made.What + " executed it again",
				Because: []string{"it had been acknowledged, and the session has gone no further"}})
		case made.Refused != "":
			v.Add(verdict.Violation{Signature: probeFailed, NS: made.NS, Key: made.Key,
				Ranges: made.Ranges, Broke: "it was not possible to " + made.What,
				Because: []string{"the answer was " + made.Refused, rest}})
		}
	}
	for _, what := range p.Open {
		v.Add(verdict.Violation{Signature: probeNotCompleted,
			Broke: "there was no answer to the attempt to " + what, Because: []string{rest}})
	}
	return v
}
