package sweep

import (
	"fmt"
	"slices"
	"strings"
)

// Outcome is what came of one run of a sweep.
type Outcome struct {
	// Reached is true when every fault of the run happened.
	Reached bool
	// Signature is that of a failure; empty: every promise held.
	Signature string
}

// String is the outcome as a word of a journal: "held", "missed" or the signature of a failure.
func (o Outcome) String() string {
	switch {
	case o.Signature != "":
		return o.Signature
	case o.Reached:
		return "held"
	}
	return "missed"
}

// ParseOutcome is the inverse of String.
func ParseOutcome(word string) Outcome {
	switch word {
	case "held":
		return Outcome{Reached: true}
	case "missed":
		return Outcome{}
	}
	return Outcome{Reached: true, Signature: word}
}

// Matrix counts outcomes by phase, actor and kind of fault.
type Matrix struct {
	Runs, Reached, Broke int
	cells                map[cell]*tally
	phases, actors       []string
}

type cell struct{ phase, actor, kind string }

type tally struct{ reached, held int }

// NewMatrix returns an empty matrix of a plan, with its phases in the order in which they came.
func NewMatrix(p *Plan) *Matrix {
	m := &Matrix{cells: make(map[cell]*tally)}
	for i := range p.Singles {
		s := &p.Singles[i]
		if !slices.Contains(m.phases, s.Phase) {
			m.phases = append(m.phases, s.Phase)
		}
		if !slices.Contains(m.actors, s.Actor) {
			m.actors = append(m.actors, s.Actor)
		}
	}
	slices.Sort(m.actors)
	return m
}

// Add counts the outcome of a run in which these faults were planned.
func (m *Matrix) Add(o Outcome, planned ...*FaultCase) {
	m.Runs++
	if o.Reached {
		m.Reached++
	}
	if o.Signature != "" {
		m.Broke++
	}
	for _, s := range planned {
		if o.Reached {
			m.count(s, o.Signature == "")
		}
	}
}

func (m *Matrix) count(s *FaultCase, held bool) {
	at := cell{s.Phase, s.Actor, s.Kind}
	if m.cells[at] == nil {
		m.cells[at] = &tally{}
	}
	m.cells[at].reached++
	if held {
		m.cells[at].held++
	}
}

// String is the matrix as a Markdown table: a row for each phase and actor, and in each cell how
// many faults happened and how many of these runs held every promise, as one number when they all
// did.
func (m *Matrix) String() string {
	var b strings.Builder
	var kinds []string
	for _, k := range Kinds {
		if m.sum(func(c cell) bool { return c.kind == k }).reached > 0 {
			kinds = append(kinds, k)
		}
	}
	fmt.Fprintf(&b, "| phase | actor | %s | all |\n|%s\n",
		strings.Join(kinds, " | "), strings.Repeat(" --- |", len(kinds)+3))
	for _, phase := range m.phases {
		for _, actor := range m.actors {
			row := m.sum(func(c cell) bool { return c.phase == phase && c.actor == actor })
			if row.reached == 0 {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s |", phase, actor)
			for _, kind := range kinds {
				fmt.Fprintf(&b, " %s |",
					m.sum(func(c cell) bool { return c == cell{phase, actor, kind} }))
			}
			fmt.Fprintf(&b, " %s |\n", row)
		}
	}
	return b.String()
}

func (t tally) String() string {
	switch {
	case t.reached == 0:
		return ""
	case t.reached == t.held:
		return fmt.Sprint(t.held)
	}
	return fmt.Sprintf("**%d of %d**", t.held, t.reached)
}

// sum adds up the cells that are wanted.
func (m *Matrix) sum(wanted func(cell) bool) (all tally) {
	//shardproof:allow map sums do not depend on the order
	for c, t := range m.cells {
		if wanted(c) {
			all.reached += t.reached
			all.held += t.held
		}
	}
	return all
}
