package runner

import (
	"strings"
	"time"

	"github.com/shardproof/shardproof/system/failpoint"
)

// PointKind is the sort of an injection point.
type PointKind uint8

// The sorts.
const (
	FailpointPassed PointKind = iota // of a failpoint
	MessageSent                      // sets out
	WriteBegun                       // that makes data durable begins
)

// InjectionPoint is a moment of a run at which a fault can happen.
type InjectionPoint struct {
	What PointKind
	// At counts from when the clients began.
	At time.Duration
	// Site is the failpoint, or the site of the gate's questions: "from>to/class" or
	// "node/operation".
	Site string
	// Nth counts the node's passages of a failpoint from when the clients began, or the gate's
	// questions from the start.
	Nth uint64
	// Node is who passes, sends or writes, Role that of the failpoint.
	Node string
	Role failpoint.Role
	// Leads is true when the node was the primary of its replica set.
	Leads bool
	// Class is the class of a message, and Steering its degree of faults.Steering.
	Class    string
	Steering int
	// Call is true for a request, Reply for the answer to one, Doubles for a message that the
	// network may deliver twice.
	Call, Reply, Doubles bool
	// Phase is what was going on, Actor whose part the node has in it.
	Phase, Actor string
}

// BeforeMoves is the phase before anything moves.
const BeforeMoves = "before"

// actorOf is whose part a node has, when the donor and the recipient are these shards.
func actorOf(node, donor, recipient string) string {
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
