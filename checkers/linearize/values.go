package linearize

import (
	"cmp"
	"slices"
)

// valueOrder is a key without lists, seen as values with a writer, readers and a successor each. It
// may be that of one key after the other, and then uses its memory again.
type valueOrder struct {
	k *Key
	// successor is the act that replaced an identity, -1 for none; readers chains the acts that
	// only saw it, by next.
	successor, readers, next []int32
	links                    []int32 // the memory of these three
	// starts are the acts that begin a block; floats those that belong to none.
	starts, floats []int32
	// removals and maybeRemovals say whether documents go, maybe.
	removals      bool
	maybeRemovals []int32
	// whole is false when some order may exist that blocks do not represent.
	whole  bool
	blocks []fixedRun
	arena  []int32 // the acts of all blocks
	// order is what is proposed, before floats have a place in it.
	order  []int32
	places floatPlaces
}

// of analyses a key.
func (v *valueOrder) of(k *Key) Result {
	v.begin(k)
	for i := len(k.Acts) - 1; i >= 0; i-- {
		if p := v.sort(int32(i)); p.Reason != NoReason {
			return Result{Answer: Contradiction, Proof: p}
		}
	}
	v.build()
	if p := v.contradiction(); p.Reason != NoReason {
		return Result{Answer: Contradiction, Proof: p}
	}
	return v.arrange()
}

// begin forgets the key before.
func (v *valueOrder) begin(k *Key) {
	n := len(k.Names)
	size := 2*n + len(k.Acts)
	v.links = slices.Grow(v.links[:0], size)[:size]
	for i := range v.links {
		v.links[i] = -1
	}
	v.k, v.successor, v.readers, v.next = k, v.links[:n], v.links[n:2*n], v.links[2*n:]
	v.starts, v.floats, v.blocks = v.starts[:0], v.floats[:0], v.blocks[:0]
	v.removals, v.maybeRemovals = false, nil
	for i := range k.Acts {
		if a := &k.Acts[i]; a.Do == Remove {
			v.removals = true
			if a.Maybe {
				v.maybeRemovals = append(v.maybeRemovals, int32(i))
			}
		}
	}
	v.whole = len(v.maybeRemovals) == 0
}

// sort puts an act where it belongs. Acts come from the last to the first, so that lists of readers
// are ordered by call.
func (v *valueOrder) sort(i int32) Proof {
	a := &v.k.Acts[i]
	switch {
	case a.Maybe:
	case a.See != Exactly && a.Do.puts():
		v.starts = append(v.starts, i)
		v.whole = v.whole && !v.removals
	case a.See != Exactly:
		v.floats = append(v.floats, i)
		v.whole = v.whole && a.Do == Leave
	case a.Seen == Absent && v.removals && a.Do == Leave:
		v.floats = append(v.floats, i)
	case a.Seen == Absent && v.removals:
		v.starts = append(v.starts, i)
	case a.Do == Leave:
		v.next[i], v.readers[a.Seen] = v.readers[a.Seen], i
	case v.successor[a.Seen] >= 0:
		return Proof{Forked, []int32{i, v.successor[a.Seen]}, a.Seen}
	default:
		v.successor[a.Seen] = i
	}
	return Proof{}
}

// build glues what must follow each other into blocks.
func (v *valueOrder) build() {
	v.arena = slices.Grow(v.arena[:0], len(v.k.Acts))
	arena := v.arena
	if !v.removals {
		arena = v.glue(arena, fixedRun{seed: true}, Absent)
	}
	slices.Reverse(v.starts)
	for _, i := range v.starts {
		arena = v.glue(append(arena, i), fixedRun{}, v.k.Acts[i].Put)
	}
}

// glue appends the readers of the identity, its successor, and so on, and makes a block of all.
func (v *valueOrder) glue(arena []int32, b fixedRun, id ID) []int32 {
	from := len(arena)
	if !b.seed {
		from--
	}
	for {
		for i := v.readers[id]; i >= 0; i = v.next[i] {
			arena = append(arena, i)
		}
		i := v.successor[id]
		if i < 0 {
			break
		}
		arena = append(arena, i)
		if v.k.Acts[i].Do == Remove {
			b.ended = true
			break
		}
		id = v.k.Acts[i].Put
	}
	b.acts = arena[from:len(arena):len(arena)]
	v.k.closeBlock(&b)
	v.blocks = append(v.blocks, b)
	return arena
}

// contradiction looks for a proof: in the blocks, then between them.
func (v *valueOrder) contradiction() Proof {
	if p := v.circle(); p.Reason != NoReason {
		return p
	}
	for i := range v.blocks {
		if p := v.k.backwards(&v.blocks[i]); p.Reason != NoReason {
			return p
		}
	}
	if p := v.twoLives(); p.Reason != NoReason {
		return p
	}
	return v.entangled()
}

// circle finds an act that no block holds: it replaced something that came after it.
func (v *valueOrder) circle() Proof {
	held := len(v.floats)
	for i := range v.blocks {
		held += len(v.blocks[i].acts)
	}
	if held == v.k.mandatory() {
		return Proof{}
	}
	in := make([]bool, len(v.k.Acts))
	for i := range v.blocks {
		for _, act := range v.blocks[i].acts {
			in[act] = true
		}
	}
	for id := range v.k.Names {
		if i := v.successor[id]; i >= 0 && !in[i] {
			return Proof{Circle, []int32{i}, ID(id)}
		}
	}
	return Proof{}
}

// backwards finds two acts of a block of which the second ended before the first began.
func (k *Key) backwards(b *fixedRun) Proof {
	latest := int32(-1)
	for n, i := range b.acts {
		if latest >= 0 && k.Acts[i].Return < k.Acts[latest].Call {
			return Proof{
				Backwards, []int32{latest, i, k.newer(b.acts[:n+1], latest)}, k.Acts[latest].Seen,
			}
		}
		if latest < 0 || k.Acts[i].Call > k.Acts[latest].Call {
			latest = i
		}
	}
	return Proof{}
}

// newer is the first act after that one which replaced the value it left or saw.
func (k *Key) newer(acts []int32, than int32) int32 {
	after := acts[slices.Index(acts, than)+1:]
	for _, i := range after {
		if k.Acts[i].Do != Leave {
			return i
		}
	}
	return than
}

// twoLives finds two documents that were made of nothing and removed by nobody. The one that is
// left lives for ever.
func (v *valueOrder) twoLives() Proof {
	if !v.removals || !v.whole {
		return Proof{}
	}
	open := -1
	for i := range v.blocks {
		switch {
		case v.blocks[i].ended:
		case open >= 0:
			return Proof{TwoLives, []int32{v.blocks[open].acts[0], v.blocks[i].acts[0]}, Absent}
		default:
			open = i
		}
	}
	if open >= 0 {
		v.blocks[open].last = Never
	}
	return Proof{}
}

// entangled sorts the blocks and finds two that must both precede the other. Block A must precede B
// when A's smallest return is below B's largest call. If that holds one way only, the sum of both
// is smaller for A; so sorting by the sum gives an order whenever there is one, and a running
// maximum of the calls finds every conflict.
func (v *valueOrder) entangled() Proof {
	slices.SortStableFunc(v.blocks,
		func(a, b fixedRun) int { return cmp.Compare(a.sum(), b.sum()) })
	highest := -1
	for i := range v.blocks {
		b := &v.blocks[i]
		if highest >= 0 && b.first < v.blocks[highest].last {
			return v.conflict(&v.blocks[highest], b)
		}
		if highest < 0 || b.last > v.blocks[highest].last {
			highest = i
		}
	}
	return Proof{}
}

// conflict words the proof that neither block can precede the other. Where a block has its place
// anyway, the first because it starts from nothing or the last because nobody ended it, half of the
// proof is enough.
func (v *valueOrder) conflict(a, b *fixedRun) Proof {
	switch {
	case a.seed && v.k.Acts[a.whoLast].Seen == Absent && v.k.Acts[a.whoLast].Do == Leave:
		return Proof{Missed, []int32{a.whoLast, b.whoFirst}, Absent}
	case a.seed:
		return Proof{Backwards, []int32{a.whoLast, b.whoFirst, b.acts[0]}, v.k.Acts[a.whoLast].Seen}
	case b.last == Never:
		return Proof{Outlived, []int32{b.whoFirst, a.whoLast, b.acts[0]}, Absent}
	}
	return Proof{Entangled, []int32{a.whoFirst, a.whoLast, b.whoFirst, b.whoLast}, Absent}
}

// sum is what blocks are sorted by: 0 for the one that is first in any case.
func (b *fixedRun) sum() uint64 {
	if b.seed {
		return 0
	}
	return b.first + b.last
}
