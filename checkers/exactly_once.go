package checkers

import (
	"github.com/shardproof/shardproof/checkers/linearize"
)

// ExactlyOnce follows pushes, which are retried until they are answered.
var ExactlyOnce = Checker{
	Name: "exactly-once",
	Promise: "A write takes effect exactly once, however often it is retried: an acknowledged " +
		"write once, a failed write never.",
	Signatures: Meanings{
		duplicatedWrite: "a push is in the list twice",
		extraWrite:      "the list has an element that was never pushed",
		dirtyWrite:      "a push that failed is in the list",
		LostWrite:       "an acknowledged push is not in the list",
	},
}

var _ = declare(40, &ExactlyOnce, func(h *history) Verdict { return checkExactlyOnce(h.keyed) })

// checkExactlyOnce looks at every list that was read: no identity is in it twice, none of a failed
// push is in it, and each acknowledged push that had ended before the read began is in it, unless
// the document may have been replaced. Where identities repeat, as in histories of others, nothing
// can be said.
func checkExactlyOnce(h keyed) Verdict {
	v := ExactlyOnce.Begin()
	for i := range h.keys {
		l := pushedList{keyed: h, k: &h.keys[i], in: map[linearize.ID]bool{}}
		l.collect()
		if l.k.Repeats || l.pushes == nil && len(l.k.Lists) == 1 {
			continue
		}
		v.Checked += len(l.k.Acts)
		for n := range l.k.Acts {
			l.check(&v, &l.k.Acts[n])
		}
	}
	return v
}

// pushedList is a key on which identities are pushed.
type pushedList struct {
	keyed
	k *linearize.Key
	// pushes are the acts that certainly pushed. grows is true when nothing on the key can empty a
	// list again.
	pushes []int32
	grows  bool
	in     map[linearize.ID]bool
}

func (l *pushedList) collect() {
	l.grows = true
	for i := range l.k.Acts {
		switch a := &l.k.Acts[i]; {
		case a.Do == linearize.Append && !a.Maybe:
			l.pushes = append(l.pushes, int32(i))
		case a.Do == linearize.Remove, a.Do == linearize.Move,
			a.Do == linearize.Set && (a.See != linearize.Exactly || a.Seen != linearize.Absent):
			l.grows = false
		}
	}
}

// check judges one read of the list.
func (l *pushedList) check(v *Verdict, a *linearize.KeyOp) {
	if a.See != linearize.Exactly || a.Do != linearize.Leave || a.Maybe {
		return
	}
	clear(l.in)
	for _, id := range l.k.Lists[a.List] {
		if l.in[id] {
			v.Add(l.duplicated(l.k, int(a.Op), id))
		}
		if l.k.Refused[id] {
			v.Add(l.phantom(l.k, int(a.Op), id))
		}
		l.in[id] = true
	}
	if !l.grows {
		return
	}
	for _, i := range l.pushes {
		if p := &l.k.Acts[i]; p.Return < a.Call && !l.in[p.Put] {
			v.Add(l.unseen(l.k, []int{int(p.Op), int(a.Op), int(a.Op)}, p.Put))
			return
		}
	}
}
