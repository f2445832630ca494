package wellformed

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

var (
	outcomes = []string{string(histories.OK), string(histories.Failed), string(histories.Unknown)}
	// Empty stands for linearizable.
	concerns = []string{"local", "available", "majority", "linearizable", "snapshot"}
	changes  = []string{"insert", "update", "replace", "delete", "drop", "rename", "invalidate"}
)

// lastTick is the highest event number: checkers add to them, and give those that never end the
// highest number of all.
const lastTick = math.MaxInt64

// words are those of an operation of which checkers know each; all but the values.
type words struct {
	kind    scenario.OpKind
	outcome histories.Outcome

	ns, into, concern, prefer string
}

// of says whether the words are those of the operation.
func (w *words) of(op *histories.Op) bool {
	return w.kind == op.Kind && w.outcome == op.Outcome && w.ns == op.NS &&
		w.concern == op.Concern && w.into == op.Into && w.prefer == op.Prefer
}

// familiar are words that came lately, in which nothing was wrong: a history has few, and each many
// times over.
type familiar struct {
	all [32]struct {
		words
		kind *opkind.Kind
	}
}

// flaw is what is wrong with an operation by itself.
func (f *familiar) flaw(op *histories.Op) (wrong, remedy string) {
	known := &f.all[(3*len(op.Kind)+5*len(op.Concern)+len(op.Outcome)+len(op.NS))%len(f.all)]
	if known.kind == nil || !known.of(op) {
		kind := op.Kind.Of()
		if wrong, remedy := wordFlaw(op, kind); wrong != "" {
			return wrong, remedy
		}
		known.words = words{op.Kind, op.Outcome, op.NS, op.Into, op.Concern, op.Prefer}
		known.kind = kind
	}
	return flawBesideWords(op, known.kind)
}

// flawBesideWords looks at what is not words.
func flawBesideWords(op *histories.Op, kind *opkind.Kind) (wrong, remedy string) {
	if wrong, remedy = timeFlaw(op); wrong != "" {
		return wrong, remedy
	}
	if wrong, remedy = operandFlaw(op, kind); wrong != "" {
		return wrong, remedy
	}
	if wrong, remedy = readFlaw(op, kind); wrong != "" {
		return wrong, remedy
	}
	if wrong, remedy = answerFlaw(op, kind); wrong != "" {
		return wrong, remedy
	}
	return streamFlaw(op, kind)
}

func oneOf(words []string) string { return "write one of " + strings.Join(words, ", ") }

// wordFlaw looks for words that nobody knows.
func wordFlaw(op *histories.Op, kind *opkind.Kind) (wrong, remedy string) {
	switch {
	case kind.Shape == 0:
		return fmt.Sprintf("has the unknown kind %q", op.Kind), "write one of " + opkind.List()
	case !slices.Contains(outcomes, string(op.Outcome)):
		return fmt.Sprintf("has the unknown outcome %q", op.Outcome), oneOf(outcomes)
	case op.Concern != "" && !slices.Contains(concerns, op.Concern):
		return fmt.Sprintf("has the unknown concern %q", op.Concern), oneOf(concerns)
	case op.Prefer != "" && op.Prefer != scenario.Secondary:
		return fmt.Sprintf("has the unknown read preference %q", op.Prefer),
			"write " + scenario.Secondary + ", or leave it out for the primary"
	case op.NS == "":
		return "names no collection", `give one as "ns"`
	case !scenario.IsPlain(op.NS) || !scenario.IsPlain(op.Into):
		return fmt.Sprintf("names the collections %q and %q", op.NS, op.Into),
			"write names without control characters"
	}
	return "", ""
}

// timeFlaw looks for an answer that was there before its call.
func timeFlaw(op *histories.Op) (wrong, remedy string) {
	switch {
	case op.Call == 0 || op.Return <= op.Call || op.Return > lastTick:
		return fmt.Sprintf("was called at %d and answered at %d", op.Call, op.Return),
			fmt.Sprintf("number the calls and answers of all clients from 1, in the order in "+
				"which they happened, up to %d; without an answer, when the client gave up",
				uint64(lastTick))
	case op.CallAt < 0 || op.ReturnAt < op.CallAt:
		return fmt.Sprintf("was called at %d ns and answered at %d ns", op.CallAt, op.ReturnAt),
			"write nanoseconds since the start of the run"
	}
	return "", ""
}

// operandFlaw looks for operands that the kind does not have, and for those that are missing.
func operandFlaw(op *histories.Op, kind *opkind.Kind) (wrong, remedy string) {
	switch {
	case kind.Value && op.Value == "":
		return fmt.Sprintf("is a %s without a value", op.Kind), "write the value that identifies it"
	case !kind.Value && op.Value != "":
		return fmt.Sprintf("is a %s, and has the value %q", op.Kind, op.Value), "leave it out"
	case !kind.Expects() && op.Expect != "":
		return fmt.Sprintf("is a %s, and expects the value %q", op.Kind, op.Expect), "leave it out"
	case kind.Renames != (op.Into != ""):
		return fmt.Sprintf("is a %s into %q", op.Kind, op.Into),
			`write the new name of what is renamed as "into", and of nothing else`
	case kind.Shape == opkind.Ranged && op.To <= op.Key:
		return fmt.Sprintf("scans the range [%d, %d)", op.Key, op.To), "give an end above its start"
	case kind.Shape != opkind.Ranged && op.To != 0:
		return fmt.Sprintf("is a %s up to %d", op.Kind, op.To), `leave out "to"`
	case kind.Shape >= opkind.Whole && op.Key != 0:
		return fmt.Sprintf("is a %s of key %d", op.Kind, op.Key), "leave it out"
	}
	return "", ""
}

// readFlaw looks for what only reads have.
func readFlaw(op *histories.Op, kind *opkind.Kind) (wrong, remedy string) {
	if kind.Reads() {
		return "", ""
	}
	switch {
	case op.Concern != "":
		return fmt.Sprintf("is a %s of concern %s", op.Kind, op.Concern),
			"leave it out: of writes, only those that were acknowledged by a majority are ok"
	case op.Prefer != "" || op.Causal || op.Lossy:
		return fmt.Sprintf("is a %s with what only reads have", op.Kind),
			`leave out "prefer", "causal" and "lossy"`
	}
	return "", ""
}

// answerFlaw looks for answers that the kind does not give.
func answerFlaw(op *histories.Op, kind *opkind.Kind) (wrong, remedy string) {
	r := &op.Result
	silent := !r.Found && r.Value == "" && len(r.List) == 0 && !r.Applied && r.N == 0 && !r.Upserted
	switch shape := kind.Shape; {
	case r.N < 0 || op.Retries < 0:
		return fmt.Sprintf("counts %d documents and %d retries", r.N, op.Retries),
			"write numbers from 0"
	case shape != opkind.Ranged && (r.Complete || len(r.Items) > 0):
		return fmt.Sprintf("is a %s with what only scans return", op.Kind),
			`leave out "items" and "complete"`
	case shape == opkind.Ranged && !silent:
		return "is a scan with the answer to an operation on one key",
			`write what it returned as "items"`
	case r.Upserted && (!kind.Tells || r.Found):
		return fmt.Sprintf("is a %s that says \"upserted\"", op.Kind),
			"write it of an upsert that found no document, and of nothing else"
	case !r.Found && (r.Value != "" || len(r.List) > 0):
		return fmt.Sprintf("returned the value %q of no document", r.Value),
			`write "found":true with the document that was there`
	}
	return itemFlaw(op)
}

func itemFlaw(op *histories.Op) (wrong, remedy string) {
	for i := range op.Result.Items {
		item := &op.Result.Items[i]
		if item.Return <= op.Call || item.Return > op.Return {
			return fmt.Sprintf("was called at %d and answered at %d, and returned k=%d at %d",
					op.Call, op.Return, item.Key, item.Return),
				"number the batch of each item between both"
		}
	}
	return "", ""
}

// streamFlaw looks at what change streams alone have.
func streamFlaw(op *histories.Op, kind *opkind.Kind) (wrong, remedy string) {
	watches := kind.Shape == opkind.Streams
	if watches != (op.Stream != nil) {
		return fmt.Sprintf("is a %s, and what a stream received is %s", op.Kind,
			map[bool]string{true: "missing", false: "there"}[watches]), `write "stream" of a watch`
	}
	if !watches {
		return "", ""
	}
	for i := range op.Stream.Batches {
		for j := range op.Stream.Batches[i].Changes {
			if c := &op.Stream.Batches[i].Changes[j]; !slices.Contains(changes, c.Kind) {
				return fmt.Sprintf("was delivered a change of the unknown kind %q", c.Kind),
					oneOf(changes)
			}
		}
	}
	return "", ""
}
