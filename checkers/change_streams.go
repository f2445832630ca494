package checkers

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers/compact"
	"github.com/shardproof/shardproof/histories"
)

// ChangeStreams holds change streams to each other and to the writes (change-streams). It is
// near-linear in the changes.
var ChangeStreams = Checker{
	Name: "change-streams",
	Promise: "A change stream delivers every acknowledged write exactly once, in an order on " +
		"which all readers agree, and nothing that migrations write; a stream that resumes " +
		"at a token delivers exactly what comes after it; and a stream ends when its " +
		"collection does.",
	Signatures: Meanings{
		changeDisorder: "a change was delivered after a later one, or after a high-water mark " +
			"that covers it",
		changeDoubled: "one write was delivered as two changes",
		ChangeMissed: "a change was not delivered, although another reader got it or its write " +
			"was acknowledged",
		changesDiffer:  "two readers got different changes for one token",
		changeInvented: "a change was delivered without a write, or for a write that failed",
		ChangeWrong:    "a change does not follow from the change before it",
		changeAfterEnd: "a change was delivered after the end of its collection",
		ChangeTimes:    "cluster time contradicts the order in which clients wrote",
	},
}

// The signatures of change stream violations.
const (
	changeDisorder Signature = "change-out-of-order"
	changeDoubled  Signature = "change-duplicated"
	changesDiffer  Signature = "change-streams-disagree"
	changeInvented Signature = "change-without-write"
	changeAfterEnd Signature = "change-after-invalidate"
)

// ChangeMissed is the signature of a change that a change stream should have delivered.
const ChangeMissed Signature = "change-missing"

// ChangeWrong is the signature of a change that contradicts the one before it, as a document's does
// of which a change was not delivered.
const ChangeWrong Signature = "change-inconsistent"

// ChangeTimes is the signature of two changes with cluster times that contradict the order of the
// writes, which may be on two keys.
const ChangeTimes Signature = "change-time-inconsistent"

var _ = declare(50, &ChangeStreams, func(h *history) Verdict { return checkChangeStreams(h.ops) })

func checkChangeStreams(ops *compact.History) Verdict {
	v := ChangeStreams.Begin()
	spaces := map[string]*changeLog{}
	var names []string
	for i := range ops.Watches {
		op := &ops.Watches[i]
		if op.Stream == nil {
			continue
		}
		if spaces[op.NS] == nil {
			spaces[op.NS] = &changeLog{ns: op.NS, at: map[histories.Token]*histories.Change{}}
			names = append(names, op.NS)
		}
		spaces[op.NS].add(&v, op)
	}
	for _, ns := range names {
		l := spaces[ns]
		l.arrange()
		l.compareReaders(&v)
		judgeWrites(&v, l, ops)
		l.judgeEnds(&v, ops)
	}
	return v
}

// changeLog is every change of a collection that any reader was delivered.
type changeLog struct {
	ns      string
	watches []*histories.Op
	at      map[histories.Token]*histories.Change
	changes []*histories.Change // of documents, in the order of their tokens
	ends    []*histories.Change // by which the collection went
	covered []stretch
}

// stretch is a part of the order of changes of which every change was delivered to somebody: behind
// After up to Upto.
type stretch struct {
	after, upto histories.Token
	// opened is the earliest event at which a reader had begun from then on, 0 for none; drained
	// says whether nothing follows in the whole run.
	opened  uint64
	drained bool
}

// add takes a watch whose own order is right; of others nothing can be concluded.
func (l *changeLog) add(v *Verdict, op *histories.Op) {
	s, last := op.Stream, op.Stream.After
	var before *histories.Change
	for i := range s.Batches {
		b := &s.Batches[i]
		for n := range b.Changes {
			c := &b.Changes[n]
			v.Checked++
			if c.Token.Compare(last) <= 0 {
				v.Add(l.disorder(op, c, last))
				return
			}
			last = c.Token
			if wrong := misplaced(before, c); wrong != "" {
				v.Add(l.change(changeAfterEnd, op, c, "it was delivered "+tellChange(c), wrong))
				return
			}
			before = c
		}
		if b.Upto.Compare(last) < 0 {
			v.Add(l.about(changeDisorder, op, fmt.Sprintf("its high-water mark went back to %s",
				b.Upto.Text()), "everything up to "+last.Text()+" had been delivered"))
			return
		}
		last = b.Upto
	}
	l.watches = append(l.watches, op)
	for i := range s.Batches {
		for n := range s.Batches[i].Changes {
			l.keep(v, op, &s.Batches[i].Changes[n])
		}
	}
}

func (l *changeLog) keep(v *Verdict, op *histories.Op, c *histories.Change) {
	if c.Ends() {
		if c.Gone() {
			l.ends = append(l.ends, c)
		}
		return
	}
	switch first := l.at[c.Token]; {
	case first == nil:
		l.at[c.Token] = c
		l.changes = append(l.changes, c)
	case !reflect.DeepEqual(first, c):
		v.Add(l.change(changesDiffer, op, c, "it was delivered "+tellChange(c),
			"another reader was delivered "+tellChange(first)))
	}
}

func (l *changeLog) disorder(
	op *histories.Op, c *histories.Change, last histories.Token,
) Violation {
	for i := range op.Stream.Batches {
		for n := range op.Stream.Batches[i].Changes {
			if before := &op.Stream.Batches[i].Changes[n]; before != c && before.Token == c.Token {
				return l.change(changeDoubled, op, c, "it was delivered twice: "+tellChange(c),
					"a token stands for one change")
			}
			if &op.Stream.Batches[i].Changes[n] == c {
				return l.change(changeDisorder, op, c, "it was delivered "+tellChange(c),
					"everything up to "+last.Text()+" had been delivered")
			}
		}
	}
	panic("the change is not of the watch")
}

// arrange orders the changes and joins what the readers cover.
func (l *changeLog) arrange() {
	slices.SortFunc(l.changes, func(a, b *histories.Change) int { return a.Token.Compare(b.Token) })
	slices.SortStableFunc(l.watches, func(a, b *histories.Op) int {
		return a.Stream.After.Compare(b.Stream.After)
	})
	for _, op := range l.watches {
		s := op.Stream
		if n := len(l.covered); n == 0 || l.covered[n-1].upto.Compare(s.After) < 0 {
			l.covered = append(l.covered, stretch{after: s.After, upto: s.After})
		}
		c := &l.covered[len(l.covered)-1]
		if s.Upto().Compare(c.upto) > 0 {
			c.upto = s.Upto()
		}
		if s.Fresh && (c.opened == 0 || s.Opened < c.opened) {
			c.opened = s.Opened
		}
		c.drained = c.drained || s.Drained
	}
}

// compareReaders: a reader that read past a change was delivered it.
func (l *changeLog) compareReaders(v *Verdict) {
	for _, op := range l.watches {
		s := op.Stream
		from := l.position(s.After)
		for i := range s.Batches {
			for n := range s.Batches[i].Changes {
				if s.Batches[i].Changes[n].Ends() {
					continue
				}
				if c := l.changes[from]; c.Token != s.Batches[i].Changes[n].Token {
					v.Add(l.skipped(op, c))
					return
				}
				from++
			}
		}
		if from < len(l.changes) && l.changes[from].Token.Compare(s.Upto()) <= 0 {
			v.Add(l.skipped(op, l.changes[from]))
		}
	}
}

// position is that of the first change behind a token.
func (l *changeLog) position(after histories.Token) int {
	at, found := slices.BinarySearchFunc(l.changes, after,
		func(c *histories.Change, t histories.Token) int { return c.Token.Compare(t) })
	if found {
		at++
	}
	return at
}

func (l *changeLog) skipped(op *histories.Op, c *histories.Change) Violation {
	return l.change(ChangeMissed, op, c, tellChange(c)+" was not delivered",
		fmt.Sprintf("it read from token %s to token %s",
			op.Stream.After.Text(), op.Stream.Upto().Text()),
		"another reader got that change")
}

// about starts a violation of what a watch was delivered.
func (l *changeLog) about(
	signature Signature, op *histories.Op, broke string, because ...string,
) Violation {
	return Violation{
		Signature: signature, NS: l.ns, Ops: []int{op.ID}, Because: because,
		Broke: fmt.Sprintf("stream %d (operation %d): %s", op.Stream.ID, op.ID, broke),
	}
}

// change starts a violation of one change that a watch was delivered, or was not.
func (l *changeLog) change(
	signature Signature, op *histories.Op, c *histories.Change, broke string, because ...string,
) Violation {
	v := l.about(signature, op, broke, because...)
	if v.Times = []int64{happened(c)}; !c.Ends() {
		v.Key = fmt.Sprint(c.Key)
	}
	return v
}

// happened is about when a change was made, in virtual nanoseconds: its cluster time, which follows
// the servers' clocks.
func happened(c *histories.Change) int64 {
	return int64(c.Token.Time>>histories.TimeBits) * int64(time.Millisecond)
}

func tellChange(c *histories.Change) string {
	text := fmt.Sprintf("%s k=%d", c.Kind, c.Key)
	if c.Value != "" {
		text += " " + c.Value
	}
	if len(c.List) > 0 {
		text += fmt.Sprint(" ", c.List)
	}
	return text + " at " + c.Token.Text()
}
