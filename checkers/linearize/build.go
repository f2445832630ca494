package linearize

import (
	"cmp"
	"slices"

	"github.com/shardproof/shardproof/checkers/compact"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// Split takes a history apart into its keys, ordered by namespace and key. Operations that
// certainly failed leave no act, only the knowledge that their identity must never be seen; reads
// of weaker concern than linearizable leave weak reads.
func Split(h *compact.History) []Key {
	b := keyBuilder{
		h:      h,
		names:  namesInTurn(h),
		spaces: map[string]map[int64]int32{},
		sorted: map[string][]int64{},
		at:     make([]int32, h.Len()),
		puts:   make([]ID, h.Len()),
		ids:    identities{owners: make([]identity, h.Texts.Len())},
	}
	b.count()
	b.countScans()
	b.divide()
	for i := range h.Len() {
		b.take(int32(i))
	}
	byCall := func(x, y KeyOp) int { return cmp.Compare(x.Call, y.Call) }
	for i := range b.keys {
		if acts := b.keys[i].Acts; !slices.IsSortedFunc(acts, byCall) {
			slices.SortStableFunc(acts, byCall)
		}
	}
	slices.SortFunc(b.keys, func(x, y Key) int {
		return cmp.Or(cmp.Compare(x.NS, y.NS), cmp.Compare(x.Key, y.Key))
	})
	return b.keys
}

type keyBuilder struct {
	h *compact.History
	// Of each namespace that a collection takes from another one: all of them.
	names  map[string][]string
	keys   []Key
	counts []tally
	spaces map[string]map[int64]int32
	// recent is the space of the namespace that was looked at last.
	recent   map[int64]int32
	recentNS string
	// Of each namespace with scans: its keys in order.
	sorted map[string][]int64
	ids    identities
	// Of each operation on one key: the position of the key, and the identity that it writes.
	at   []int32
	puts []ID
}

// namesInTurn finds the namespaces that collections have one after the other.
func namesInTurn(h *compact.History) map[string][]string {
	var all map[string][]string
	for _, op := range h.Forms() {
		if !op.Kind.Renames || op.Outcome == histories.Failed ||
			slices.Contains(all[op.NS], op.Into) {
			continue
		}
		if all == nil {
			all = map[string][]string{}
		}
		joined := slices.Concat(all[op.NS], all[op.Into], []string{op.NS, op.Into})
		slices.Sort(joined)
		joined = slices.Compact(joined)
		for _, ns := range joined {
			all[ns] = joined
		}
	}
	return all
}

// place is the position of a namespace among those of its collection.
func (b *keyBuilder) place(ns string) uint8 {
	if b.names == nil {
		return 0
	}
	return uint8(max(0, slices.Index(b.names[ns], ns)))
}

// first is the namespace under which the keys of a collection are kept.
func (b *keyBuilder) first(ns string) string {
	if names := b.names[ns]; names != nil {
		return names[0]
	}
	return ns
}

// introduce notes who writes an identity.
func (b *keyBuilder) introduce(at int32, op *compact.Op, form *compact.Form) {
	k, id := &b.keys[b.at[at]], b.puts[at]
	k.Names[id] = op.Value
	if k.Writers[id] != NoWriter {
		k.Repeats = true
		k.Refused[id] = k.Refused[id] && form.Outcome == histories.Failed
		return
	}
	k.Writers[id] = at
	k.Refused[id] = form.Outcome == histories.Failed
}

func (b *keyBuilder) id(key int32, value compact.Text) ID {
	if value == 0 {
		return Unnamed
	}
	id := b.ids.find(key, value)
	if *id == Absent {
		k := &b.keys[key]
		*id = ID(len(k.Names))
		k.Names = append(k.Names, value)
		k.Writers = append(k.Writers, NoWriter)
		k.Refused = append(k.Refused, false)
	}
	return *id
}

// isOrdered says whether reads of that concern take part in the order.
func isOrdered(concern string) bool { return concern == "" || concern == "linearizable" }

func (b *keyBuilder) take(at int32) {
	op := b.h.Op(int(at))
	form := b.h.Form(op)
	kind := form.Kind
	if kind.Value {
		b.introduce(at, op, form)
	}
	switch {
	case form.Outcome == histories.Failed:
	case kind.Shape == opkind.Whole:
		b.wipe(at, op, form)
	case kind.Shape == opkind.Ranged:
		b.eachSighting(op, func(s Sighting) { b.seen(b.find(form.NS, s.Key), at, op, form, s) })
	case kind.Reads() && form.Outcome == histories.OK:
		b.seen(b.at[at], at, op, form, sightingOf(b.h, op))
	case !kind.Reads():
		b.act(b.at[at], at, op, form)
	}
}

// wipe has a drop remove whatever is there, and a rename move it, of each key by itself: nobody can
// see two keys at one moment.
func (b *keyBuilder) wipe(at int32, op *compact.Op, form *compact.Form) {
	act := KeyOp{Call: op.Call, Return: op.Return, Op: at, Do: Remove, Place: b.place(form.NS)}
	switch form.Kind.Effect {
	case opkind.Remove:
	case opkind.Move:
		act.Do, act.Into = Move, b.place(form.Into)
	default:
		return
	}
	first := b.first(form.NS)
	for i := range b.keys {
		if k := &b.keys[i]; k.NS == first {
			a := act
			if form.Outcome == histories.Unknown {
				a.Maybe, a.Return = true, Never
			}
			k.Wiped = true
			k.Acts = append(k.Acts, a)
		}
	}
}

// seen is what an operation saw of the key at position i.
func (b *keyBuilder) seen(i, at int32, op *compact.Op, form *compact.Form, s Sighting) {
	k := &b.keys[i]
	a := KeyOp{Call: op.Call, Return: s.end, Op: at, See: Exactly, Place: b.place(form.NS)}
	if s.Found {
		b.show(i, &a, s.Value, s.List)
	}
	if isOrdered(form.Concern) {
		k.Acts = append(k.Acts, a)
		return
	}
	g := WeakRead{Op: at, Seen: a.Seen, Return: a.Return,
		Passing: form.Concern == "local" || form.Concern == "available"}
	k.WeakReads = append(k.WeakReads, g)
	for _, g.Seen = range k.Lists[a.List] {
		k.WeakReads = append(k.WeakReads, g)
	}
}

// show is that the act returned a document.
func (b *keyBuilder) show(key int32, a *KeyOp, value compact.Text, list []compact.Text) {
	a.See, a.Seen, a.List, a.Shows = Exactly, b.id(key, value), b.list(key, list), true
}

// found is that the act returned the document that the operation says it found.
func (b *keyBuilder) found(key int32, a *KeyOp, op *compact.Op) {
	b.show(key, a, op.Saw, b.h.Aside(op).List)
}

func (b *keyBuilder) list(key int32, values []compact.Text) int32 {
	if len(values) == 0 {
		return 0
	}
	ids := make([]ID, len(values))
	for i, v := range values {
		ids[i] = b.id(key, v)
	}
	k := &b.keys[key]
	k.Lists = append(k.Lists, ids)
	return int32(len(k.Lists) - 1)
}

// act adds what a write noticed and did.
func (b *keyBuilder) act(key, at int32, op *compact.Op, form *compact.Form) {
	k := &b.keys[key]
	k.Acts = append(k.Acts, KeyOp{
		Call: op.Call, Return: op.Return, Op: at, Place: b.place(form.NS), Put: b.puts[at],
	})
	a := &k.Acts[len(k.Acts)-1]
	switch kind := form.Kind; {
	case form.Outcome == histories.Unknown:
		a.Maybe, a.Return = true, Never
		b.intend(key, a, op, kind)
	case !op.Applied && kind.Refused != opkind.NeverRefused:
		a.Put = Absent
		b.refused(key, a, op, kind)
	default:
		b.intend(key, a, op, kind)
		b.replaced(key, a, op, kind)
	}
}

// effectsByKind are what kinds of operations do, as key operations do it.
var effectsByKind = [...]Do{
	opkind.Leave: Leave, opkind.Set: Set, opkind.Change: Change, opkind.Remove: Remove,
	opkind.Append: Append,
}

// intend is what the write does if it happens, and on which condition.
func (b *keyBuilder) intend(key int32, a *KeyOp, op *compact.Op, kind *opkind.Kind) {
	a.Do = effectsByKind[kind.Effect]
	switch kind.Condition {
	case opkind.DocumentExpected:
		a.See, a.Seen = Exactly, Absent
		if op.Expect != 0 {
			a.Seen = b.id(key, op.Expect)
		}
	case opkind.DocumentMissing:
		a.See = Exactly
	case opkind.DocumentPresent:
		a.See = Present
	}
}

// replaced is what an acknowledged write says of the document that it replaced or removed.
func (b *keyBuilder) replaced(key int32, a *KeyOp, op *compact.Op, kind *opkind.Kind) {
	switch {
	case kind.Tells && op.Upserted:
		a.See = Exactly
	case kind.Tells && op.Found:
		a.See = Present
	case !kind.Returns:
	case op.Found:
		b.found(key, a, op)
	case kind.Effect != opkind.Remove:
		a.See = Exactly
	case op.Applied:
		a.See = Present
	default:
		a.See, a.Do = Exactly, Leave
	}
}

// refused is what a write says that was carried out and found its condition not met.
func (b *keyBuilder) refused(key int32, a *KeyOp, op *compact.Op, kind *opkind.Kind) {
	switch {
	case kind.Refused == opkind.DocumentAbsent:
		a.See = Exactly
	case op.Found && op.Saw != 0:
		b.found(key, a, op)
	case op.Expect != 0:
		a.See, a.Seen = Except, b.id(key, op.Expect)
	default:
		a.See = Present
	}
}
