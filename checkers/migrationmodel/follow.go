package migrationmodel

import (
	"slices"
	"strings"
)

// Follower keeps up with a migration of a run: it knows the steps that could be seen, and with them
// the states in which the migration may be.
type Follower struct {
	model  *Model
	states []State
	// at is the state that takes the fewest unseen actions to explain what was seen.
	at State
}

// Follow begins with nothing seen.
func (m *Model) Follow() *Follower {
	f := &Follower{model: m, states: slices.Clone(m.initial)}
	f.settle()
	return f
}

// settle adds what unseen actions may have led to.
func (f *Follower) settle() {
	f.at = f.states[0]
	for i := 0; i < len(f.states); i++ {
		for _, a := range f.model.hidden {
			if !a.enabled(&f.states[i]) {
				continue
			}
			next := f.states[i]
			a.then(&next)
			f.add(next)
		}
	}
}

func (f *Follower) add(s State) {
	if !slices.Contains(f.states, s) {
		f.states = append(f.states, s)
	}
}

// Take takes a step that was seen. It returns nil when some state allows it; otherwise nothing
// changes, and the refusal says what the model has against it.
func (f *Follower) Take(step Step) *Refusal {
	if f.changesNothing(step) {
		return nil
	}
	before := f.states
	f.states = nil
	f.advance(before, step)
	if f.states == nil {
		f.states = before
		return f.refuse(step)
	}
	f.settle()
	return nil
}

// TakeOrNot takes a step that was seen and may have been none of the migration's: every state stays
// possible, and what the step makes of those that allow it becomes so.
func (f *Follower) TakeOrNot(step Step) {
	f.advance(slices.Clone(f.states), step)
	f.settle()
}

// advance adds what a step makes of those states that allow it.
func (f *Follower) advance(states []State, step Step) {
	for i := range states {
		for _, a := range f.model.seen[step] {
			if a.enabled(&states[i]) {
				next := states[i]
				a.then(&next)
				f.add(next)
			}
		}
	}
}

// changesNothing: it is a client's write, and every state allows it.
func (f *Follower) changesNothing(step Step) bool {
	if step != DonorServes && step != RecipientServes {
		return false
	}
	for i := range f.states {
		for _, a := range f.model.seen[step] {
			if !a.enabled(&f.states[i]) {
				return false
			}
		}
	}
	return len(f.model.seen[step]) > 0
}

// Refusal is why a step is not the model's.
type Refusal struct {
	Step Step
	// State is the one that comes closest to allowing it, Unless what it lacks.
	State  State
	Unless []string
	// Allowed are the steps that the model has instead, those of faults left out.
	Allowed []Step
}

func (f *Follower) refuse(step Step) *Refusal {
	r := &Refusal{Step: step, State: f.at}
	least := -1
	for i := range f.states {
		for _, a := range f.model.seen[step] {
			if lacks := a.lacks(&f.states[i]); least < 0 || len(lacks) < least {
				least, r.State, r.Unless = len(lacks), f.states[i], lacks
			}
		}
	}
	for _, other := range Steps() {
		if !isFault(other) && other != step && f.allows(other) {
			r.Allowed = append(r.Allowed, other)
		}
	}
	return r
}

func (a *action) lacks(s *State) (all []string) {
	for _, c := range a.when {
		if !c.holds(s) {
			all = append(all, c.unless)
		}
	}
	return all
}

func (f *Follower) allows(step Step) bool {
	for i := range f.states {
		for _, a := range f.model.seen[step] {
			if a.enabled(&f.states[i]) {
				return true
			}
		}
	}
	return false
}

// Because are the reasons of the refusal as sentences.
func (r *Refusal) Because() []string {
	all := slices.Clone(r.Unless)
	if len(all) == 0 {
		all = append(all, "the protocol has no such step")
	}
	all = append(all, "as far as could be seen: "+r.State.String())
	var names []string
	for _, s := range r.Allowed {
		names = append(names, s.String())
	}
	if len(names) > 0 {
		all = append(all, "allowed were: "+strings.Join(names, "; "))
	}
	return all
}
