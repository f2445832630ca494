package checkers

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/linearize"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// UniqueWrites follows every write by the identity it carries: none is lost, invented, doubled or
// risen again.
var UniqueWrites = Checker{
	Name: "unique-writes",
	Promise: "An acknowledged majority write is visible to every later linearizable read, and " +
		"no read returns a value that was never written.",
	Signatures: Meanings{
		LostWrite:        "an acknowledged write was not found by later operations",
		staleRead:        "an operation found an older value, and later ones the newer one",
		extraWrite:       "a value was read that was never written, or before it was written",
		dirtyWrite:       "a value was read whose write had failed",
		resurrectedWrite: "a value was read again after it had been deleted",
		duplicatedWrite:  "one write took effect twice",
		reorderedWrites:  "two observers disagree on the order of writes",
	},
}

// The signatures of identity violations.
const (
	LostWrite        Signature = "lost-write"
	staleRead        Signature = "stale-read"
	extraWrite       Signature = "unwritten-value"
	dirtyWrite       Signature = "aborted-read"
	resurrectedWrite Signature = "resurrected-write"
	duplicatedWrite  Signature = "duplicate-write"
	reorderedWrites  Signature = "reordered-writes"
)

// uniqueFindings are the verdict of the unique-writes analysis and what it leaves to search for, as
// positions in keyed.keys: keys that stay open, keys with a proven contradiction, which a search
// must confirm, and keys that have an order.
type uniqueFindings struct {
	verdict                 Verdict
	open, broken, explained []int
}

var _ = declare(10, &UniqueWrites, func(h *history) Verdict { return h.findUnique().verdict })

func (h *history) findUnique() *uniqueFindings {
	if h.unique == nil {
		h.unique = analyseUnique(h.keyed)
	}
	return h.unique
}

func analyseUnique(h keyed) *uniqueFindings {
	f := uniqueFindings{verdict: UniqueWrites.Begin()}
	v := &f.verdict
	v.Checked = h.ops.Len()
	var analysis linearize.Analysis
	for i := range h.keys {
		k := &h.keys[i]
		h.checkWeakReads(v, k)
		switch r := analysis.Of(k); r.Answer {
		case linearize.Contradiction:
			f.broken = append(f.broken, i)
			v.Add(h.violation(k, r.Proof))
		case linearize.Open:
			f.open = append(f.open, i)
		case linearize.Explained:
			f.explained = append(f.explained, i)
		}
	}
	return &f
}

// checkWeakReads holds reads of any concern to the one thing that all promise: what they show was
// written, before they returned, by a write that nobody was told had failed.
func (h keyed) checkWeakReads(v *Verdict, k *linearize.Key) {
	for _, g := range k.WeakReads {
		if g.Seen <= linearize.Unnamed {
			continue
		}
		if w := k.Writers[g.Seen]; w == linearize.NoWriter || k.Refused[g.Seen] {
			v.Add(h.phantom(k, int(g.Op), g.Seen))
		} else if h.ops.Op(int(w)).Call > h.ops.Op(int(g.Op)).Return {
			v.Add(h.early(k, int(g.Op), g.Seen))
		}
	}
}

// violation tells a proof.
func (h keyed) violation(k *linearize.Key, p linearize.Proof) Violation {
	ops := make([]int, len(p.Acts))
	for i, act := range p.Acts {
		ops[i] = int(k.Acts[act].Op)
	}
	switch p.Reason {
	case linearize.Phantom:
		return h.phantom(k, ops[0], p.ID)
	case linearize.Early:
		return h.early(k, ops[0], p.ID)
	case linearize.Duplicated:
		return h.duplicated(k, ops[0], p.ID)
	case linearize.Unseen:
		return h.unseen(k, ops, p.ID)
	case linearize.Missed:
		return h.missed(k, p.Acts)
	case linearize.Backwards:
		return h.backwards(k, p.Acts)
	case linearize.Entangled:
		return h.entangled(k, p.Acts)
	}
	return h.rivals(k, p, ops)
}

// about starts a violation that is proven by these operations, given by position.
func (h keyed) about(k *linearize.Key, signature Signature, ops ...int) Violation {
	v := Violation{Signature: signature, NS: k.NS, Key: fmt.Sprint(k.Key)}
	for i, op := range ops {
		if id := h.ops.Op(op).ID; i == 0 || h.ops.Op(ops[i-1]).ID != id {
			v.Ops = append(v.Ops, id)
		}
	}
	return v
}

func (h keyed) phantom(k *linearize.Key, reader int, id linearize.ID) Violation {
	name := h.text(k, id)
	if w := k.Writers[id]; w != linearize.NoWriter {
		v := h.about(k, dirtyWrite, int(w), reader)
		v.Broke = fmt.Sprintf("k=%d: the value %s was read although its write had failed",
			k.Key, name)
		v.Because = []string{h.tell(int(w)), h.tell(reader)}
		return v
	}
	v := h.about(k, extraWrite, reader)
	v.Broke = fmt.Sprintf("k=%d: the value %s was read, which was never written to this key",
		k.Key, name)
	v.Because = []string{
		h.tell(reader), fmt.Sprintf("no operation of the history writes %s to k=%d", name, k.Key),
	}
	return v
}

func (h keyed) early(k *linearize.Key, reader int, id linearize.ID) Violation {
	v := h.about(k, extraWrite, reader, int(k.Writers[id]))
	v.Broke = fmt.Sprintf("k=%d: the value %s was read before it was written", k.Key, h.text(k, id))
	v.Because = []string{h.tell(reader), "later " + h.tell(int(k.Writers[id]))}
	return v
}

func (h keyed) duplicated(k *linearize.Key, reader int, id linearize.ID) Violation {
	v := h.about(k, duplicatedWrite, int(k.Writers[id]), reader)
	v.Broke = fmt.Sprintf("k=%d: %s was pushed once and is in the list twice", k.Key, h.text(k, id))
	v.Because = []string{h.tell(int(k.Writers[id])), h.tell(reader)}
	return v
}

func (h keyed) unseen(k *linearize.Key, ops []int, id linearize.ID) Violation {
	push, reader, later := ops[0], ops[1], ops[2]
	v := h.about(k, LostWrite, push, reader, later)
	v.Broke = fmt.Sprintf(
		"k=%d: the push of %s was acknowledged, and a later read of the list lacks it",
		k.Key, h.text(k, id),
	)
	v.Because = []string{h.tell(push), "then " + h.tell(later)}
	if later != reader {
		v.Because = append(v.Because,
			"this read rules out that the list was read in an earlier state: "+h.tell(reader))
	}
	return v
}

func (h keyed) missed(k *linearize.Key, acts []int32) Violation {
	absence, before := int(k.Acts[acts[0]].Op), int(k.Acts[acts[0]].Op)
	if len(acts) > 1 {
		before = int(k.Acts[acts[1]].Op)
	}
	v := h.about(k, h.gone(k, acts[0]), before, absence)
	v.Broke = fmt.Sprintf(
		"k=%d: a document was not found, although it had been there and nothing had deleted it "+
			"since", k.Key,
	)
	v.Because = []string{h.tell(before), "then " + h.tell(absence)}
	if len(acts) > 2 {
		v.Because = append(v.Because,
			"the same document was still there at "+h.tell(int(k.Acts[acts[2]].Op)))
	} else {
		v.Because = append(v.Because, "no operation in between can have deleted it")
	}
	return v
}

// gone tells a document that is lost from one that was only out of sight: later somebody found it.
func (h keyed) gone(k *linearize.Key, absence int32) Signature {
	for i := range k.Acts {
		a := &k.Acts[i]
		if a.See == linearize.Exactly && a.Seen != linearize.Absent &&
			a.Call > k.Acts[absence].Return {
			if w := k.Writers[a.Seen]; w >= 0 && h.ops.Op(int(w)).Return < k.Acts[absence].Call {
				return staleRead
			}
		}
	}
	return LostWrite
}

// backwards: the first act saw what the third had replaced before, as the second proves.
func (h keyed) backwards(k *linearize.Key, acts []int32) Violation {
	first, second, newer := &k.Acts[acts[0]], &k.Acts[acts[1]], &k.Acts[acts[2]]
	v := h.about(k, h.replacedSignature(k, first, newer), int(newer.Op), int(second.Op),
		int(first.Op))
	replaced := "replaced it"
	if value(first) == linearize.Absent {
		replaced = "written a document"
	}
	v.Broke = fmt.Sprintf("k=%d: %s found %s, although %s had %s before", k.Key,
		h.name(int(first.Op)), h.state(k, first), h.name(int(newer.Op)), replaced)
	v.Because = []string{h.tell(int(newer.Op))}
	if second.Op != newer.Op {
		v.Because = append(v.Because, "which had taken effect before "+h.tell(int(second.Op)))
	}
	v.Because = append(v.Because, "then "+h.tell(int(first.Op)))
	return v
}

func (h keyed) replacedSignature(k *linearize.Key, late, newer *linearize.KeyOp) Signature {
	switch {
	case newer.Do == linearize.Remove:
		return resurrectedWrite
	case h.seenAfter(k, newer.Put, late.Return):
		return staleRead
	}
	return LostWrite
}

func (h keyed) seenAfter(k *linearize.Key, id linearize.ID, after uint64) bool {
	for i := range k.Acts {
		if a := &k.Acts[i]; a.See == linearize.Exactly && a.Seen == id && a.Return > after {
			return true
		}
	}
	return false
}

// entangled: A was over before B was seen, and B before A was seen again. The one that was over
// first is the older one.
func (h keyed) entangled(k *linearize.Key, acts []int32) Violation {
	oldEnd, oldLate, newEnd, newLate := &k.Acts[acts[0]], &k.Acts[acts[1]], &k.Acts[acts[2]],
		&k.Acts[acts[3]]
	if newEnd.Return < oldEnd.Return {
		oldEnd, oldLate, newEnd, newLate = newEnd, newLate, oldEnd, oldLate
	}
	signature := LostWrite
	if h.seenAfter(k, value(newEnd), oldLate.Return) || newLate.Return > oldLate.Return {
		signature = staleRead
	}
	v := h.about(k, signature, int(oldEnd.Op), int(newEnd.Op), int(oldLate.Op), int(newLate.Op))
	v.Broke = fmt.Sprintf("k=%d: %s was read again after %s had replaced it",
		k.Key, h.state(k, oldLate), h.state(k, newEnd))
	v.Because = []string{
		h.tell(int(oldEnd.Op)), h.tell(int(newEnd.Op)), "then " + h.tell(int(oldLate.Op)),
	}
	if newLate.Op != newEnd.Op {
		v.Because = append(v.Because, h.tell(int(newLate.Op)))
	}
	return v
}

// rivals: two operations of which only one can have happened after the other, and neither can.
func (h keyed) rivals(k *linearize.Key, p linearize.Proof, ops []int) Violation {
	v := h.about(k, LostWrite, ops...)
	switch {
	case p.Reason == linearize.Forked && p.ID == linearize.Absent, p.Reason == linearize.TwoLives:
		v.Broke = fmt.Sprintf(
			"k=%d: two operations each found no document and inserted one, and nothing deleted a "+
				"document in between", k.Key,
		)
	case p.Reason == linearize.Forked:
		v.Broke = fmt.Sprintf(
			"k=%d: two operations both replaced %s, so that one of their writes is lost",
			k.Key, h.named(k, p.ID),
		)
	case p.Reason == linearize.Outlived:
		v.Broke = fmt.Sprintf(
			"k=%d: a document was inserted, although another one was there and nothing had "+
				"deleted it", k.Key,
		)
	case p.Reason == linearize.Circle:
		v.Signature = reorderedWrites
		v.Broke = fmt.Sprintf(
			"k=%d: %s replaced %s, which itself was derived from what that operation wrote",
			k.Key, h.name(ops[0]), h.named(k, p.ID),
		)
	case p.Reason == linearize.Diverging:
		v.Signature = reorderedWrites
		v.Broke = fmt.Sprintf("k=%d: two reads of the list disagree on the position of %s",
			k.Key, h.named(k, p.ID))
	}
	for _, op := range ops {
		v.Because = append(v.Because, h.tell(op))
	}
	return v
}

// value is what an act says the state was at its time.
func value(a *linearize.KeyOp) linearize.ID {
	if a.Do == linearize.Set || a.Do == linearize.Change {
		return a.Put
	}
	return a.Seen
}

func (h keyed) state(k *linearize.Key, a *linearize.KeyOp) string { return h.named(k, value(a)) }

func (h keyed) text(k *linearize.Key, id linearize.ID) string {
	return h.ops.Texts.Text(k.Names[id])
}

func (h keyed) named(k *linearize.Key, id linearize.ID) string {
	switch id {
	case linearize.Absent:
		return "no document"
	case linearize.Unnamed:
		return "a document without a value"
	}
	return h.text(k, id)
}

func (h keyed) name(at int) string { return fmt.Sprintf("operation %d", h.ops.Op(at).ID) }

// tell is an operation as a sentence.
func (h keyed) tell(at int) string {
	op := h.ops.Operation(at)
	what := fmt.Sprintf("operation %d (client %d, call %d, return %d): %s k=%d",
		op.ID, op.Client, op.Call, op.Return, op.Kind, op.Key)
	switch {
	case op.Kind.Of().Shape == opkind.Ranged:
		what = fmt.Sprintf("operation %d (client %d, call %d, return %d): %s [%d, %d)",
			op.ID, op.Client, op.Call, op.Return, op.Kind, op.Key, op.To)
	case op.Kind.Of().Expects():
		what += fmt.Sprintf(" from %q to %s", op.Expect, op.Value)
	case op.Value != "":
		what += " " + op.Value
	}
	return what + " " + answer(op)
}

func answer(op *histories.Op) string {
	kind, r := op.Kind.Of(), &op.Result
	switch {
	case op.Outcome == histories.Failed:
		return "failed"
	case op.Outcome == histories.Unknown:
		return "got no answer"
	case kind.Shape == opkind.Ranged:
		return fmt.Sprintf("returned %d documents", len(r.Items))
	case kind.Reads() && !r.Found:
		return "found no document"
	case kind.Reads() && len(r.List) > 0:
		return fmt.Sprintf("returned the list %v", r.List)
	case r.Upserted:
		return "found no document"
	case r.Found && r.Value == "":
		return "found a document"
	case r.Found:
		return "returned " + r.Value
	case kind.Value && !r.Applied && !kind.Returns:
		return "changed nothing"
	}
	return "was acknowledged"
}
