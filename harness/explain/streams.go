package explain

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/histories"
)

// timeBits are those of a cluster time that count within its millisecond.
const timeBits = 20

// tokenText is a place in a change stream as contradictions name it.
func tokenText(t histories.Token) string {
	text := fmt.Sprintf("%d.%d", t.Time>>timeBits, t.Time&(1<<timeBits-1))
	if t.Shard >= " " && t.Shard < "\x7f" {
		text += fmt.Sprintf(" of %s/%d", t.Shard, t.N)
	}
	return text
}

// passed says of a reader of a change stream with which answer it passed the change that the
// contradiction names: a token says that all before it was delivered.
func (s *slice) passed(op *histories.Op) string {
	if op.Stream == nil {
		return ""
	}
	change, named := s.changeNamed()
	from := op.Stream.After
	for i := range op.Stream.Batches {
		b := &op.Stream.Batches[i]
		if named && from.Compare(change.Token) < 0 && change.Token.Compare(b.Upto) <= 0 {
			return fmt.Sprintf("; it passed %s with its answer %d, which reaches from token %s to "+
				"token %s and has %s, %s",
				tokenText(change.Token), i+1, tokenText(from), tokenText(b.Upto),
				counted(len(b.Changes), "change"), among(b.Changes, change.Token))
		}
		from = b.Upto
	}
	return ""
}

// among says whether a change is one of those of an answer.
func among(all []histories.Change, t histories.Token) string {
	if slices.ContainsFunc(all, func(c histories.Change) bool { return c.Token == t }) {
		return "this one among them"
	}
	return "but not this one"
}

// changeNamed is the change that the contradiction names by its token, as some reader got it.
func (s *slice) changeNamed() (change histories.Change, named bool) {
	for i := range s.history {
		if s.history[i].Stream == nil {
			continue
		}
		for _, b := range s.history[i].Stream.Batches {
			for _, c := range b.Changes {
				if c.Token.Shard != "" && namesIt(s.about.Text, "at "+tokenText(c.Token)) {
					return c, true
				}
			}
		}
	}
	return change, false
}
