package linearize

import "slices"

// documentState is a document: its value, or Absent, and its list.
type documentState struct {
	value ID
	list  []ID
}

// holds says whether the act could have noticed that state.
func (a *KeyOp) holds(s ID) bool {
	switch a.See {
	case Exactly:
		return s == a.Seen
	case Present:
		return s != Absent
	case Except:
		return s != a.Seen
	}
	return true
}

// value is the value that the act leaves behind.
func (a *KeyOp) value(s ID) ID {
	switch {
	case a.Do.puts():
		return a.Put
	case a.Do == Remove:
		return Absent
	case a.Do == Append && s == Absent:
		return Unnamed
	}
	return s
}

// Replay says whether the order is one in which the acts could have happened: each notices the
// state that those before it leave, and none precedes one that had ended before it began. Acts left
// out of the order never happened, which only acts of unknown outcome may.
func (k *Key) Replay(order []int32) bool {
	var s documentState
	var latest uint64
	lists := k.pushes()
	for _, i := range order {
		a := &k.Acts[i]
		latest = max(latest, a.Call)
		if a.Return < latest || !a.holds(s.value) || lists && !k.readsList(a, s.list) {
			return false
		}
		s.value = a.value(s.value)
		switch a.Do {
		case Set, Remove:
			s.list = s.list[:0]
		case Append:
			s.list = append(s.list, a.Put)
		}
	}
	return k.mandatory() == k.mandatoryIn(order)
}

// readsList holds for every act but one that returned a document with another list.
func (k *Key) readsList(a *KeyOp, list []ID) bool {
	return !a.Shows || slices.Equal(k.Lists[a.List], list)
}

func (k *Key) mandatory() (n int) {
	for i := range k.Acts {
		if !k.Acts[i].Maybe {
			n++
		}
	}
	return n
}

func (k *Key) mandatoryIn(order []int32) (n int) {
	for _, i := range order {
		if !k.Acts[i].Maybe {
			n++
		}
	}
	return n
}
