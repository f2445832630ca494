package migrationmodel

import (
	"fmt"
	"math"
)

// Invariant is what holds in every state.
type Invariant struct {
	Name  string
	Holds func(State) bool
}

// Invariants are those of 8.0 (invariants 20); those of them that 4.2 does not promise are left out
// of its list.
func Invariants(p Protocol) []Invariant {
	all := []Invariant{
		{"at most one shard serves writes of the range", func(s State) bool {
			return !(serves(&s) && recipientServes.holds(&s))
		}},
		{"who serves writes owns the range by a majority of the config server",
			func(s State) bool {
				committed := s.Config == Committed && s.Sure
				return !(serves(&s) && committed) && (!recipientServes.holds(&s) || committed)
			}},
	}
	if p == V42 {
		return append(all, Invariant{"a donor deletes only what it does not own any more",
			func(s State) bool { return s.Task == NoTask || s.Config == Committed && s.Sure }})
	}
	return append(all, []Invariant{
		{"a decision is what the config server has, for good", func(s State) bool {
			switch s.Record {
			case RecordCommitted:
				return s.Config == Committed && s.Sure
			case RecordAborted:
				return s.Config != Committed
			}
			return true
		}},
		{"a donor deletes only what it does not own any more", func(s State) bool {
			return s.Task < TaskReady || s.Task == Gone || s.Config == Committed && s.Sure
		}},
		{"a recipient deletes only what it will never own", func(s State) bool {
			return s.TheirTask < TaskReady || s.TheirTask == Gone || impossible(&s)
		}},
		{"a recipient that has answered blocks writes until the outcome is final",
			func(s State) bool {
				return !s.Sent || outcomeFinal.holds(&s) || s.Blocks
			}},
		{"nothing begins on the recipient after the end", func(s State) bool {
			late := s.Recipient == Ready && s.TheirTask == NoTask && s.Fenced
			return s.Record != Forgotten || (idle(&s) || late) && s.TheirTask != Pending
		}},
		{"while the outcome is open, the donor has it on record with its range deletion",
			func(s State) bool {
				return !s.Sent || outcomeFinal.holds(&s) ||
					s.Record == Undecided && s.Task == Pending
			}},
	}...)
}

// Ended says whether nothing of the migration is left to be done.
func Ended(s State) bool {
	atWork := s.Led && s.Donor != NoDonor && s.Donor != DonorOver
	return !atWork && s.Section == Open && (s.Record == NoRecord || s.Record == Forgotten) &&
		idle(&s) && !s.Blocks && !s.Receipt &&
		(s.Task == NoTask || s.Task == Gone) && (s.TheirTask == NoTask || s.TheirTask == Gone)
}

// Graph is every state that can be reached.
type Graph struct {
	model  *Model
	States []State
	index  map[State]int
	// parent and by are how a state was reached first.
	parent []int
	by     []*action
	edges  int
}

// Explore visits every state, breadth first, so that a walk to one is as short as any.
func (m *Model) Explore() *Graph { return m.explore(math.MaxInt) }

// explore ends early when there are more states than that.
func (m *Model) explore(most int) *Graph {
	g := &Graph{model: m, index: map[State]int{}}
	for _, s := range m.initial {
		g.visit(s, -1, nil)
	}
	for i := 0; i < len(g.States) && len(g.States) <= most; i++ {
		for j := range m.actions {
			if a := &m.actions[j]; a.enabled(&g.States[i]) {
				next := g.States[i]
				a.then(&next)
				g.edges++
				g.visit(next, i, a)
			}
		}
	}
	return g
}

func (g *Graph) visit(s State, from int, by *action) {
	if _, known := g.index[s]; known {
		return
	}
	g.index[s] = len(g.States)
	g.States = append(g.States, s)
	g.parent, g.by = append(g.parent, from), append(g.by, by)
}

// Edges is how many actions can be taken, over all states.
func (g *Graph) Edges() int { return g.edges }

// Broken is the first state in which the invariant does not hold; ok is false when there is none.
func (g *Graph) Broken(i Invariant) (at int, ok bool) {
	for at, s := range g.States {
		if !i.Holds(s) {
			return at, true
		}
	}
	return 0, false
}

// Walk is a shortest walk to a state: an action a line, and the state that it ends in.
func (g *Graph) Walk(at int) (lines []string) {
	lines = []string{g.States[at].String()}
	for ; g.parent[at] >= 0; at = g.parent[at] {
		lines = append([]string{g.by[at].title()}, lines...)
	}
	for i := range lines {
		lines[i] = fmt.Sprintf("%2d  %s", i+1, lines[i])
	}
	return lines
}

// Dead is the first state from which the migration cannot end, whatever its parties do, unless
// another fault helps; ok is false when there is none.
func (g *Graph) Dead() (at int, ok bool) {
	before := make([][]int, len(g.States))
	for i, s := range g.States {
		for j := range g.model.actions {
			a := &g.model.actions[j]
			if isFault(a.step) || !a.enabled(&s) {
				continue
			}
			next := s
			a.then(&next)
			before[g.index[next]] = append(before[g.index[next]], i)
		}
	}
	return firstNot(g.States, before)
}

// firstNot is the first state that no ended one can be reached from.
func firstNot(states []State, before [][]int) (at int, ok bool) {
	ends := make([]bool, len(states))
	var pending []int
	for i, s := range states {
		if ends[i] = Ended(s); ends[i] {
			pending = append(pending, i)
		}
	}
	for len(pending) > 0 {
		i := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, from := range before[i] {
			if !ends[from] {
				ends[from] = true
				pending = append(pending, from)
			}
		}
	}
	for i := range ends {
		if !ends[i] {
			return i, true
		}
	}
	return 0, false
}

func isFault(s Step) bool {
	return s == DonorFailsOver || s == RecipientFailsOver || s == ConfigFailsOver
}
