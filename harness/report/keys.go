package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/shardproof/shardproof/harness/explain"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// keyOf is a document's key. Place is where its shard key stands among all bounds and keys, so that
// a range holds it when Place is at least that of the lower bound and below that of the upper one.
type keyOf struct {
	NS    string `json:"ns"`
	Text  string `json:"text"`
	Place int    `json:"place"`
	shard string
}

// keys are all keys of a run, and the order of everything encoded.
type keys struct {
	all    []keyOf
	at     map[[2]string]int
	places []string
}

func keysOf(r *runner.Result) *keys {
	k := &keys{at: map[[2]string]int{}}
	for i := range r.Events {
		e := &r.Events[i]
		k.places = append(k.places, e.Min, e.Max, e.Key)
		for _, c := range e.Chunks {
			k.places = append(k.places, c.Min, c.Max)
		}
		if e.Kind == trace.Applied && e.DocID != "" {
			k.add(e.NS, key.Key(explain.NumberOf(e)).String(), e.Key)
		}
	}
	for i := range r.History {
		if op := &r.History[i]; op.Kind.Of().Shape == opkind.Keyed {
			k.add(op.NS, strconv.FormatInt(op.Key, 10), string(key.Int(op.Key)))
		}
	}
	k.sort()
	return k
}

// add notes a key once. The first shard key counts: that of an event is exact, while that of an
// operation is right only where the shard key is the key itself.
func (k *keys) add(ns, text, shard string) {
	if _, ok := k.at[[2]string{ns, text}]; ok {
		return
	}
	k.at[[2]string{ns, text}] = 0
	k.all = append(k.all, keyOf{NS: ns, Text: text, shard: shard})
	k.places = append(k.places, shard)
}

func (k *keys) sort() {
	slices.Sort(k.places)
	k.places = slices.Compact(k.places)
	slices.SortFunc(k.all, func(a, b keyOf) int {
		x, _ := strconv.ParseInt(a.Text, 10, 64)
		y, _ := strconv.ParseInt(b.Text, 10, 64)
		return cmp.Or(cmp.Compare(a.NS, b.NS), cmp.Compare(x, y), cmp.Compare(a.Text, b.Text))
	})
	for i := range k.all {
		k.all[i].Place = k.place(k.all[i].shard)
		k.at[[2]string{k.all[i].NS, k.all[i].Text}] = i
	}
}

func (k *keys) place(encoded string) int {
	i, _ := slices.BinarySearch(k.places, encoded)
	return i
}

// find is the position of a key, -1 for none; any collection's when ns is empty.
func (k *keys) find(ns, text string) int {
	return slices.IndexFunc(k.all, func(one keyOf) bool {
		return text != "" && one.Text == text && (ns == "" || one.NS == ns)
	})
}

// number is the position of the key of an operation, -1 for one of a range or a collection.
func (k *keys) number(ns string, n int64, kind opkind.Name) int {
	if kind.Of().Shape != opkind.Keyed {
		return -1
	}
	return k.find(ns, fmt.Sprint(n))
}

// document is the position of the key of a document that an event is about, -1 for none.
func (k *keys) document(e *trace.Event) int {
	if e.DocID == "" {
		return -1
	}
	return k.find(e.NS, key.Key(explain.NumberOf(e)).String())
}
