package sweep

import (
	"strings"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Delay is an anchor that is let go just behind something that would come after it.
type Delay struct {
	FaultCase
	// Cost is how many delays it takes: one for what comes next, two for what comes behind that.
	Cost int
}

// What comes next is another thing to each of these: the coarser ones first, as most bugs want something to be very late.
const (
	moves    = iota // the end of the move under way, for which a delay has everything of it pass by
	phases          // its next phase
	theirs          // the protocol steps of whoever would get the message, or of the other tasks where a task stands still
	others          // the protocol steps of other nodes
	requests        // those of clients, at whoever would get the message
	sides
)

// MostDelays is how many delays are spent at most.
const MostDelays = 3

// Behind lists where the anchor can be let go in a run that had these occasions, the cheapest first: behind what comes next on each
// side, behind the second thing there, and the third. A step that waits for the anchor never comes; then the anchor is kept back to
// the end, and the occasions of that run are those that come without it.
func (a *Anchor) Behind(run []InjectionPoint) []Delay {
	receiver, phase := a.receiver(), a.Phase
	var next [sides][]Delay
	passed, listed := make(map[stop]int), make(map[stop]bool)
	for i := range run {
		o := &run[i]
		at := stop{o.Site, o.Node}
		if o.What != Passage || i <= a.at && a.fresh {
			continue
		}
		if passed[at]++; i <= a.at {
			continue
		}
		side := sideOf(o, receiver)
		switch {
		case side == sides:
			continue
		case side != requests && o.Phase != phase:
			if phase = o.Phase; ends[phase] {
				side = moves
			} else {
				side = phases
			}
		case listed[at]:
			continue
		}
		if len(next[side]) < MostDelays {
			listed[at] = true
			next[side] = append(next[side], Delay{a.behind(o, passed[at]), len(next[side]) + 1})
		}
	}
	return cheapest(next)
}

// ends are the phases with which a move is over.
var ends = map[string]bool{"kDone": true, "done": true, "aborted": true}

// stop is where an anchor can be let go.
type stop struct{ site, node string }

// receiver is the node for which a message is, or on which the task stands.
func (a *Anchor) receiver() string {
	if a.Fault.When.Node != "" {
		return a.Fault.When.Node
	}
	_, to, _ := strings.Cut(a.Fault.Target, ">")
	return to
}

func sideOf(o *InjectionPoint, receiver string) int {
	switch {
	case o.Role == failpoint.Replica || o.Role == failpoint.Router:
		return sides
	case o.Role == failpoint.Request && o.Node == receiver:
		return requests
	case o.Role == failpoint.Request:
		return sides
	case o.Node == receiver:
		return theirs
	}
	return others
}

func (a *Anchor) behind(o *InjectionPoint, nth int) FaultCase {
	one, fault := a.FaultCase, *a.Fault
	fault.Until = &scenario.Trigger{Site: o.Site, Nth: nth, Node: o.Node}
	one.Fault = &fault
	return one
}

func cheapest(next [sides][]Delay) (all []Delay) {
	for cost := range MostDelays {
		for _, of := range next {
			if cost < len(of) {
				all = append(all, of[cost])
			}
		}
	}
	return all
}
