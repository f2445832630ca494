package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

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
				change.Token.Text(), i+1, from.Text(), b.Upto.Text(),
				counted(len(b.Changes), "change"), among(b.Changes, change.Token)) +
				s.answeredTo(op, b)
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
				if c.Token.Shard != "" && namesIt(s.about.Text, "at "+c.Token.Text()) {
					return c, true
				}
			}
		}
	}
	return change, false
}

// answeredTo says how far the shards had answered the router of a stream when it gave an answer: a
// change may be given only when every shard has answered up to its time.
func (s *slice) answeredTo(op *histories.Op, b *histories.ChangeBatch) string {
	given := slices.IndexFunc(s.events, func(x trace.Event) bool {
		_, answer := x.Said()
		return x.Asked() == "NextChanges" && x.At >= op.CallAt && x.At <= op.ReturnAt &&
			namesIt(answer, b.Upto.Text())
	})
	if given < 0 {
		return ""
	}
	at := &s.events[given]
	opened := histories.Token{Time: op.Stream.After.Time - min(op.Stream.After.Time, 1)}.Text()
	read := map[string][]string{} // up to when a shard may have been read, in the order of answers
	for i := range s.events[:given] {
		x := &s.events[i]
		after, _ := x.Argument("After")
		_, answer := x.Said()
		_, upto, answered := strings.Cut(answer, "Upto ")
		set := setOf(x.Node)
		if x.Asked() != "ReadChanges" || x.Peer != at.Node || x.NS != op.NS || !answered ||
			x.At < op.CallAt || after != opened && !slices.Contains(read[set], after) {
			continue
		}
		upto, _, _ = strings.Cut(upto, ",")
		read[set] = append(read[set], upto)
	}
	var all []string
	for _, set := range slices.Sorted(maps.Keys(read)) {
		all = append(all, fmt.Sprintf("%s up to %s", set, read[set][len(read[set])-1]))
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("; when %s gave it, at %s, it had been answered by %s", at.Node,
		rounded(at.At), strings.Join(all, ", by "))
}
