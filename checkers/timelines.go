package checkers

import (
	"cmp"
	"maps"
	"slices"

	"github.com/shardproof/shardproof/checkers/compact"
	"github.com/shardproof/shardproof/histories/opkind"
)

type timedKey struct {
	ns  string
	key int64
}

// timelines are those of all keys that are written.
type timelines struct {
	of map[timedKey]*timeline
	// written are the keys with a timeline, in order, by namespace.
	written map[string][]int64
	// owners has the write of each text, which nearly always is of one key; of others of that text,
	// others has it.
	owners []owner
	others map[ownText]int32
}

// timeline is every write of one key.
type timeline struct {
	writes []stamped
	// grows: documents are only pushed to.
	grows bool
	// begun is the cluster time by which the document was there that was there before the clients;
	// zero if there was none, or it is not known.
	begun uint64

	// What follows is made when it is first asked for, after which the writes are as they are.
	// certain are the writes that happened, by hi, with what those up to each have at most;
	// removals are positions of writes, by call.
	certain  []pastWrites
	removals []int32
	arranged bool
}

// stamped is a write that took effect at a cluster time from lo to hi; with maybe, or not at all.
type stamped struct {
	lo, hi uint64
	op     int32
	effect opkind.Effect
	maybe  bool
}

// owner is the position of a write on a timeline, from 1.
type owner struct {
	line *timeline
	at   int32
}

type ownText struct {
	line *timeline
	text compact.Text
}

func (l *timelines) find(at timedKey) *timeline { return l.of[at] }

// make is find, but for a key without a timeline, which gets one.
func (l *timelines) make(at timedKey) *timeline {
	t := l.of[at]
	if t == nil {
		t = &timeline{grows: true}
		l.of[at] = t
	}
	return t
}

// write appends a write of a text.
func (l *timelines) write(t *timeline, text compact.Text, w stamped) {
	t.writes = append(t.writes, w)
	at := int32(len(t.writes))
	if text == 0 {
		return
	}
	if o := &l.owners[text]; o.line == nil || o.line == t {
		o.line, o.at = t, at
		return
	}
	if l.others == nil {
		l.others = map[ownText]int32{}
	}
	l.others[ownText{t, text}] = at
}

// writeOf is the last write of a text on a timeline; nil for none.
func (l *timelines) writeOf(t *timeline, text compact.Text) *stamped {
	if t == nil {
		return nil
	}
	o := l.owners[text]
	if o.line != t {
		o.at = l.others[ownText{t, text}]
	}
	if o.at == 0 {
		return nil
	}
	return &t.writes[o.at-1]
}

// sort lists the keys with a timeline: of no others can a scan be wrong about what is missing.
func (l *timelines) sort() {
	inOrder := func(a, b timedKey) int {
		return cmp.Or(cmp.Compare(a.ns, b.ns), cmp.Compare(a.key, b.key))
	}
	l.written = map[string][]int64{}
	for _, at := range slices.SortedFunc(maps.Keys(l.of), inOrder) {
		l.written[at.ns] = append(l.written[at.ns], at.key)
	}
}

// pastWrites are the writes that happened by a cluster time: the largest lo, and the latest call.
type pastWrites struct {
	hi, lo, call uint64
	none         bool
}

// past are the writes that happened by then. A million reads of a key with a million writes cannot
// look at each of them.
func (t *timeline) past(ops *compact.History, by uint64) pastWrites {
	t.arrange(ops)
	n, _ := slices.BinarySearchFunc(t.certain, by, func(p pastWrites, by uint64) int {
		if p.hi <= by {
			return -1
		}
		return 1
	})
	if n == 0 {
		return pastWrites{none: true}
	}
	return t.certain[n-1]
}

func (t *timeline) arrange(ops *compact.History) {
	if t.arranged {
		return
	}
	t.arranged = true
	t.certain = make([]pastWrites, 0, len(t.writes))
	for i := range t.writes {
		w := &t.writes[i]
		if !w.maybe {
			t.certain = append(t.certain, pastWrites{w.hi, w.lo, callOf(ops, w), false})
		}
		if w.effect == opkind.Remove {
			t.removals = append(t.removals, int32(i))
		}
	}
	slices.SortFunc(t.certain, func(a, b pastWrites) int { return cmp.Compare(a.hi, b.hi) })
	for i := 1; i < len(t.certain); i++ {
		p, before := &t.certain[i], &t.certain[i-1]
		p.lo, p.call = max(p.lo, before.lo), max(p.call, before.call)
	}
	slices.SortFunc(t.removals, func(a, b int32) int {
		return cmp.Compare(callOf(ops, &t.writes[a]), callOf(ops, &t.writes[b]))
	})
}

func callOf(ops *compact.History, w *stamped) uint64 { return ops.Op(int(w.op)).Call }

// removalsBefore are the removals that were called by then, the latest last.
func (t *timeline) removalsBefore(ops *compact.History, by uint64) []int32 {
	n, _ := slices.BinarySearchFunc(t.removals, by, func(i int32, by uint64) int {
		if callOf(ops, &t.writes[i]) <= by {
			return -1
		}
		return 1
	})
	return t.removals[:n]
}
