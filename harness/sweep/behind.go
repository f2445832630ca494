package sweep

import (
	"strings"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/point"
)

// Delay is an anchor that is let go just behind something that would come after it.
type Delay struct {
	Single
	// Cost is how many delays it takes: one for what comes next, two for what comes behind that.
	Cost int
}

// The sides of an anchor on which something comes next.
const (
	theirs   = iota // protocol steps of whoever would get the message, or of the other tasks where a task stands still
	others          // protocol steps of other nodes
	requests        // those of clients, at whoever would get the message
	sides
)

// MostDelays is how many delays are spent at most.
const MostDelays = 3

// Behind lists where the anchor can be let go in a run that had these occasions, the cheapest first: behind the first step of each
// side after it, the second and the third. A step that waits for the anchor never comes; then the anchor is kept back to
// the end, and the occasions of that run are those that come without it.
func (a *Anchor) Behind(run []Occasion) []Delay {
	receiver := a.receiver()
	var next [sides][]Delay
	before, known := make(map[stop]int), make(map[stop]bool)
	for i := range run {
		o := &run[i]
		if o.What != Passage {
			continue
		}
		at := stop{o.Site, o.Node}
		if before[at]++; i <= a.at {
			continue
		}
		if side := sideOf(o, receiver); side < sides && len(next[side]) < MostDelays && !known[at] {
			known[at] = true
			next[side] = append(next[side], Delay{a.behind(o, before[at]-a.passedBefore(run, at)), len(next[side]) + 1})
		}
	}
	return cheapest(next)
}

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

func sideOf(o *Occasion, receiver string) int {
	switch {
	case o.Role == point.Replica || o.Role == point.Router:
		return sides
	case o.Role == point.Request && o.Node == receiver:
		return requests
	case o.Role == point.Request:
		return sides
	case o.Node == receiver:
		return theirs
	}
	return others
}

// passedBefore is how many passages of a stop are not counted by the fault.
func (a *Anchor) passedBefore(run []Occasion, at stop) (n int) {
	if !a.fresh {
		return 0
	}
	for _, o := range run[:a.at+1] {
		if o.What == Passage && (stop{o.Site, o.Node}) == at {
			n++
		}
	}
	return n
}

func (a *Anchor) behind(o *Occasion, nth int) Single {
	one, fault := a.Single, *a.Fault
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
