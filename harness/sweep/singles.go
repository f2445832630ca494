package sweep

import (
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// How long things take that a fault stops: longer than an election, and than what others wait for.
const (
	down  = 500 * time.Millisecond
	still = 300 * time.Millisecond
	late  = 300 * time.Millisecond
)

// all is more bytes than a crash can meet unsynced.
const all = 1 << 30

// Kinds are the sorts of faults, in the order of the table.
var Kinds = []string{"crash", "crash-kept", "stepdown", "partition", "pause", "error", "kill", "lost", "lost-reply", "duplicate", "late", "slow-write", "held", "copy-held", "paused"}

// singles are the faults that make sense at an occasion.
func singles(o *InjectionPoint) []FaultCase {
	switch o.What {
	case Message:
		return ofMessage(o)
	case Write:
		return []FaultCase{o.decide("slow-write", "disk.delay", int64(late))}
	}
	return ofPassage(o)
}

// ofMessage loses it, loses the answer to it, doubles it, or has it come late.
func ofMessage(o *InjectionPoint) []FaultCase {
	some := []FaultCase{o.decide("lost", "net.loss", 1), o.decide("late", "net.delay", int64(late))}
	if o.Call {
		some = append(some, o.decide("lost-reply", "net.replyLoss", 1))
	}
	if o.Doubles {
		some = append(some, o.decide("duplicate", "net.duplicate", 1))
	}
	return some
}

func (o *InjectionPoint) decide(kind, question string, answer int64) FaultCase {
	d := scenario.Decision{Kind: question, Site: o.Site, Occurrence: o.Nth, Answer: answer}
	return FaultCase{Kind: kind, Phase: o.Phase, Actor: o.Actor, Decisions: []scenario.Decision{d}}
}

// ofPassage befalls whoever passes the failpoint, and at those of a migration under way also the
// primaries of the others in it.
func ofPassage(o *InjectionPoint) []FaultCase {
	some := []FaultCase{o.fault("crash", "crash", o.Node, down), o.fault("partition", "partition", o.Node, down), o.fault("pause", "pause", "", still)}
	if o.Leads {
		some = append(some, o.fault("stepdown", "stepdown", o.Node, 0))
	}
	if o.Role != failpoint.Replica {
		some = append(some, o.fault("error", "error", "", 0), o.fault("kill", "kill-operation", "", 0))
	}
	if o.Site == failpoint.ReplicaBeforeSync.String() {
		kept := o.fault("crash-kept", "crash", o.Node, down)
		kept.Decisions = []scenario.Decision{{Kind: "disk.survivingBytes", Site: o.Node + "/journal", Occurrence: 1, Answer: all}}
		some = append(some, kept)
	}
	if o.Role == failpoint.Replica || o.Role == failpoint.Request || o.Role == failpoint.Router || o.Phase == Before {
		return some
	}
	for _, other := range []string{"donor", "recipient", "config"} {
		if other != o.Actor {
			crash, stepdown := o.fault("crash", "crash", other+".primary", down), o.fault("stepdown", "stepdown", other+".primary", 0)
			crash.Actor, stepdown.Actor = other, other
			some = append(some, crash, stepdown)
		}
	}
	return some
}

func (o *InjectionPoint) fault(kind, fault, target string, last time.Duration) FaultCase {
	return FaultCase{Kind: kind, Phase: o.Phase, Actor: o.Actor, Fault: &scenario.Fault{
		ID: 1, Kind: fault, Target: target, For: last,
		When: scenario.Trigger{Site: o.Site, Nth: int(o.Nth), Node: o.Node},
	}}
}

// ActorOf is whose part a node has, when the donor and the recipient are these shards.
func ActorOf(node, donor, recipient string) string {
	switch set, _, _ := strings.Cut(node, "."); set {
	case donor:
		return "donor"
	case recipient:
		return "recipient"
	case "config", "router", "client":
		return set
	}
	return "other"
}
