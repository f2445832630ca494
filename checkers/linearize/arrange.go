package linearize

import (
	"cmp"
	"container/heap"
	"slices"
	"sort"
)

// arrange proposes an order and has it replayed. Removals of unknown outcome are given to the lives
// that need one: first to all but the last, then to the last too.
func (v *valueOrder) arrange() Result {
	if len(v.maybeRemovals) == 0 {
		return v.propose()
	}
	v.end(len(v.blocks) - 1)
	if r := v.propose(); r.Answer == Explained {
		return r
	}
	v.end(len(v.blocks))
	return v.propose()
}

// end gives removals of unknown outcome, the earliest first, to the first n blocks that nothing
// ends.
func (v *valueOrder) end(n int) {
	v.entangled()
	for i := range min(n, len(v.blocks)) {
		b := &v.blocks[i]
		if b.ended || b.seed || len(v.maybeRemovals) == 0 {
			continue
		}
		b.acts, b.ended = append(slices.Clone(b.acts), v.maybeRemovals[0]), true
		v.maybeRemovals = v.maybeRemovals[1:]
		v.k.closeBlock(b)
	}
	v.entangled()
}

func (v *valueOrder) propose() Result {
	v.order = v.order[:0]
	for i := range v.blocks {
		v.order = append(v.order, v.blocks[i].acts...)
	}
	order, p := v.place(v.order)
	switch {
	case p.Reason != NoReason:
		return Result{Answer: Contradiction, Proof: p}
	case order != nil && v.k.Replay(order):
		return Result{Answer: Explained, Order: order}
	}
	return Result{}
}

// place inserts the acts that belong to no block where the state is one they could have noticed. It
// returns nil when it finds no place, with a proof when there is none.
func (v *valueOrder) place(order []int32) ([]int32, Proof) {
	if len(v.floats) == 0 {
		return order, Proof{}
	}
	slices.Reverse(v.floats)
	defer slices.Reverse(v.floats)
	v.gaps(order)
	g, placed := &v.places.gaps, &v.places.placed
	at := slices.Grow(v.places.at[:0], len(v.floats))[:len(v.floats)]
	v.places.at = at
	placed.spots, placed.passed = placed.spots[:0], 0
	for n, i := range v.floats {
		a := &v.k.Acts[i]
		if at[n] = g.fit(a, placed.before(a.Call)); at[n] < 0 {
			return nil, v.missed(order, g, i)
		}
		heap.Push(placed, floatingSpot{a.Return, at[n]})
	}
	return v.merge(order, at), Proof{}
}

// floatPlaces is the memory of looking for places.
type floatPlaces struct {
	gaps   orderGaps
	at     []int
	placed returnHeap
	index  []int
	merged []int32
}

// floatingSpot is where a floating act stands and when it returned.
type floatingSpot struct {
	end   uint64
	place int
}

// returnHeap is a heap of spots by end; passed is the highest place among those taken out.
type returnHeap struct {
	spots  []floatingSpot
	passed int
}

// before is the lowest place for an act with that call: not before those that had returned. Calls
// ascend.
func (r *returnHeap) before(call uint64) int {
	for len(r.spots) > 0 && r.spots[0].end < call {
		r.passed = max(r.passed, heap.Pop(r).(floatingSpot).place)
	}
	return r.passed
}

func (r *returnHeap) Len() int           { return len(r.spots) }
func (r *returnHeap) Less(i, j int) bool { return r.spots[i].end < r.spots[j].end }
func (r *returnHeap) Swap(i, j int)      { r.spots[i], r.spots[j] = r.spots[j], r.spots[i] }
func (r *returnHeap) Push(x any)         { r.spots = append(r.spots, x.(floatingSpot)) }
func (r *returnHeap) Pop() any {
	last := r.spots[len(r.spots)-1]
	r.spots = r.spots[:len(r.spots)-1]
	return last
}

// orderGaps describes the places of an order: place i is before its act i. earlier is the largest
// call before a place, later the smallest return after it, state what is there.
type orderGaps struct {
	earlier, later []uint64
	state          []ID
}

func (v *valueOrder) gaps(order []int32) {
	n, g := len(order), &v.places.gaps
	g.earlier = slices.Grow(g.earlier[:0], n+1)[:n+1]
	g.later = slices.Grow(g.later[:0], n+1)[:n+1]
	g.state = slices.Grow(g.state[:0], n+1)[:n+1]
	g.earlier[0], g.state[0], g.later[n] = 0, Absent, Never
	for i, act := range order {
		a := &v.k.Acts[act]
		g.earlier[i+1] = max(g.earlier[i], a.Call)
		g.state[i+1] = a.value(g.state[i])
	}
	for i := n - 1; i >= 0; i-- {
		g.later[i] = min(g.later[i+1], v.k.Acts[order[i]].Return)
	}
}

// fit is the first place from low on that real time and the state allow, or -1.
func (g *orderGaps) fit(a *KeyOp, low int) int {
	for i := max(low, g.lowest(a)); i < len(g.state) && g.earlier[i] <= a.Return; i++ {
		if a.holds(g.state[i]) {
			return i
		}
	}
	return -1
}

func (g *orderGaps) lowest(a *KeyOp) int {
	return sort.Search(len(g.later)-1, func(i int) bool { return g.later[i] >= a.Call })
}

// missed is the proof that an absence was seen while the document was there all the time: in every
// order of the blocks, the same ones end before it begins and begin after it ends. Only whole
// pictures prove it, and only if no other act that belongs to no block is in the way: where that
// one has its place may depend on the order.
func (v *valueOrder) missed(order []int32, g *orderGaps, i int32) Proof {
	a := &v.k.Acts[i]
	if !v.whole || a.See != Exactly || a.Seen != Absent || g.fit(a, 0) >= 0 {
		return Proof{}
	}
	p := Proof{Missed, []int32{i}, Absent}
	low := g.lowest(a)
	if low > 0 {
		p.Acts = append(p.Acts, order[low-1])
	}
	for n := low; n < len(order); n++ {
		if v.k.Acts[order[n]].Call > a.Return {
			p.Acts = append(p.Acts, order[n])
			break
		}
	}
	return p
}

// merge inserts the floating acts before the places at; those of one place keep their order, which
// is by call.
func (v *valueOrder) merge(order []int32, at []int) []int32 {
	index := slices.Grow(v.places.index[:0], len(at))[:len(at)]
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(x, y int) int { return cmp.Compare(at[x], at[y]) })
	merged := slices.Grow(v.places.merged[:0], len(order)+len(at))
	next := 0
	for _, n := range index {
		merged = append(merged, order[next:at[n]]...)
		next = at[n]
		merged = append(merged, v.floats[n])
	}
	v.places.index, v.places.merged = index, append(merged, order[next:]...)
	return v.places.merged
}
