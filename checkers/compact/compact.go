// Package compact keeps of a history what checkers look at, in a sixth of the memory that a slice
// of operations takes: in a long history, memory that is touched for the first time is what costs
// most.
//
// What an operation shares with thousands of others (namespace, kind, outcome, concern) is a Form,
// kept once; texts are numbers; and fields that few operations have are stored separately.
//
// Promise: Operation returns what was added, except fields that no checker reads: the virtual times
// of call and answer, the error, how often it was tried again and how many documents it counted. An
// empty list comes back as nil.
//
// Refusal: it judges nothing, and keeps no order but that in which operations were added.
package compact

import (
	"slices"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// Op is one operation. The texts are those of histories.Op.Value, Expect and Result.Value.
type Op struct {
	Call, Return       uint64
	Key                int64
	ID, Client         int
	Value, Expect, Saw Text
	form               uint32
	// aside is the place of what only few operations have; 0 for none.
	aside uint32
	// Found, Applied and Upserted are those of the result; Complete, too.
	Found, Applied, Upserted, Complete bool
}

// Form is what many operations have in common.
type Form struct {
	NS, Into        string
	Name            opkind.Name
	Outcome         histories.Outcome
	Concern, Prefer string

	Causal, Exact, Lossy bool
	// Kind is what the name stands for.
	Kind *opkind.Kind
}

// Times are the cluster times of an operation: After, Time and Since of histories.Op.
type Times struct{ After, Time, Since uint64 }

// Item is a document that a scan returned.
type Item struct {
	Key    int64
	Value  Text
	List   []Text
	Return uint64
}

// Aside is what only few operations have.
type Aside struct {
	To    int64
	List  []Text
	Items []Item
}

// History is a history. The zero History is empty.
type History struct {
	Texts Texts
	// Watches are the operations that watch, which are not among the others.
	Watches []histories.Op

	blocks []*block
	len    int
	forms  []Form
	known  map[Form]uint32
	recent [64]uint32 // forms that came lately, by Form.likely
	asides []Aside
}

// A history grows by blocks, so that nothing is ever moved, and none is taken for more than comes.
const blockSize = 1 << 8

type block struct {
	ops [blockSize]Op
	// times is nil as long as no operation of the block names a time.
	times *[blockSize]Times
}

// Of keeps a history.
func Of(ops []histories.Op) *History {
	h := new(History)
	for i := range ops {
		h.Add(&ops[i])
	}
	return h
}

// Len is how many operations there are, those that watch apart.
func (h *History) Len() int { return h.len }

// Op is the operation at a position.
func (h *History) Op(i int) *Op { return &h.blocks[i/blockSize].ops[i%blockSize] }

// Form is that of an operation.
func (h *History) Form(op *Op) *Form { return &h.forms[op.form] }

// Kind is that of an operation.
func (h *History) Kind(op *Op) *opkind.Kind { return h.forms[op.form].Kind }

// Forms are all forms.
func (h *History) Forms() []Form { return h.forms }

// HasScans says whether an operation scans.
func (h *History) HasScans() bool {
	return slices.ContainsFunc(h.forms, func(f Form) bool { return f.Kind.Shape == opkind.Ranged })
}

// Times are those of the operation at a position.
func (h *History) Times(i int) Times {
	if times := h.blocks[i/blockSize].times; times != nil {
		return times[i%blockSize]
	}
	return Times{}
}

// Aside is what else the operation has, if anything.
func (h *History) Aside(op *Op) *Aside { return &h.asides[op.aside] }

// Add appends an operation, of which nothing but its stream is kept as it is.
func (h *History) Add(op *histories.Op) {
	form := h.form(op)
	if h.forms[form].Kind.Shape == opkind.Streams {
		h.Watches = append(h.Watches, *op)
		return
	}
	at := h.len % blockSize
	if at == 0 {
		h.blocks = append(h.blocks, new(block))
	}
	b := h.blocks[len(h.blocks)-1]
	h.len++
	o, r := &b.ops[at], &op.Result
	o.Call, o.Return, o.Key, o.ID, o.Client = op.Call, op.Return, op.Key, op.ID, op.Client
	o.Value, o.Expect, o.Saw = h.Texts.Of(op.Value), h.Texts.Of(op.Expect), h.Texts.Of(r.Value)
	o.form, o.aside = form, h.setAside(op)
	o.Found, o.Applied, o.Upserted, o.Complete = r.Found, r.Applied, r.Upserted, r.Complete
	if op.After|op.Time|op.Since == 0 {
		return
	}
	if b.times == nil {
		b.times = new([blockSize]Times)
	}
	b.times[at] = Times{op.After, op.Time, op.Since}
}

// form finds the form of an operation: mostly one that came lately.
func (h *History) form(op *histories.Op) uint32 {
	recent := &h.recent[likely(op)%len(h.recent)]
	if int(*recent) < len(h.forms) && h.forms[*recent].of(op) {
		return *recent
	}
	f := Form{
		NS: op.NS, Into: op.Into, Name: op.Kind, Outcome: op.Outcome, Concern: op.Concern,
		Prefer: op.Prefer, Causal: op.Causal, Exact: op.Exact, Lossy: op.Lossy,
	}
	at, known := h.known[f]
	if !known {
		at = uint32(len(h.forms))
		if h.known == nil {
			h.known = map[Form]uint32{}
			h.asides = []Aside{{}}
		}
		h.known[f] = at
		f.Kind = f.Name.Of()
		h.forms = append(h.forms, f)
	}
	*recent = at
	return at
}

// likely tells most forms of a history apart.
func likely(op *histories.Op) int {
	n := len(op.NS) + 3*len(op.Outcome) + 5*len(op.Concern)
	if name := op.Kind; name != "" {
		n += 7*len(name) + 11*int(name[0]) + 13*int(name[len(name)-1])
	}
	if op.Exact {
		n += 32
	}
	return n
}

// of says whether the form is that of the operation.
func (f *Form) of(op *histories.Op) bool {
	return f.NS == op.NS && f.Name == op.Kind && f.Outcome == op.Outcome &&
		f.Concern == op.Concern && f.Into == op.Into && f.Prefer == op.Prefer &&
		f.Causal == op.Causal && f.Exact == op.Exact && f.Lossy == op.Lossy
}

func (h *History) setAside(op *histories.Op) uint32 {
	r := &op.Result
	if op.To == 0 && len(r.List) == 0 && len(r.Items) == 0 {
		return 0
	}
	a := Aside{To: op.To, List: h.list(r.List)}
	if len(r.Items) > 0 {
		a.Items = make([]Item, len(r.Items))
	}
	for i := range r.Items {
		item := &r.Items[i]
		a.Items[i] = Item{item.Key, h.Texts.Of(item.Value), h.list(item.List), item.Return}
	}
	h.asides = append(h.asides, a)
	return uint32(len(h.asides) - 1)
}

func (h *History) list(list []string) []Text {
	if len(list) == 0 {
		return nil
	}
	texts := make([]Text, len(list))
	for i, text := range list {
		texts[i] = h.Texts.Of(text)
	}
	return texts
}

// Operation is the operation at a position as it was added.
func (h *History) Operation(i int) *histories.Op {
	o := h.Op(i)
	f, a, t := h.Form(o), h.Aside(o), h.Times(i)
	op := &histories.Op{
		ID: o.ID, Client: o.Client, NS: f.NS, Kind: f.Name, Key: o.Key, To: a.To,
		Value: h.Texts.Text(o.Value), Expect: h.Texts.Text(o.Expect),
		Concern: f.Concern, Prefer: f.Prefer, Causal: f.Causal, Into: f.Into,
		Call: o.Call, Return: o.Return, Outcome: f.Outcome,
		After: t.After, Time: t.Time, Since: t.Since, Exact: f.Exact, Lossy: f.Lossy,
		Result: histories.Result{
			Found: o.Found, Value: h.Texts.Text(o.Saw), List: h.textsOf(a.List),
			Applied: o.Applied, Upserted: o.Upserted, Complete: o.Complete,
		},
	}
	for i := range a.Items {
		item := &a.Items[i]
		op.Result.Items = append(op.Result.Items, histories.Item{
			Key: item.Key, Value: h.Texts.Text(item.Value), List: h.textsOf(item.List),
			Return: item.Return,
		})
	}
	return op
}

func (h *History) textsOf(list []Text) (texts []string) {
	for _, t := range list {
		texts = append(texts, h.Texts.Text(t))
	}
	return texts
}
