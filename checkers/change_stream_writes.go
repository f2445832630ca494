package checkers

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/compact"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// changed is what is known of one document while its changes are followed.
type changed struct {
	// known is false until the first change of a stretch; then there is a document with value and
	// list, or none.
	known, present bool
	value          string
	list           []string
	// removed names the values that a change removed; blind is set when one was removed that nobody
	// knows.
	removed map[string]bool
	blind   bool
	// lateCall is the latest call of the writes so far, of operation lateOp.
	lateCall uint64
	lateOp   int
}

// writes holds the changes of a collection against the operations that clients know of.
type writes struct {
	*changeLog
	v   *Verdict
	ops *compact.History
	// of finds the write of an identity on a key, at its change, as far as that is certain; touched
	// also counts those that may only have been there already.
	of      map[identity]int
	at      map[int]*histories.Change
	touched map[int]bool
	docs    map[int64]*changed
}

type identity struct {
	key   int64
	value string
}

func judgeWrites(v *Verdict, l *changeLog, ops *compact.History) {
	w := &writes{
		changeLog: l,
		v:         v,
		ops:       ops,
		of:        map[identity]int{},
		at:        map[int]*histories.Change{},
		touched:   map[int]bool{},
		docs:      map[int64]*changed{},
	}
	for i := range ops.Len() {
		op := ops.Op(i)
		if f := ops.Form(op); f.NS == l.ns && f.Kind.Value {
			w.of[identity{op.Key, ops.Texts.Text(op.Value)}] = i
		}
	}
	next := 0
	for i := range l.covered {
		w.forget()
		for ; next < len(l.changes) &&
			l.changes[next].Token.Compare(l.covered[i].upto) <= 0; next++ {
			w.follow(l.changes[next])
		}
		if s := &l.covered[i]; s.drained && s.opened != 0 {
			w.demand(s.opened)
		}
	}
	w.compareTimes()
}

func (w *writes) outcome(i int) histories.Outcome { return w.ops.Form(w.ops.Op(i)).Outcome }

// forget: between two stretches changes may have happened that nobody was delivered.
func (w *writes) forget() {
	//shardproof:allow map every document by itself
	for _, d := range w.docs {
		d.known = false
	}
}

func (w *writes) doc(key int64) *changed {
	d := w.docs[key]
	if d == nil {
		d = &changed{removed: map[string]bool{}}
		w.docs[key] = d
	}
	return d
}

// follow holds a change against the document before it and the write it comes from.
func (w *writes) follow(c *histories.Change) {
	d := w.doc(c.Key)
	if d.known && d.present == (c.Kind == "insert") {
		w.wrong(c, d, "an insert finds no document, every other change finds one")
	}
	switch {
	case c.Kind == "delete":
		w.followDelete(d)
	case c.Kind == "update":
		w.followUpdate(c, d)
	default:
		w.attribute(c, c.Value, d)
	}
	d.known, d.present, d.value, d.list = true, c.Kind != "delete", c.Value, c.List
}

func (w *writes) followDelete(d *changed) {
	if d.known {
		d.removed[d.value] = true
	} else {
		d.blind = true
	}
}

// followUpdate: an update sets the value or pushes to the list. What it did is certain only when
// the document before is.
func (w *writes) followUpdate(c *histories.Change, d *changed) {
	n := len(c.List)
	switch {
	case !d.known:
		w.touch(c.Key, c.Value)
		if n > 0 {
			w.touch(c.Key, c.List[n-1])
		}
	case c.Value == d.value && n == len(d.list)+1 && slices.Equal(c.List[:n-1], d.list):
		w.attribute(c, c.List[n-1], d)
	case c.Value != d.value && slices.Equal(c.List, d.list):
		w.attribute(c, c.Value, d)
	default:
		w.wrong(c, d, "an update sets the value or pushes one element")
	}
}

func (w *writes) touch(key int64, value string) {
	if i, known := w.of[identity{key, value}]; known {
		w.touched[i] = true
	}
}

// attribute finds the write of a change: it has one, which has no other.
func (w *writes) attribute(c *histories.Change, value string, d *changed) {
	i, known := w.of[identity{c.Key, value}]
	switch {
	case !known:
		w.report(changeInvented, c, -1, "no operation wrote "+value+" to the key")
		return
	case w.outcome(i) == histories.Failed:
		w.report(changeInvented, c, i, fmt.Sprintf("operation %d failed", w.ops.Op(i).ID))
		return
	case w.at[i] != nil:
		w.report(changeDoubled, c, i,
			fmt.Sprintf("the write of operation %d was delivered before, as %s",
				w.ops.Op(i).ID, tellChange(w.at[i])))
		return
	}
	w.at[i], w.touched[i] = c, true
	w.comparePlace(c, i, d)
}

// comparePlace holds what a write says it replaced against the change before, and its time against
// those of the others on the key.
func (w *writes) comparePlace(c *histories.Change, i int, d *changed) {
	op := w.ops.Operation(i)
	want, present, told := replacedBy(op)
	if told && d.known && (present != d.present || present && want != d.value) {
		w.wrong(c, d, fmt.Sprintf("operation %d found %q", op.ID, want))
	}
	if op.Outcome == histories.OK && op.Return < d.lateCall {
		w.report(ChangeTimes, c, i,
			fmt.Sprintf(
				"operation %d ended before operation %d began, whose change was delivered first",
				op.ID, d.lateOp,
			))
	}
	if op.Call > d.lateCall {
		d.lateCall, d.lateOp = op.Call, op.ID
	}
}

// replacedBy is the document that an acknowledged write found, as far as it tells.
func replacedBy(op *histories.Op) (value string, present, told bool) {
	kind := op.Kind.Of()
	switch {
	case op.Outcome != histories.OK:
		return "", false, false
	case kind.Value && kind.Returns:
		return op.Result.Value, op.Result.Found, true
	case kind.Expects():
		return op.Expect, op.Expect != "", true
	case kind.Condition == opkind.DocumentMissing:
		return "", false, true
	}
	return "", false, false
}

// demand wants a change of every acknowledged write that was called after a reader had begun.
func (w *writes) demand(opened uint64) {
	for i := range w.ops.Len() {
		short := w.ops.Op(i)
		f := w.ops.Form(short)
		if f.NS != w.ns || short.Call < opened || f.Outcome != histories.OK || !short.Applied {
			continue
		}
		op := w.ops.Operation(i)
		if w.delivered(i, op) {
			continue
		}
		w.v.Add(Violation{
			Signature: ChangeMissed,
			NS:        w.ns,
			Key:       fmt.Sprint(op.Key),
			Ops:       []int{op.ID},
			Broke: fmt.Sprintf("k=%d: the streams delivered no change for operation %d (%s %s)",
				op.Key, op.ID, op.Kind, op.Value),
			Because: []string{
				fmt.Sprintf(
					"it was called at event %d, after a stream was opened at event %d, and "+
						"acknowledged", op.Call, opened,
				),
				"the readers went on from there to the end without a gap",
			},
		})
	}
}

func (w *writes) delivered(i int, op *histories.Op) bool {
	if op.Kind.Of().Effect != opkind.Remove {
		return w.touched[i]
	}
	d := w.doc(op.Key)
	return !op.Result.Found || d.blind || d.removed[op.Result.Value]
}

// compareTimes: what a client writes later has a later cluster time, since the client carries it.
// The writes of one command, which overlap in the history, have no order among each other: when a
// shard has lost a part of them, and the command is sent again, that part comes last (protocol 7).
// Preloaded documents have no client: they are there at once, some of them with one cluster time.
func (w *writes) compareTimes() {
	last := map[int]int{}
	order := make([]int, 0, len(w.at))
	for i := range w.ops.Len() {
		if w.at[i] != nil && w.outcome(i) == histories.OK &&
			w.ops.Op(i).Client != histories.PreloadClient {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(w.ops.Op(a).Call, w.ops.Op(b).Call)
	})
	for _, i := range order {
		op := w.ops.Op(i)
		before, any := last[op.Client]
		early := any && w.at[before].Token.Time >= w.at[i].Token.Time
		if early && w.ops.Op(before).Return < op.Call {
			w.reportOf(ChangeTimes, w.at[i], []int{op.ID, w.ops.Op(before).ID},
				fmt.Sprintf("the client's earlier operation %d was delivered as %s",
					w.ops.Op(before).ID, tellChange(w.at[before])))
		}
		if !early {
			last[op.Client] = i
		}
	}
}

func (w *writes) wrong(c *histories.Change, d *changed, rule string) {
	before := "there was no document"
	if d.present {
		before = fmt.Sprintf("the document was %s %v", d.value, d.list)
	}
	i, known := w.of[identity{c.Key, c.Value}]
	if !known {
		i = -1
	}
	w.report(ChangeWrong, c, i, before, rule)
}

// report adds a violation of a change and the operation at position i, -1 for none.
func (w *writes) report(signature Signature, c *histories.Change, i int, because ...string) {
	var ops []int
	if i >= 0 {
		ops = []int{w.ops.Op(i).ID}
	}
	w.reportOf(signature, c, ops, because...)
}

// reportOf reports a change, and the operations that prove that it is wrong.
func (w *writes) reportOf(
	signature Signature, c *histories.Change, ops []int, because ...string,
) {
	w.v.Add(Violation{
		Signature: signature,
		NS:        w.ns,
		Key:       fmt.Sprint(c.Key),
		Because:   because,
		Broke:     "the streams delivered " + tellChange(c),
		Ops:       ops,
		Times:     []int64{happened(c)},
	})
}
