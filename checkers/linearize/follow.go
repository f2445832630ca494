package linearize

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
)

// The search that follows events in time. It keeps every possibility: a state, and which of the
// acts in progress have happened already. An act needs to have happened only when it returns, so
// that is when possibilities without it are extended by whatever may have come before (just-in-time
// linearization, after Lowe, Testing for Linearizability). What it needs grows with the acts in
// progress at a time, not with the length of the history.

// Bounds of what it follows: acts in progress, kinds of acts of unknown outcome, possibilities at a
// time.
const (
	mostInProgress    = 64
	mostUnknownKinds  = 16
	mostPossibilities = 1 << 14
	// askEvery is the number of steps between two questions whether it may go on.
	askEvery = 256
)

// possibility is one way in which everything so far may have gone. Used counts the acts of each
// kind of unknown outcome that have happened.
type possibility struct {
	possibleState
	used [mostUnknownKinds]uint8
}

// possibleState is what later acts can tell of a possibility.
type possibleState struct {
	state documents
	done  uint64
}

// unknownKind are acts of unknown outcome that do the same: which of them happened does not matter.
type unknownKind struct {
	act   KeyOp
	begun int
}

// follower is one such search.
type follower struct {
	spec *specification
	acts []KeyOp
	// slots are the acts in progress, reads which of them leave the state as it is, taken which
	// slots are in use; slotOf has the slot of each act.
	slots        [mostInProgress]*KeyOp
	reads, taken uint64
	slotOf       []int8
	unknown      []unknownKind
	now          []possibility
	// next and met are those of a return: in which the act has happened, and has not.
	next, met possibilities
	stopped   func(steps int) bool
	steps     int
}

// fewer says whether p has used no more acts of unknown outcome than q, of any kind: what q may do,
// p may then do as well.
func (p *possibility) fewer(q *possibility) bool {
	for i := range p.used {
		if p.used[i] > q.used[i] {
			return false
		}
	}
	return true
}

// possibilities is a set without those that others make needless.
type possibilities struct {
	all []possibility
	// last is the newest with a state, earlier the one before each; -1 for none.
	last    map[possibleState]int32
	earlier []int32
}

func (s *possibilities) empty() {
	if s.last == nil {
		s.last = map[possibleState]int32{}
	}
	clear(s.last)
	s.all, s.earlier = s.all[:0], s.earlier[:0]
}

func (s *possibilities) add(p possibility) {
	before, known := s.last[p.possibleState]
	if !known {
		before = -1
	}
	for i := before; i >= 0; i = s.earlier[i] {
		if s.all[i].fewer(&p) {
			return
		}
	}
	s.last[p.possibleState] = int32(len(s.all))
	s.all, s.earlier = append(s.all, p), append(s.earlier, before)
}

// least appends the possibilities that no other makes needless.
func (s *possibilities) least(kept []possibility) []possibility {
	for i := range s.all {
		if !s.needless(int32(i)) {
			kept = append(kept, s.all[i])
		}
	}
	return kept
}

// needless says whether one that came later needs less: else it would not have been added.
func (s *possibilities) needless(i int32) bool {
	p := &s.all[i]
	for n := s.last[p.possibleState]; n > i; n = s.earlier[n] {
		if s.all[n].fewer(p) {
			return true
		}
	}
	return false
}

// event is a call or a return.
type event struct {
	act     int32
	returns bool
}

// moment is when an act returns.
type moment struct {
	at  uint64
	act int32
}

// events are those of acts, in order; calls come before returns of the same time, which do not
// exclude each other. Calls are in order already.
func events(acts []KeyOp) iter.Seq[event] {
	returns := returnsOf(acts)
	return func(yield func(event) bool) {
		next := 0
		for i := range acts {
			for ; next < len(returns) && returns[next].at < acts[i].Call; next++ {
				if !yield(event{returns[next].act, true}) {
					return
				}
			}
			if !yield(event{int32(i), false}) {
				return
			}
		}
		for ; next < len(returns); next++ {
			if !yield(event{returns[next].act, true}) {
				return
			}
		}
	}
}

// returnsOf are the returns of acts in order.
func returnsOf(acts []KeyOp) []moment {
	returns := make([]moment, 0, len(acts))
	for i := range acts {
		if !acts[i].Maybe {
			returns = append(returns, moment{max(acts[i].Call, acts[i].Return), int32(i)})
		}
	}
	slices.SortFunc(returns, func(a, b moment) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.act, b.act)
	})
	return returns
}

// follow decides whether an order explains the acts, which are in the order of their calls. It
// answers Open when there is too much to follow, or when it was stopped. Stuck is the act at whose
// return nothing was possible any more. The acts are plain afterwards.
func follow(
	spec *specification, acts []KeyOp, stopped func(steps int) bool,
) (answer Answer, stuck int32) {
	spec.plain(acts)
	f := &follower{
		spec: spec.of(acts), acts: acts, slotOf: make([]int8, len(acts)), stopped: stopped,
		now: make([]possibility, 1),
	}
	for e := range events(acts) {
		if !e.returns {
			if !f.call(e.act) {
				return Open, 0
			}
			continue
		}
		switch possible, within := f.ret(e.act); {
		case !within:
			return Open, 0
		case !possible:
			return Contradiction, e.act
		}
	}
	return Explained, 0
}

// call lets an act begin; false when there are too many at a time.
func (f *follower) call(i int32) bool {
	a := &f.acts[i]
	if a.Maybe {
		return f.begin(a)
	}
	slot := bits.TrailingZeros64(^f.taken)
	if slot == mostInProgress {
		return false
	}
	f.slots[slot], f.slotOf[i] = a, int8(slot)
	f.taken |= 1 << slot
	if a.Do == Leave {
		f.reads |= 1 << slot
		for n := range f.now {
			f.look(&f.now[n], 1<<slot)
		}
	}
	return true
}

// begin adds an act of unknown outcome.
func (f *follower) begin(a *KeyOp) bool {
	kind := *a
	kind.Op, kind.Call, kind.Return, kind.List, kind.Settled = 0, 0, 0, 0, false
	for i := range f.unknown {
		if f.unknown[i].act == kind {
			f.unknown[i].begun++
			return true
		}
	}
	f.unknown = append(f.unknown, unknownKind{kind, 1})
	return len(f.unknown) <= mostUnknownKinds
}

// look has those of the reads happen that can happen now: that harms nothing later.
func (f *follower) look(p *possibility, reads uint64) {
	for left := reads &^ p.done; left != 0; left &= left - 1 {
		slot := bits.TrailingZeros64(left)
		if f.spec.holds(&p.state, f.slots[slot]) {
			p.done |= 1 << slot
		}
	}
}

// ret lets an act return: it has happened in whatever stays possible. Within is false when there is
// too much to follow.
func (f *follower) ret(i int32) (possible, within bool) {
	slot := uint64(1) << f.slotOf[i]
	if len(f.now) == 1 && f.now[0].done&slot != 0 { // mostly
		f.leave(slot)
		return true, true
	}
	next, met := &f.next, &f.met
	next.empty()
	met.empty()
	for n := range f.now {
		if f.now[n].done&slot != 0 {
			next.add(f.now[n])
		} else {
			met.add(f.now[n])
		}
	}
	for n := 0; n < len(met.all); n++ {
		f.steps++
		if len(met.all)+len(next.all) > mostPossibilities ||
			f.steps%askEvery == 0 && f.stopped(askEvery) {
			return false, false
		}
		f.extend(met.all[n], slot)
	}
	f.now = next.least(f.now[:0])
	f.leave(slot)
	return len(f.now) > 0, true
}

// leave has the slot be free again.
func (f *follower) leave(slot uint64) {
	f.taken &^= slot
	f.reads &^= slot
	for n := range f.now {
		f.now[n].done &^= slot
	}
}

// extend has one more act happen. Those in which the returning one has happened are next.
func (f *follower) extend(p possibility, slot uint64) {
	take := func(q possibility) {
		f.look(&q, f.reads)
		if q.done&slot != 0 {
			f.next.add(q)
			return
		}
		f.met.add(q)
	}
	for left := f.taken &^ (p.done | f.reads); left != 0; left &= left - 1 {
		one := left & -left
		if a := f.slots[bits.TrailingZeros64(left)]; f.spec.holds(&p.state, a) {
			q := p
			q.state, q.done = f.spec.apply(p.state, a), p.done|one
			take(q)
		}
	}
	for i := range f.unknown {
		u := &f.unknown[i]
		if int(p.used[i]) >= u.begun || p.used[i] == 255 || !f.spec.holds(&p.state, &u.act) {
			continue
		}
		q := p
		q.used[i]++
		if q.state = f.spec.apply(p.state, &u.act); q.state != p.state {
			take(q)
		}
	}
}
