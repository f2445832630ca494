package sweep

import (
	"time"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/sim"
)

// How long things take that a fault stops: longer than an election, and than what others wait for.
const (
	downTime  = 500 * time.Millisecond
	pauseTime = 300 * time.Millisecond
	delayTime = 300 * time.Millisecond
)

// everyByte is more bytes than a crash can meet unsynced.
const everyByte = 1 << 30

// Kinds are the sorts of faults, in the order of the table.
var Kinds = []string{
	"crash", "crash-kept", "stepdown", "partition", "pause", "error", "kill", "lost", "lost-reply",
	"duplicate", "late", "slow-write", "held", "copy-held", "paused",
}

// casesAt are the faults that make sense at an injection point.
func casesAt(o *runner.InjectionPoint) []FaultCase {
	switch o.What {
	case runner.MessageSent:
		return messageCases(o)
	case runner.WriteBegun:
		return []FaultCase{decisionAt(o, "slow-write", sim.DiskTail, int64(delayTime))}
	}
	return failpointCases(o)
}

// messageCases loses it, loses the answer to it, doubles it, or has it come late.
func messageCases(o *runner.InjectionPoint) []FaultCase {
	some := []FaultCase{
		decisionAt(o, "lost", sim.Loss, 1), decisionAt(o, "late", sim.Tail, int64(delayTime)),
	}
	if o.Call {
		some = append(some, decisionAt(o, "lost-reply", sim.LoseReply, 1))
	}
	if o.Doubles {
		some = append(some, decisionAt(o, "duplicate", sim.Duplicate, 1))
	}
	return some
}

func decisionAt(o *runner.InjectionPoint, kind, question string, answer int64) FaultCase {
	d := scenario.Decision{Kind: question, Site: o.Site, Occurrence: o.Nth, Answer: answer}
	return FaultCase{Kind: kind, Phase: o.Phase, Actor: o.Actor, Decisions: []scenario.Decision{d}}
}

// failpointCases hit the node that passes the failpoint, and at those of a migration in progress
// also the primaries of the others in it.
func failpointCases(o *runner.InjectionPoint) []FaultCase {
	some := []FaultCase{
		faultAt(o, "crash", "crash", o.Node, downTime), faultAt(o, "partition", "partition", o.Node,
			downTime), faultAt(o, "pause", "pause", "", pauseTime),
	}
	if o.Leads {
		some = append(some, faultAt(o, "stepdown", "stepdown", o.Node, 0))
	}
	if o.Role != failpoint.Replica {
		some = append(some, faultAt(o, "error", "error", "", 0),
			faultAt(o, "kill", "kill-operation", "", 0))
	}
	if o.Site == failpoint.ReplicaBeforeSync.String() {
		kept := faultAt(o, "crash-kept", "crash", o.Node, downTime)
		kept.Decisions = []scenario.Decision{{
			Kind:       sim.Kept,
			Site:       o.Node + "/journal",
			Occurrence: 1,
			Answer:     everyByte,
		}}
		some = append(some, kept)
	}
	if o.Role == failpoint.Replica || o.Role == failpoint.Request || o.Role == failpoint.Router ||
		o.Phase == runner.BeforeMoves {
		return some
	}
	for _, other := range []string{"donor", "recipient", "config"} {
		if other != o.Actor {
			crash, stepdown := faultAt(o, "crash", "crash", other+".primary", downTime),
				faultAt(o, "stepdown", "stepdown", other+".primary", 0)
			crash.Actor, stepdown.Actor = other, other
			some = append(some, crash, stepdown)
		}
	}
	return some
}

func faultAt(o *runner.InjectionPoint, kind, fault, target string, last time.Duration) FaultCase {
	return FaultCase{Kind: kind, Phase: o.Phase, Actor: o.Actor, Fault: &scenario.Fault{
		ID: 1, Kind: fault, Target: target, For: last,
		When: scenario.Trigger{Site: o.Site, Nth: int(o.Nth), Node: o.Node},
	}}
}
