package linearize

// Analysis analyses keys one after the other in the same memory: what one key needs is little, and
// all together as much as the history. The zero Analysis is ready.
type Analysis struct {
	values valueOrder
	// writers maps each identity to the act that writes it.
	writers []int32
}

// Analyse is Analysis.Of in memory of its own.
func (k *Key) Analyse() Result { return new(Analysis).Of(k) }

// Of answers by the near-linear way; the order is valid up to the next call. It settles unknown
// outcomes first, which changes the acts of the key.
//
// It is complete for reads, blind and replacing writes of unique identities, compare-and-set,
// inserts, deletes that return what they removed, and pushes whose lists are read. Keys that mix
// blind writes with deletes, deletes of unknown outcome, and conditions that failed without saying
// what was there may stay Open.
func (a *Analysis) Of(k *Key) Result {
	if !k.Repeats {
		a.writers = k.actOf(a.writers)
		k.normalise(a.writers)
	}
	if p := k.phantom(); p.Reason != NoReason {
		return Result{Answer: Contradiction, Proof: p}
	}
	if k.Repeats {
		return Result{}
	}
	if p := k.early(a.writers); p.Reason != NoReason {
		return Result{Answer: Contradiction, Proof: p}
	}
	if k.Wiped {
		return Result{}
	}
	if k.pushes() {
		if p := k.duplicated(); p.Reason != NoReason {
			return Result{Answer: Contradiction, Proof: p}
		}
		return k.analyseList()
	}
	return a.values.of(k)
}

// phantom finds an identity that somebody saw and nobody wrote.
func (k *Key) phantom() Proof {
	bad := func(id ID) bool {
		return id >= firstName && (k.Writers[id] == NoWriter || k.Refused[id])
	}
	for i := range k.Acts {
		a := &k.Acts[i]
		if a.See == Exactly && !a.Maybe && bad(a.Seen) {
			return Proof{Phantom, []int32{int32(i)}, a.Seen}
		}
		for _, id := range k.Lists[a.List] {
			if bad(id) {
				return Proof{Phantom, []int32{int32(i)}, id}
			}
		}
	}
	return Proof{}
}

// early finds an identity that somebody saw before its writer began.
func (k *Key) early(writer []int32) Proof {
	for i := range k.Acts {
		a := &k.Acts[i]
		if a.See == Exactly && !a.Maybe && k.before(a, writer[a.Seen]) {
			return Proof{Early, []int32{int32(i), writer[a.Seen]}, a.Seen}
		}
		for _, id := range k.Lists[a.List] {
			if k.before(a, writer[id]) {
				return Proof{Early, []int32{int32(i), writer[id]}, id}
			}
		}
	}
	return Proof{}
}

func (k *Key) before(a *KeyOp, other int32) bool {
	return other >= 0 && a.Return < k.Acts[other].Call
}

// fixedRun is a run of acts that follow each other in every order: each replaced what the one
// before left, with the readers of a value between its writer and its successor.
type fixedRun struct {
	acts []int32
	// first is the smallest return and last the largest call; who are the acts that have them.
	first, last       uint64
	whoFirst, whoLast int32
	// seed is true for the block of the initial absence, which precedes all others; ended when its
	// last act removes.
	seed, ended bool
}

func (k *Key) closeBlock(b *fixedRun) {
	b.first, b.whoFirst, b.whoLast = Never, -1, -1
	if b.seed {
		b.first = 0
	}
	for _, i := range b.acts {
		a := &k.Acts[i]
		if a.Return < b.first {
			b.first, b.whoFirst = a.Return, i
		}
		if a.Call >= b.last {
			b.last, b.whoLast = a.Call, i
		}
	}
}
