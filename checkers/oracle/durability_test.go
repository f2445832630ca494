package oracle

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestArrival: when the recipient says that it has everything, a majority of its shard has it.
func TestArrival(t *testing.T) {
	const says = "receive b.0 m1 - m kEnteredCritSec\n"
	arrives := strings.NewReplacer(
		says, "", "block a.0 m1\n", "block a.0 m1\n"+says,
	).Replace(known)
	for name, c := range map[string]struct {
		text string
		want verdict.Signature
	}{
		"everything": {arrives, ""},
		"a document before the majority": {
			strings.NewReplacer("majority b.0 1 2\n", "", says, says+"majority b.0 1 2\n").Replace(arrives),
			saidTooEarly,
		},
		"no history yet": {
			strings.NewReplacer("import b.0 1 2 c s 5 0\nmajority b.0 1 2\n", "majority b.0 1 1\n",
				says, says+"import b.0 1 2 c s 5 0\nmajority b.0 1 2\n").Replace(arrives),
			saidTooEarly,
		},
		"another donor leads": {
			strings.NewReplacer("majority b.0 1 2\n", "",
				says, "elected a.1 2 1 1:1\n"+says+"majority b.0 1 2\n").Replace(arrives),
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			expectOf(t, observeIn(t, migrationmodel.V80, c.text), durabilityRule, c.want)
		})
	}
}

// TestReceipt: a majority of the recipient has everything when it has the receipt.
func TestReceipt(t *testing.T) {
	until, _, _ := strings.Cut(known, "table 1 2 move")
	lacking := strings.Replace(until, "import b.0 1 2 c s 5 0\nmajority b.0 1 2\n",
		"majority b.0 1 1\n", 1)
	for name, c := range map[string]struct {
		text, set string
		want      verdict.Signature
	}{
		"everything":     {until, "b", ""},
		"no history yet": {lacking, "b", saidTooEarly},
		"of another set": {lacking, "c", ""},
		"before the end": {"", "b", ""},
		"another donor":  {lacking + "elected a.1 2 1 1:1\n", "b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := observeIn(t, migrationmodel.V80, c.text)
			o.ReceiptCommitted(c.set, "m1")
			expectOf(t, o, durabilityRule, c.want)
		})
	}
}

// TestCutOff: a note that a history is incomplete, which the donor has when it begins to clone, moves
// with the range; one that it gets later need not.
func TestCutOff(t *testing.T) {
	const (
		note  = "import a.0 1 1 . s 5 -1\n"
		moves = "import b.0 1 2 . s 5 -1\n"
	)
	before, rest, _ := strings.Cut(moved, "receive b.0 m1 - m kClone\n")
	for name, c := range map[string]struct {
		early, late, brought string
		shortOf              uint64 // the transaction of which the donor's log lacks the beginning
		want                 verdict.Signature
	}{
		"none":          {"", "", "", 0, ""},
		"it moves":      {note, "", moves, 0, ""},
		"it stays":      {note, "", "", 0, notRemembered},
		"it came later": {"", note, "", 0, ""},
		"another transaction": {
			note, "", strings.Replace(moves, "s 5", "s 4", 1), 0, notRemembered,
		},
		"a short log":                 {"", "", moves, 5, ""},
		"a short log, and no note":    {"", "", "", 5, notRemembered},
		"a short log, and gone on":    {"", "execute a.0 1 1 z s 6 0\n", "", 5, ""},
		"a short log of what is over": {"execute a.0 1 1 z s 6 0\n", "", "", 5, ""},
	} {
		s := script{o: New(nil)}
		if c.shortOf != 0 {
			s.o.CutOff(func(string) map[string]uint64 { return map[string]uint64{"s": c.shortOf} })
		}
		s.lines(t, before+c.early)
		s.o.beginCloning(s.o.move("m1"), &trace.Event{Step: s.o.step, Node: "a.0", NS: "test.docs"})
		s.lines(t, c.late+strings.Replace(rest, "majority b.0 1 1\n",
			c.brought+"majority b.0 1 2\n", 1))
		t.Run(name, func(t *testing.T) { expectSignature(t, s.o, c.want) })
	}
}
