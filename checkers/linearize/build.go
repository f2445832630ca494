package linearize

import (
	"cmp"
	"maps"
	"slices"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// Split takes a history apart into its keys, ordered by namespace and key. Operations that
// certainly failed leave no act, only the knowledge that their identity must never be seen; reads
// of weaker concern than linearizable leave weak reads.
func Split(ops []histories.Op) []Key {
	b := keyBuilder{
		ops:    ops,
		names:  namesInTurn(ops),
		spaces: map[string]map[int64]int32{},
		sorted: map[string][]int64{},
		at:     make([]int32, len(ops)),
		puts:   make([]ID, len(ops)),
	}
	b.count()
	b.countScans()
	b.divide()
	for i := range ops {
		b.introduce(int32(i))
	}
	for i := range ops {
		b.take(int32(i))
	}
	for i := range b.keys {
		slices.SortStableFunc(b.keys[i].Acts, func(x, y KeyOp) int {
			return cmp.Compare(x.Call, y.Call)
		})
	}
	slices.SortFunc(b.keys, func(x, y Key) int {
		return cmp.Or(cmp.Compare(x.NS, y.NS), cmp.Compare(x.Key, y.Key))
	})
	return b.keys
}

type keyBuilder struct {
	ops []histories.Op
	// Of each namespace that a collection takes from another one: all of them.
	names  map[string][]string
	keys   []Key
	counts []int
	spaces map[string]map[int64]int32
	// Of each namespace with scans: its keys in order.
	sorted map[string][]int64
	ids    identities
	// Of each operation on one key: the position of the key, and the identity that it writes.
	at   []int32
	puts []ID
}

// namesInTurn finds the namespaces that collections have one after the other.
func namesInTurn(ops []histories.Op) map[string][]string {
	var all map[string][]string
	for i := range ops {
		op := &ops[i]
		if !op.Kind.Of().Renames || op.Outcome == histories.Failed ||
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
func (b *keyBuilder) place(ns string) uint8 { return uint8(max(0, slices.Index(b.names[ns], ns))) }

// first is the namespace under which the keys of a collection are kept.
func (b *keyBuilder) first(ns string) string {
	if names := b.names[ns]; names != nil {
		return names[0]
	}
	return ns
}

func (b *keyBuilder) find(ns string, key int64) int32 {
	ns = b.first(ns)
	space := b.spaces[ns]
	if space == nil {
		space = map[int64]int32{}
		b.spaces[ns] = space
	}
	at, known := space[key]
	if !known {
		at = int32(len(b.keys))
		space[key] = at
		b.keys = append(b.keys, Key{
			NS:      ns,
			Key:     key,
			Names:   []string{"", ""},
			Writers: []int32{NoWriter, NoWriter},
			Refused: []bool{false, false},
			Lists:   [][]ID{nil},
			Places:  max(1, len(b.names[ns])),
		})
		b.counts = append(b.counts, 0)
	}
	return at
}

// count finds the keys that operations name or return, and says how many acts each of them will
// have, so that all of them fit into one allocation.
func (b *keyBuilder) count() {
	for i := range b.ops {
		op := &b.ops[i]
		switch op.Kind.Of().Shape {
		case opkind.Whole:
		case opkind.Ranged:
			for k := range op.Result.Items {
				b.find(op.NS, op.Result.Items[k].Key)
			}
		default:
			b.at[i] = b.find(op.NS, op.Key)
			b.counts[b.at[i]]++
		}
	}
}

// countScans adds what scans say of keys, once all keys are known.
func (b *keyBuilder) countScans() {
	for i := range b.ops {
		op := &b.ops[i]
		if op.Kind.Of().Shape != opkind.Ranged {
			continue
		}
		if _, done := b.sorted[op.NS]; !done {
			b.sorted[op.NS] = slices.Sorted(maps.Keys(b.spaces[b.first(op.NS)]))
		}
		b.eachSighting(op, func(s keySighting) { b.counts[b.find(op.NS, s.key)]++ })
	}
}

func (b *keyBuilder) eachSighting(op *histories.Op, each func(keySighting)) {
	eachSighting(op, b.sorted[op.NS], each)
}

func (b *keyBuilder) divide() {
	total := 0
	for _, n := range b.counts {
		total += n
	}
	all := make([]KeyOp, total)
	for i, n := range b.counts {
		b.keys[i].Acts, all = all[:0:n], all[n:]
	}
}

// introduce gives the identity that an operation writes its number.
func (b *keyBuilder) introduce(at int32) {
	op := &b.ops[at]
	if !op.Kind.Writes() {
		return
	}
	i := b.at[at]
	k, id := &b.keys[i], b.id(i, op.Value)
	b.puts[at] = id
	if k.Writers[id] != NoWriter {
		k.Repeats = true
		k.Refused[id] = k.Refused[id] && op.Outcome == histories.Failed
		return
	}
	k.Writers[id] = at
	k.Refused[id] = op.Outcome == histories.Failed
}

func (b *keyBuilder) id(key int32, value string) ID {
	if value == "" {
		return Unnamed
	}
	id := b.ids.find(b.keys, key, value)
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
	op := &b.ops[at]
	kind := op.Kind.Of()
	switch {
	case op.Outcome == histories.Failed:
	case kind.Shape == opkind.Whole:
		b.wipe(at, op)
	case kind.Shape == opkind.Ranged:
		b.eachSighting(op, func(s keySighting) { b.see(at, op, s) })
	case kind.Reads() && op.Outcome == histories.OK:
		r := &op.Result
		b.seen(b.at[at], at, op, keySighting{op.Key, r.Found, r.Value, r.List, op.Return})
	case !kind.Reads():
		i := b.at[at]
		b.keys[i].Acts = append(b.keys[i].Acts, b.act(i, at, op))
	}
}

// wipe has a drop remove whatever is there, and a rename move it, of each key by itself: nobody can
// see two keys at one moment.
func (b *keyBuilder) wipe(at int32, op *histories.Op) {
	act := KeyOp{Call: op.Call, Return: op.Return, Op: at, Do: Remove, Place: b.place(op.NS)}
	switch op.Kind.Of().Effect {
	case opkind.Remove:
	case opkind.Move:
		act.Do, act.Into = Move, b.place(op.Into)
	default:
		return
	}
	first := b.first(op.NS)
	for i := range b.keys {
		if k := &b.keys[i]; k.NS == first {
			a := act
			if op.Outcome == histories.Unknown {
				a.Maybe, a.Return = true, Never
			}
			k.Wiped = true
			k.Acts = append(k.Acts, a)
		}
	}
}

func (b *keyBuilder) see(at int32, op *histories.Op, s keySighting) {
	b.seen(b.find(op.NS, s.key), at, op, s)
}

// seen is see of the key at position i.
func (b *keyBuilder) seen(i, at int32, op *histories.Op, s keySighting) {
	k := &b.keys[i]
	a := KeyOp{Call: op.Call, Return: s.end, Op: at, See: Exactly, Place: b.place(op.NS)}
	if s.found {
		b.show(i, &a, s.value, s.list)
	}
	if isOrdered(op.Concern) {
		k.Acts = append(k.Acts, a)
		return
	}
	g := WeakRead{Op: at, Seen: a.Seen, Return: a.Return,
		Passing: op.Concern == "local" || op.Concern == "available"}
	k.WeakReads = append(k.WeakReads, g)
	for _, g.Seen = range k.Lists[a.List] {
		k.WeakReads = append(k.WeakReads, g)
	}
}

// show is that the act returned a document.
func (b *keyBuilder) show(key int32, a *KeyOp, value string, list []string) {
	a.See, a.Seen, a.List, a.Shows = Exactly, b.id(key, value), b.list(key, list), true
}

func (b *keyBuilder) list(key int32, values []string) int32 {
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

// act is what a write noticed and did.
func (b *keyBuilder) act(key, at int32, op *histories.Op) KeyOp {
	a := KeyOp{Call: op.Call, Return: op.Return, Op: at, Place: b.place(op.NS)}
	if op.Kind.Writes() {
		a.Put = b.puts[at]
	}
	if op.Outcome == histories.Unknown {
		a.Maybe, a.Return = true, Never
		b.intend(key, &a, op)
		return a
	}
	if !op.Result.Applied && op.Kind.Of().Refused != opkind.NeverRefused {
		a.Put = Absent
		b.refused(key, &a, op)
		return a
	}
	b.intend(key, &a, op)
	b.replaced(key, &a, op)
	return a
}

// effectsByKind are what kinds of operations do, as key operations do it.
var effectsByKind = [...]Do{
	opkind.Leave: Leave, opkind.Set: Set, opkind.Change: Change, opkind.Remove: Remove,
	opkind.Append: Append,
}

// intend is what the write does if it happens, and on which condition.
func (b *keyBuilder) intend(key int32, a *KeyOp, op *histories.Op) {
	kind := op.Kind.Of()
	a.Do = effectsByKind[kind.Effect]
	switch kind.Condition {
	case opkind.DocumentExpected:
		a.See, a.Seen = Exactly, Absent
		if op.Expect != "" {
			a.Seen = b.id(key, op.Expect)
		}
	case opkind.DocumentMissing:
		a.See = Exactly
	case opkind.DocumentPresent:
		a.See = Present
	}
}

// replaced is what an acknowledged write says of the document that it replaced or removed.
func (b *keyBuilder) replaced(key int32, a *KeyOp, op *histories.Op) {
	kind, r := op.Kind.Of(), &op.Result
	switch {
	case kind.Tells && r.Upserted:
		a.See = Exactly
	case kind.Tells && r.Found:
		a.See = Present
	case !kind.Returns:
	case r.Found:
		b.show(key, a, r.Value, r.List)
	case kind.Effect != opkind.Remove:
		a.See = Exactly
	case r.Applied:
		a.See = Present
	default:
		a.See, a.Do = Exactly, Leave
	}
}

// refused is what a write says that was carried out and found its condition not met.
func (b *keyBuilder) refused(key int32, a *KeyOp, op *histories.Op) {
	r := &op.Result
	switch {
	case op.Kind.Of().Refused == opkind.DocumentAbsent:
		a.See = Exactly
	case r.Found && r.Value != "":
		b.show(key, a, r.Value, r.List)
	case op.Expect != "":
		a.See, a.Seen = Except, b.id(key, op.Expect)
	default:
		a.See = Present
	}
}
