package trace

import "strconv"

// NodeUpEvent: a process starts on the node.
type NodeUpEvent struct {
	// Incarnation counts the processes of the node, from 1.
	Incarnation int
}

// Event is the event that travels.
func (p NodeUpEvent) Event() *Event {
	return &Event{
		Kind: NodeUp, detail: strconv.Itoa(p.Incarnation),
	}
}

// NodeDownEvent: a crash.
type NodeDownEvent struct {
	// Incarnation is that of the process that died.
	Incarnation int
}

// Event is the event that travels.
func (p NodeDownEvent) Event() *Event {
	return &Event{
		Kind: NodeDown, detail: strconv.Itoa(p.Incarnation),
	}
}

// ProcessAbortedEvent: the process ends itself; NodeDown follows.
type ProcessAbortedEvent struct {
	// Why is the reason.
	Why string
}

// Event is the event that travels.
func (p ProcessAbortedEvent) Event() *Event {
	return &Event{
		Kind: ProcessAborted, detail: p.Why,
	}
}

// FaultEvent: a fault begins.
type FaultEvent struct {
	// Number is the fault's in the scenario.
	Number int
	// FaultKind is its name in the catalog.
	FaultKind string
	// Target is what it is aimed at.
	Target string
}

// Event is the event that travels.
func (p FaultEvent) Event() *Event {
	return &Event{
		Kind: Fault, number: p.Number, detail: p.FaultKind, Peer: p.Target,
	}
}

// RepairEvent: a fault is undone.
type RepairEvent struct {
	// Number is the fault's in the scenario.
	Number int
	// FaultKind is its name in the catalog.
	FaultKind string
	// Target is what it was aimed at.
	Target string
}

// Event is the event that travels.
func (p RepairEvent) Event() *Event {
	return &Event{
		Kind: Repair, number: p.Number, detail: p.FaultKind, Peer: p.Target,
	}
}

// PointHitEvent: a task passes a failpoint.
type PointHitEvent struct {
	// Site is the failpoint's name.
	Site string
	// Peer is the shard on the other side, if any.
	Peer string
	// Migration is the one that the task works for, if any.
	Migration string
	// N counts what the site counts.
	N int
	// Failed is set when chance or a fault has the step at the site fail.
	Failed bool
}

// Event is the event that travels.
func (p PointHitEvent) Event() *Event {
	e := &Event{
		Kind: PointHit, detail: p.Site, Peer: p.Peer, subject: p.Migration, number: p.N,
	}
	if p.Failed {
		e.amount = 1
	}
	return e
}

// ReachedEvent: a Sometimes probe was true.
type ReachedEvent struct {
	// Probe is its name.
	Probe string
	// N is a number for tests.
	N int
}

// Event is the event that travels.
func (p ReachedEvent) Event() *Event {
	return &Event{
		Kind: Reached, detail: p.Probe, number: p.N,
	}
}

// ChanceEvent: a fault that chance decided.
type ChanceEvent struct {
	Step uint64
	At   int64
	Node string
	// Question is the kind of the question at the choice gate.
	Question string
	// Receiver is that of the message, empty for another place.
	Receiver string
	// Place is the class of the message, or the place on the node.
	Place string
	// Occurrence counts the question at its place.
	Occurrence int
	// Answer is the answer.
	Answer int64
}

// Event is the event that travels.
func (p ChanceEvent) Event() *Event {
	return &Event{
		Kind: Chance, Step: p.Step, At: p.At, Node: p.Node, detail: p.Question, Peer: p.Receiver,
		subject: p.Place, number: p.Occurrence, amount: p.Answer,
	}
}
