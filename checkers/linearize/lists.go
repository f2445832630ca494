package linearize

import (
	"cmp"
	"slices"
)

// pushOrder is a key on which identities are pushed. The longest list that somebody read gives the
// order of all pushes in it, and every read its place; pushes that it lacks come after its reader.
type pushOrder struct {
	k *Key
	// longest is the act that read the longest list.
	longest int32
	list    []ID
	// reads are the readers by the length of what they read; the first acts found no document or
	// made it.
	reads  [][]int32
	first  []int32
	pushed []int32
	unseen []int32
}

func (k *Key) analyseList() Result {
	l, p := k.newLists()
	if p.Reason != NoReason {
		return Result{Answer: Contradiction, Proof: p}
	}
	if l == nil {
		return Result{}
	}
	order, chain := l.order()
	if p := l.contradiction(order[:chain], order[chain:]); p.Reason != NoReason {
		return Result{Answer: Contradiction, Proof: p}
	}
	if !k.Replay(order) {
		return Result{}
	}
	return Result{Answer: Explained, Order: order}
}

// newLists sorts the acts; nil when some are of a kind that lists alone do not explain.
func (k *Key) newLists() (*pushOrder, Proof) {
	l := &pushOrder{k: k, longest: -1}
	for i := range k.Acts {
		list := k.Lists[k.Acts[i].List]
		if len(list) > len(l.list) {
			l.longest, l.list = int32(i), list
		}
	}
	l.reads = make([][]int32, len(l.list)+1)
	place := make(map[ID]int, len(l.list))
	for n, id := range l.list {
		place[id] = n
	}
	l.pushed = slices.Repeat([]int32{-1}, len(l.list))
	for i := range k.Acts {
		if !l.sort(int32(i), place) {
			return nil, Proof{}
		}
	}
	if slices.Contains(l.pushed, -1) {
		return nil, Proof{}
	}
	return l, l.diverging()
}

// duplicated finds a list that holds something twice, which no order allows.
func (k *Key) duplicated() Proof {
	seen := map[ID]bool{}
	for i := range k.Acts {
		clear(seen)
		for _, id := range k.Lists[k.Acts[i].List] {
			if seen[id] {
				return Proof{Duplicated, []int32{int32(i)}, id}
			}
			seen[id] = true
		}
	}
	return Proof{}
}

// diverging finds a list that is no prefix of the longest, on a key whose list only grows.
func (l *pushOrder) diverging() Proof {
	for i := range l.k.Acts {
		for n, id := range l.k.Lists[l.k.Acts[i].List] {
			if l.list[n] != id {
				return Proof{Diverging, []int32{int32(i), l.longest}, id}
			}
		}
	}
	return Proof{}
}

func (l *pushOrder) sort(i int32, place map[ID]int) bool {
	a := &l.k.Acts[i]
	n, known := place[a.Put]
	switch {
	case a.Maybe:
		return a.Do == Append
	case a.Do == Append && known:
		l.pushed[n] = i
	case a.Do == Append:
		l.unseen = append(l.unseen, i)
	case a.Do == Leave && a.See == Exactly && a.Seen != Absent:
		n = len(l.k.Lists[a.List])
		l.reads[n] = append(l.reads[n], i)
	case a.See == Exactly && a.Seen == Absent && a.Do == Leave:
		if len(l.first) > 0 && l.k.Acts[l.first[len(l.first)-1]].Do == Set {
			made := l.first[len(l.first)-1]
			l.first = append(l.first[:len(l.first)-1], i, made)
			return true
		}
		l.first = append(l.first, i)
	case a.Do == Set && a.See == Exactly && a.Seen == Absent:
		made := len(l.first) > 0 && l.k.Acts[l.first[len(l.first)-1]].Do == Set
		l.first = append(l.first, i)
		return !made
	default:
		return false
	}
	return true
}

// order is the only order of what the longest list tells, the first chain acts, and then the other
// pushes.
func (l *pushOrder) order() (order []int32, chain int) {
	order = append(make([]int32, 0, len(l.k.Acts)), l.first...)
	order = append(order, l.reads[0]...)
	for n, push := range l.pushed {
		order = append(order, push)
		order = append(order, l.reads[n+1]...)
	}
	chain = len(order)
	slices.SortStableFunc(l.unseen, func(x, y int32) int {
		a, b := &l.k.Acts[x], &l.k.Acts[y]
		return cmp.Compare(a.Call+a.Return, b.Call+b.Return)
	})
	return append(order, l.unseen...), chain
}

func (l *pushOrder) contradiction(chain, rest []int32) Proof {
	latest := int32(-1)
	for _, i := range chain {
		if latest >= 0 && l.k.Acts[i].Return < l.k.Acts[latest].Call {
			return l.k.listBackwards(latest, i)
		}
		if latest < 0 || l.k.Acts[i].Call > l.k.Acts[latest].Call {
			latest = i
		}
	}
	for _, i := range rest {
		switch {
		case latest < 0 || l.k.Acts[i].Return >= l.k.Acts[latest].Call:
		case l.longest < 0:
			return l.k.listBackwards(latest, i)
		default:
			return Proof{Unseen, []int32{i, l.longest, latest}, l.k.Acts[i].Put}
		}
	}
	return Proof{}
}

// listBackwards: first must precede second, which ended before it began. When first read a list,
// what second pushed or saw is missing in it.
func (k *Key) listBackwards(first, second int32) Proof {
	a, b := &k.Acts[first], &k.Acts[second]
	switch {
	case a.See == Exactly && a.Seen == Absent && a.Do == Leave:
		return Proof{Missed, []int32{first, second}, Absent}
	case a.Do == Leave && b.Do == Append:
		return Proof{Unseen, []int32{second, first, first}, b.Put}
	}
	return Proof{Backwards, []int32{first, second, second}, a.Seen}
}
