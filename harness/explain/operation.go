package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
)

// Operation is an operation in one line, as its client saw it.
func Operation(op *histories.Op) string {
	return fmt.Sprintf("%s (op %d, began %s)",
		answerText(op), op.ID, time.Duration(op.CallAt).Round(10*time.Microsecond))
}

// answerText is what an operation asked and was answered.
func answerText(op *histories.Op) string {
	kind, text := op.Kind.Of(), fmt.Sprintf("client %d: %s%s", op.Client, op.Kind, manner(op))
	switch {
	case kind.Shape == opkind.Ranged:
		text += fmt.Sprintf(" [%d, %d) → %d documents", op.Key, op.To, len(op.Result.Items))
	case kind.Shape == opkind.Whole:
		text += " " + op.NS
	case kind.Shape == opkind.Streams:
		return text + fmt.Sprintf(" %s, stream %d → %d changes", op.NS, op.Stream.ID, delivered(op))
	default:
		text += fmt.Sprintf(" k=%d", op.Key)
	}
	if op.Value != "" {
		text += " " + op.Value
	}
	switch {
	case op.Outcome != histories.OK:
		text += " → " + string(op.Outcome) + " (" + op.Error + ")"
	case kind.Shape == opkind.Keyed && kind.Reads():
		text += " → " + resultText(&op.Result)
	case op.Result.Found:
		text += " → acknowledged, replaced " + resultText(&op.Result)
	case op.Result.Upserted:
		text += " → acknowledged, created: there was none"
	case kind.Returns &&
		(kind.Effect == opkind.Set || kind.Effect == opkind.Remove && op.Result.Applied):
		text += " → acknowledged, there was none before"
	case kind.Shape == opkind.Keyed && !op.Result.Applied:
		text += " → " + noEffect(kind.Effect)
	case kind.Shape != opkind.Ranged:
		text += " → acknowledged"
	}
	return text
}

// manner is how an operation reads, where it is asked to do so in a certain way: its concern, the
// members it prefers, and whether it has to see what its session knows.
func manner(op *histories.Op) string {
	if !op.Kind.Of().Reads() {
		return ""
	}
	var how []string
	if op.Concern != "" {
		how = append(how, op.Concern)
	}
	if op.Prefer != "" {
		how = append(how, "on a "+op.Prefer)
	}
	if op.Causal {
		how = append(how, "causally consistent")
	}
	if len(how) == 0 {
		return ""
	}
	return " (" + strings.Join(how, ", ") + ")"
}

// noEffect is the acknowledgement of an operation that changed nothing.
func noEffect(of opkind.Effect) string {
	if of == opkind.Remove {
		return "acknowledged, deleted nothing"
	}
	return "acknowledged, changed nothing"
}

// delivered is how many changes a reader of a stream got.
func delivered(op *histories.Op) (n int) {
	for _, b := range op.Stream.Batches {
		n += len(b.Changes)
	}
	return n
}

func resultText(r *histories.Result) string {
	switch {
	case !r.Found:
		return "absent"
	case r.Value == "" && len(r.List) == 0:
		return "a document"
	case len(r.List) > 0:
		return fmt.Sprintf("%s %v", r.Value, r.List)
	}
	return r.Value
}
