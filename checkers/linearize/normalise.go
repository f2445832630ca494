package linearize

import "slices"

// normalise settles the acts of unknown outcome as far as possible. One whose identity somebody saw
// did happen, and no later than the earliest return among those who saw it, be it a majority read:
// that never shows what may still be rolled back. One whose identity nobody saw can be left out,
// since no other act depends on it. Removals write no identity and stay open. Sound because
// identities are unique; the acts of k change. Writer is what actOf says.
func (k *Key) normalise(writer []int32) {
	s := settler{k: k, writer: writer}
	for i := range k.Acts {
		if !k.Acts[i].Maybe {
			s.witness(&k.Acts[i], k.Acts[i].Return)
		}
	}
	for _, g := range k.WeakReads {
		if !g.Passing {
			s.saw(g.Seen, g.Return)
		}
	}
	for len(s.queue) > 0 {
		i := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		s.witness(&k.Acts[i], k.Acts[i].Return)
	}
}

type settler struct {
	k      *Key
	writer []int32
	queue  []int32
}

// actOf maps each identity to the position of the act that writes it, or -1, in that memory if it
// is enough.
func (k *Key) actOf(writer []int32) []int32 {
	writer = slices.Grow(writer[:0], len(k.Names))[:len(k.Names)]
	for id := range writer {
		writer[id] = -1
	}
	for i := range k.Acts {
		if put := k.Acts[i].Put; put != Absent {
			writer[put] = int32(i)
		}
	}
	return writer
}

// witness uses that a, which certainly happened, returned at that time.
func (s *settler) witness(a *KeyOp, at uint64) {
	if a.See == Exactly {
		s.saw(a.Seen, at)
	}
	for _, id := range s.k.Lists[a.List] {
		s.saw(id, at)
	}
}

func (s *settler) saw(id ID, at uint64) {
	i := s.writer[id]
	if i < 0 {
		return
	}
	if w := &s.k.Acts[i]; at >= w.Call && (w.Maybe || w.Settled && at < w.Return) {
		w.Maybe, w.Settled, w.Return = false, true, at
		s.queue = append(s.queue, i)
	}
}
