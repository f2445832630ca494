package linearize

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// Limits bound a search, which may be exponential.
type Limits struct {
	// Steps is about how many steps one search may take, 0 for any number. Unlike the limit of
	// time, this one is reached on every machine or on none.
	Steps int
	// Time is the longest one search may take; Acts is the longest history of a key that porcupine
	// searches at all, since the memory for that grows with its square.
	Time time.Duration
	Acts int
	// Stop names the limit that was reached meanwhile, such as that of memory; nil for none.
	Stop func() string
}

// Found is what a search has found. Exceeded says which limit left it Open. Core is the part of the
// acts that a Contradiction follows from, whatever the others noticed.
type Found struct {
	Answer   Answer
	Exceeded string
	Core     []int32
}

func open(format string, args ...any) Found { return Found{Exceeded: fmt.Sprintf(format, args...)} }

// Search decides whether an order explains the key: by following the events in time, or, where too
// much happens at a time, by porcupine. What it needs not to know is left out: acts of unknown
// outcome that nobody saw, unless somebody's failed condition may have met them.
func (k *Key) Search(limits Limits) Found {
	acts, of := k.searched()
	switch {
	case k.Places > mostNames:
		return open("its collection had %d names, and a search follows %d at most",
			k.Places, mostNames)
	case limits.Time <= 0:
		return open("no time was left to search its operations")
	}
	spec := k.specification()
	t := newTimer(limits)
	switch answer, stuck := follow(spec, acts, t.stopped); {
	case answer == Contradiction:
		return Found{Answer: Contradiction, Core: coreOf(spec, acts, of, stuck, t)}
	case answer == Explained:
		return Found{Answer: Explained}
	case t.limit != "":
		return open("the search of its %d operations was ended by %s", len(acts), t.limit)
	case len(acts) > limits.Acts:
		return open("too much happens at a time, and its %d operations are more than the %d that "+
			"a search may then have", len(acts), limits.Acts)
	}
	return porcupineFinds(spec, acts, of, t)
}

// timer says when a search has to end, and why.
type timer struct {
	Limits
	end   time.Time
	taken int
	limit string
}

func newTimer(limits Limits) *timer {
	//shardproof:allow call a limit of time is of the real world; it can only make a key undecided
	return &timer{Limits: limits, end: time.Now().Add(limits.Time)}
}

// stopped counts the steps since it was last asked, and says whether the search has to end.
func (t *timer) stopped(steps int) bool {
	t.taken += steps
	switch {
	case t.limit != "":
	case t.Steps > 0 && t.taken > t.Steps:
		t.limit = fmt.Sprintf("the limit of %d steps", t.Steps)
	//shardproof:allow call a limit of time is of the real world; it can only make a key undecided
	case !time.Now().Before(t.end):
		t.limit = fmt.Sprintf("the limit of time, %v", t.Time.Round(time.Millisecond))
	case t.Stop != nil:
		t.limit = t.Stop()
	}
	return t.limit != ""
}

// porcupineFinds searches in another way, which needs more memory and can undo its choices.
func porcupineFinds(spec *specification, acts []KeyOp, of []int32, t *timer) Found {
	ops := make([]porcupine.Operation, len(acts))
	for i := range acts {
		a := &acts[i]
		ops[i] = porcupine.Operation{
			ClientId: i, Input: a, Call: int64(a.Call), Return: int64(max(a.Call, a.Return)),
		}
	}
	//shardproof:allow call a limit of time is of the real world; it can only make a key undecided
	left := max(1, time.Until(t.end))
	answer := porcupine.CheckOperationsTimeout(spec.of(acts).model(t), ops, left)
	switch {
	case t.limit != "":
		return open("the search of its %d operations was ended by %s", len(ops), t.limit)
	case answer == porcupine.Ok:
		return Found{Answer: Explained}
	case answer == porcupine.Illegal:
		return Found{Answer: Contradiction, Core: of}
	}
	return open("the search of its %d operations took longer than %v", len(ops),
		t.Time.Round(time.Millisecond))
}

// model is the specification as porcupine asks for it. Where a limit is reached nothing is possible
// any more, which ends the search within a moment.
func (s *specification) model(t *timer) porcupine.Model {
	const asks = 1024
	steps := 0
	return porcupine.Model{
		Init: func() any { return documents{} },
		Step: func(state, input, _ any) (bool, any) {
			if steps++; steps%asks == 0 && t.stopped(asks) || t.limit != "" {
				return false, state
			}
			all, a := state.(documents), input.(*KeyOp)
			if !s.holds(&all, a) {
				return a.Maybe, state
			}
			return true, s.apply(all, a)
		},
		Hash: func(state any) uint64 {
			h := uint64(0)
			for _, d := range state.(documents) {
				h = h*31 + uint64(d.value)*0x9e3779b97f4a7c15 + uint64(d.list)*0xbf58476d1ce4e5b9
			}
			return h
		},
	}
}

// vague says whether somebody noticed something that is true of many states, or a document that has
// no name and may have been made by any push.
func (k *Key) vague() bool {
	for i := range k.Acts {
		a := &k.Acts[i]
		unnamed := a.See == Exactly && a.Seen == Unnamed && (a.Do != Leave || a.List == 0)
		if a.See == Present || a.See == Except || unnamed {
			return true
		}
	}
	return false
}

// searched are the acts that a search needs, and which of Acts they are. One of unknown outcome
// whose condition is not met did nothing; that it may do nothing in other states too needs no
// saying, since it may also come last.
func (k *Key) searched() (acts []KeyOp, of []int32) {
	keep, seen := k.Repeats || k.vague(), k.seenForCertain()
	acts, of = make([]KeyOp, 0, len(k.Acts)), make([]int32, 0, len(k.Acts))
	for i := range k.Acts {
		a := &k.Acts[i]
		if a.Maybe && (a.Do == Leave || !keep && a.Do != Remove && a.Do != Move) {
			continue
		}
		if seen != nil && a.Maybe && a.replacesUnseen(seen) {
			continue
		}
		acts, of = append(acts, *a), append(of, int32(i))
	}
	return acts, of
}

// seenForCertain says of each identity whether an act that certainly happened noticed it as a
// value; nil where lists or repeated identities make more of a state than that.
func (k *Key) seenForCertain() []bool {
	if k.Repeats || k.pushes() {
		return nil
	}
	seen := make([]bool, len(k.Names))
	for i := range k.Acts {
		if a := &k.Acts[i]; !a.Maybe && (a.See == Exactly || a.See == Except) {
			seen[a.Seen] = true
		}
	}
	return seen
}

// replacesUnseen: the act puts one value that nobody is certain to have seen in the place of
// another, which nobody can tell from nothing having happened.
func (a *KeyOp) replacesUnseen(seen []bool) bool {
	return a.Do.puts() && a.See == Exactly && a.Seen >= firstName && !seen[a.Seen] && !seen[a.Put]
}
