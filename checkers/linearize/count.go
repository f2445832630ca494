package linearize

import (
	"maps"
	"slices"

	"github.com/shardproof/shardproof/checkers/compact"
	"github.com/shardproof/shardproof/histories/opkind"
)

// tally counts the acts of a key and the identities that they write.
type tally struct{ acts, names int }

func (b *keyBuilder) find(ns string, key int64) int32 {
	space := b.space(ns)
	at, known := space[key]
	if !known {
		ns = b.first(ns)
		at = int32(len(b.keys))
		space[key] = at
		b.keys = append(b.keys, Key{
			NS:     ns,
			Key:    key,
			Lists:  [][]ID{nil},
			Places: max(1, len(b.names[ns])),
		})
		b.counts = append(b.counts, tally{names: int(firstName)})
	}
	return at
}

// space are the keys of a collection.
func (b *keyBuilder) space(ns string) map[int64]int32 {
	if b.recent != nil && b.recentNS == ns {
		return b.recent
	}
	first := b.first(ns)
	if b.spaces[first] == nil {
		b.spaces[first] = map[int64]int32{}
	}
	b.recent, b.recentNS = b.spaces[first], ns
	return b.recent
}

// count finds the keys that operations name or return, numbers the identities that are written, and
// says how many acts and identities each of them will have, so that all of them fit into one
// allocation.
func (b *keyBuilder) count() {
	for i := range b.h.Len() {
		op := b.h.Op(i)
		form := b.h.Form(op)
		switch form.Kind.Shape {
		case opkind.Whole:
		case opkind.Ranged:
			for _, item := range b.h.Aside(op).Items {
				b.find(form.NS, item.Key)
			}
		default:
			at := b.find(form.NS, op.Key)
			b.at[i] = at
			n := &b.counts[at]
			n.acts++
			if form.Kind.Value {
				b.puts[i] = b.number(n, at, op.Value)
			}
		}
	}
}

// number is that of an identity that is written, a new one if none was written before.
func (b *keyBuilder) number(n *tally, key int32, value compact.Text) ID {
	if value == 0 {
		return Unnamed
	}
	id := b.ids.find(key, value)
	if *id == Absent {
		*id = ID(n.names)
		n.names++
	}
	return *id
}

// countScans adds what scans say of keys, once all keys are known.
func (b *keyBuilder) countScans() {
	if !b.h.HasScans() {
		return
	}
	for i := range b.h.Len() {
		op := b.h.Op(i)
		form := b.h.Form(op)
		if form.Kind.Shape != opkind.Ranged {
			continue
		}
		if _, done := b.sorted[form.NS]; !done {
			b.sorted[form.NS] = slices.Sorted(maps.Keys(b.spaces[b.first(form.NS)]))
		}
		b.eachSighting(op, func(s Sighting) { b.counts[b.find(form.NS, s.Key)].acts++ })
	}
}

func (b *keyBuilder) eachSighting(op *compact.Op, each func(Sighting)) {
	eachSighting(b.h, op, b.sorted[b.h.Form(op).NS], each)
}

func (b *keyBuilder) divide() {
	var all tally
	for _, n := range b.counts {
		all.acts, all.names = all.acts+n.acts, all.names+n.names
	}
	acts, names := make([]KeyOp, all.acts), make([]compact.Text, all.names)
	writers, refused := make([]int32, all.names), make([]bool, all.names)
	for i := range writers {
		writers[i] = NoWriter
	}
	for i, n := range b.counts {
		k := &b.keys[i]
		k.Acts, acts = acts[:0:n.acts], acts[n.acts:]
		k.Names, names = names[:n.names:n.names], names[n.names:]
		k.Writers, writers = writers[:n.names:n.names], writers[n.names:]
		k.Refused, refused = refused[:n.names:n.names], refused[n.names:]
	}
}
