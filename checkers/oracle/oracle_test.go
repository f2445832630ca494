package oracle

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// A script of events, one a line, words separated by blanks. Keys are single letters; - is MinKey
// and + is MaxKey.
//
//	elected NODE TERM INDEX [LOG]       user|copy|delete|clean NODE TERM INDEX KEY [HASH|TASK]
//	majority NODE TERM INDEX            table TERM INDEX WHY MIN-MAX=SHARD@MAJOR|MINOR[<FORMER]...
//	block|release NODE MIGRATION        state NODE MIGRATION MIN MAX FROM TO [STATE]
//	end NODE MIGRATION VALUE            receive NODE MIGRATION MIN MAX STATE
//	execute|import NODE TERM INDEX KEY SESSION TXN STATEMENT
//	    (- instead of a key, -1 for a dead end)
//	decide NODE MIGRATION VALUE         task NODE MIGRATION MIN MAX STATE COUNT
//	cursor NODE ID MIN MAX              close NODE ID
//	deletes NODE PEER: the node answers that it deletes nothing
//	down NODE                           database like table, for the database
//	plain LINE                          the line is about an unsharded collection
type script struct {
	o    *Oracle
	step uint64
}

const opening = `
elected config.0 1 0 1:0
table 1 1 founding -..m=a@1|0 m..+=b@1|1
majority config.0 1 1
elected a.0 1 0 1:0
elected b.0 1 0 1:0
user a.0 1 1 c 11
majority a.0 1 1
`

// dropped is a migration that begins, and then the end of the collection; again is the next of the
// same name.
const (
	dropped = opening + "state a.0 m1 - m a b\ntable 1 2 drop\nmajority config.0 1 2\n"
	again   = "table 1 3 founding -..m=a@1|0 m..+=b@1|1\nmajority config.0 1 3\n"
)

func observe(t *testing.T, text string) *Oracle {
	t.Helper()
	s := script{o: New(nil)}
	s.lines(t, text)
	return s.o
}

// observeIn is observe of servers that speak a protocol.
func observeIn(t *testing.T, p migrationmodel.Protocol, text string) *Oracle {
	t.Helper()
	s := script{o: New(nil)}
	s.o.Speaks(p)
	s.lines(t, text)
	return s.o
}

func (s *script) lines(t *testing.T, text string) {
	for _, line := range strings.Split(text, "\n") {
		if words := strings.Fields(line); len(words) > 0 {
			s.line(t, words)
		}
	}
}

func num(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func bound(s string) string {
	switch s {
	case "-":
		return "\x00"
	case "+":
		return "\xff"
	case ".": // a note that a history is incomplete has no key
		return ""
	}
	return s
}

func shardOf(node string) string {
	name, _, _ := strings.Cut(node, ".")
	return name
}

var actors = map[string]trace.Actor{
	"user":   trace.User,
	"copy":   trace.Recipient,
	"delete": trace.User,
	"clean":  trace.RangeDeleter,
}

func (s *script) line(t *testing.T, w []string) {
	s.step++
	ns := "test.docs"
	if w[0] == "plain" {
		ns, w = "test.plain", w[1:]
	}
	node := w[1]
	e := s.event(t, ns, w)
	if e.Kind == trace.CatalogWritten {
		node = "config." + map[bool]string{true: "0", false: "1"}[e.Term == 1]
	}
	e.Step, e.Node, e.At = s.step, node, s.now()
	requested(s.o, e)
	s.o.Observe(e)
}

// event is what a line says, of a namespace that it does not name.
func (s *script) event(t *testing.T, ns string, w []string) *trace.Event {
	shard := shardOf(w[1])
	switch w[0] {
	case "elected":
		return trace.ElectedEvent{
			Shard: shard, Term: num(w[2]), Index: num(w[3]), Log: strings.Join(w[4:], ""),
		}.Event()
	case "majority":
		return trace.MajorityEvent{Shard: shard, Term: num(w[2]), Index: num(w[3])}.Event()
	case "user", "copy", "delete", "clean":
		return applied(shard, ns, w)
	case "end":
		return trace.MigrationEndedEvent{
			Shard:     shard,
			Migration: w[2],
			Decision:  decided(w[3]),
		}.Event()
	case "execute", "import":
		return executed(shard, ns, w)
	case "table":
		return table(ns, w)
	case "moving":
		return trace.PrimaryMovingEvent{
			Shard: shard, Peer: w[3], NS: "test", Migration: w[2], Phase: phases[strings.Join(w[4:], " ")],
		}.Event()
	case "database":
		return table("test", w)
	case "deletes": // with the step at which the question arrived, if that was earlier
		arrived := s.now()
		if len(w) > 3 {
			arrived = int64(num(w[3])) * 10_000_000
		}
		return trace.AnsweredEvent{
			Peer: w[2], NS: ns, Request: "AwaitRangeDeletion", Arrived: arrived,
		}.Event()
	case "block", "release":
		state := map[string]trace.SectionState{
			"block": trace.WritesBlocked, "release": trace.SectionReleased,
		}[w[0]]
		return trace.CriticalSectionEvent{
			Shard: shard, NS: ns, Actor: trace.Donor, Migration: w[2], State: state,
		}.Event()
	}
	return more(t, shard, ns, w)
}

// phases are those of a movePrimary.
var phases = map[string]trace.PrimaryMovePhase{
	"copies": trace.PrimaryCloning, "commits": trace.PrimaryCommit,
}

func applied(shard, ns string, w []string) *trace.Event {
	e := trace.AppliedEvent{
		Shard: shard,
		NS:    ns,
		Actor: actors[w[0]],
		Term:  num(w[2]),
		Index: num(w[3]),
		Key:   w[4],
		DocID: w[4],
	}
	if w[0] == "user" || w[0] == "copy" {
		e.Hash = num(w[5])
	}
	if named := w[5:]; len(named) > 0 {
		e.For = named[len(named)-1]
	}
	return e.Event()
}

func executed(shard, ns string, w []string) *trace.Event {
	e := trace.ExecutedEvent{
		Shard:     shard,
		NS:        ns,
		Actor:     trace.User,
		Term:      num(w[2]),
		Index:     num(w[3]),
		Key:       bound(w[4]),
		Session:   w[5],
		Txn:       int64(num(w[6])),
		Migration: strings.Join(w[8:], ""),
	}
	if w[0] == "import" {
		e.Actor = trace.Session
	}
	e.Statement, _ = strconv.Atoi(w[7])
	return e.Event()
}

func decided(word string) trace.Decision {
	d, known := trace.ParseDecision(word)
	if !known {
		panic(word + " is no decision")
	}
	return d
}

func more(t *testing.T, shard, ns string, w []string) *trace.Event {
	switch w[0] {
	case "state":
		state, _ := trace.ParseDonorState(strings.Join(w[7:], ""))
		return trace.DonorAdvancedEvent{
			Shard:     w[5],
			Peer:      w[6],
			NS:        ns,
			Min:       bound(w[3]),
			Max:       bound(w[4]),
			Migration: w[2],
			State:     state,
		}.Event()
	case "receive":
		state, known := trace.ParseRecipientState(w[5])
		if !known {
			t.Fatalf("unknown state %s", w[5])
		}
		return trace.RecipientAdvancedEvent{
			Shard: shard, NS: ns, Min: bound(w[3]), Max: bound(w[4]), Migration: w[2], State: state,
		}.Event()
	case "decide":
		return trace.DecisionMadeEvent{
			Shard:     shard,
			Migration: w[2],
			Decision:  decided(w[3]),
		}.Event()
	case "cursor":
		owned := []trace.Chunk{{Min: bound(w[3]), Max: bound(w[4])}}
		return trace.CursorOpenedEvent{Shard: shard, NS: ns, Cursor: w[2], Chunks: owned}.Event()
	case "close":
		return trace.CursorClosedEvent{Shard: shard, NS: ns, Cursor: w[2]}.Event()
	case "task":
		state, known := trace.ParseDeletionState(w[5])
		n, err := strconv.Atoi(w[6])
		if !known || err != nil {
			t.Fatalf("unknown task %v", w)
		}
		return trace.RangeDeletionEvent{
			Shard:     shard,
			NS:        ns,
			Min:       bound(w[3]),
			Max:       bound(w[4]),
			Migration: w[2],
			State:     state,
			Orphans:   n,
		}.Event()
	case "fault":
		return trace.FaultEvent{FaultKind: w[2]}.Event()
	case "down":
		return trace.NodeDownEvent{}.Event()
	}
	return administer(t, ns, w)
}

func table(ns string, w []string) *trace.Event {
	return trace.CatalogWrittenEvent{
		Shard:  "config",
		Term:   num(w[1]),
		Index:  num(w[2]),
		NS:     ns,
		Why:    strings.ReplaceAll(w[3], "_", " "),
		Chunks: chunks(w[4:]),
	}.Event()
}

// chunks reads MIN..MAX=SHARD@MAJOR|MINOR<FORMER<BEFORE. With !NAME the history ends with that
// shard, with ~ after FORMER all of it has one time; a * at the end is a jumbo flag.
func chunks(words []string) (all []trace.Chunk) {
	for _, w := range words {
		w, jumbo := strings.CutSuffix(w, "*")
		span, rest, _ := strings.Cut(w, "=")
		lo, hi, _ := strings.Cut(span, "..")
		rest, still := strings.CutSuffix(rest, "~")
		formers := strings.Split(rest, "<")
		rest, last, wrong := strings.Cut(formers[0], "!")
		shard, version, _ := strings.Cut(rest, "@")
		c := trace.Chunk{Min: bound(lo), Max: bound(hi), Shard: shard, Jumbo: jumbo}
		fmt.Sscanf(version, "%d|%d", &c.Major, &c.Minor)
		formers[0] = shard
		if wrong {
			formers[0] = last
		}
		for i, name := range formers {
			at := uint64(5 * (len(formers) - i))
			if still {
				at = 10
			}
			c.History = append(c.History, trace.Placement{ValidAfter: at, Shard: name})
		}
		c.Since = c.History[0].ValidAfter
		all = append(all, c)
	}
	return all
}

// moved is a flawless migration of [-, m) from a to b, up to the commit.
const moved = opening + `
state a.0 m1 - m a b
receive b.0 m1 - m kClone
copy b.0 1 1 c 11 m1
majority b.0 1 1
receive b.0 m1 - m kEnteredCritSec
block a.0 m1
table 1 2 move_m1 -..m=b@2|0<a
majority config.0 1 2
decide a.0 m1 committed
release a.0 m1
`

// sentTooEarly is the same migration, and what the donor sent was not all majority-committed: its
// next primary has less.
var sentTooEarly = strings.NewReplacer("state a.0 m1", "user a.0 1 2 d 12\nstate a.0 m1",
	"majority b.0 1 1\n", "copy b.0 1 2 d 12 m1\nmajority b.0 1 2\n").
	Replace(moved) + "elected a.1 2 1 1:1\n"

// deposedEarly is the same, and the donor was deposed, without knowing it, before it blocked writes.
var deposedEarly = strings.Replace(strings.TrimSuffix(sentTooEarly, "elected a.1 2 1 1:1\n"),
	"block a.0 m1\n", "elected a.1 2 1 1:1\nblock a.0 m1\n", 1) + "decide a.1 m1 committed\n"

// nothingCopied is the same migration, which brings nothing.
var nothingCopied = strings.Replace(moved, "copy b.0 1 1 c 11 m1\nmajority b.0 1 1\n", "", 1)

// known is the same migration of a range in which a session has executed a statement.
var known = strings.NewReplacer("state a.0 m1", "execute a.0 1 1 c s 5 0\nstate a.0 m1",
	"majority b.0 1 1\n", "import b.0 1 2 c s 5 0\nmajority b.0 1 2\n").Replace(moved)

// renamed is the same, and the statement was executed before the collection got its name.
var renamed = strings.NewReplacer(
	"table 1 1 founding", "plain table 1 1 founding",
	"elected a.0 1 0 1:0\n", "elected a.0 1 0 1:0\nplain execute a.0 1 1 c s 5 0\n"+
		"plain table 1 2 drop\ntable 1 3 renameFrom_test.plain -..m=a@1|0 m..+=b@1|1\n"+
		"majority config.0 1 3\n",
	"table 1 2 move", "table 1 4 move",
	"majority config.0 1 2", "majority config.0 1 4",
	"majority b.0 1 1\n", "plain import b.0 1 2 c s 5 0\nmajority b.0 1 2\n",
).Replace(moved)

// given is a migration that its donor has given up and completed.
const given = opening + `
state a.0 m1 - m a b
receive b.0 m1 - m kClone
copy b.0 1 1 d 11 m1
state a.0 m1 - m a b kDone
decide a.0 m1 aborted
receive b.0 m1 - m kFail
end a.0 m1 aborted
`

// asked is the same migration at the moment when its outcome is open.
var asked = strings.Split(moved, "table 1 2")[0] + "state a.0 m1 - m a b kCommittingOnConfig\n"

// Each planted violation is reported by its rule under its signature; what only looks like one is
// not.
func TestStepOracles(t *testing.T) {
	for name, c := range map[string]struct {
		script    string
		signature verdict.Signature
	}{
		"a migration":          {moved, ""},
		"the new owner writes": {moved + "user b.0 1 2 c 12", ""},
		"write on a stranger":  {opening + "user b.0 1 1 c 12", writeByStranger},
		"write after the move": {moved + "user a.0 1 2 c 12", writeByStranger},
		"zombie writes after the move": {
			moved + "elected a.1 2 1 1:1\nuser a.0 1 2 c 12", "",
		},
		"zombie of the same node name": {
			moved + "elected a.0 2 1 1:1\nuser a.0 1 2 c 12", "",
		},
		"write before the move is majority": {
			strings.Replace(moved, "majority config.0 1 2", "user b.0 1 2 c 12", 1),
			writeByStranger,
		},
		"write while blocked": {
			opening + "state a.0 m1 - m a b\nblock a.0 m1\nuser a.0 1 2 c 12", writeInSection,
		},
		"write after release": {
			opening + "state a.0 m1 - m a b\nblock a.0 m1\nrelease a.0 m1\nuser a.0 1 2 c 12", "",
		},
		"write after a crash in the section": {
			opening +
				"state a.0 m1 - m a b\nblock a.0 m1\ndown a.0\nelected a.0 2 1 1:1\nuser a.0 2 2 " +
				"c 12", "",
		},
		"donor writes before the outcome": {
			asked + "release a.0 m1\nuser a.0 1 2 c 12", writeOnDonor,
		},
		"donor writes elsewhere before the outcome": {asked + "release a.0 m1\nuser a.0 1 2 p 12",
			writeByStranger},
		"donor writes after the outcome": {
			asked + "release a.0 m1\ntable 1 2 ensureNewer -..m=a@2|0\nmajority config.0 1 2\n" +
				"user a.0 1 2 c 12", "",
		},
		"recipient writes before the outcome": {asked + "user b.0 1 2 z 12", writeBeforeEnd},
		"its successor does": {
			asked + "elected b.1 2 1 1:1\nuser b.1 2 2 z 12", writeBeforeEnd,
		},
		"recipient writes before it is asked": {
			strings.Replace(
				moved, "block a.0 m1", "user b.0 1 2 z 12\nmajority b.0 1 2\nblock a.0 m1", 1,
			), "",
		},
		"recipient writes after the fence": {
			asked + "table 1 2 ensureNewer -..m=a@2|0\nmajority config.0 1 2\nuser b.0 1 2 z 12",
			"",
		},
		"the fence is not majority yet": {
			asked + "table 1 2 ensureNewer -..m=a@2|0\nuser b.0 1 2 z 12", writeBeforeEnd,
		},
		"a deposed donor asks": {
			strings.Replace(
				asked, "state a.0 m1 - m a b kC", "elected a.1 2 1 1:1\nstate a.0 m1 - m a b kC", 1,
			) + "user b.0 1 2 z 12", "",
		},
		"commit without the document": {
			strings.Replace(moved, "copy b.0 1 1 c 11 m1", "copy b.0 1 1 d 11 m1", 1), notMoved,
		},
		"commit with an older state": {
			strings.Replace(moved, "copy b.0 1 1 c 11 m1", "copy b.0 1 1 c 10 m1", 1), movedStale,
		},
		"commit with what a deposed donor has written": {
			strings.Replace(strings.Replace(moved, "copy b.0 1 1 c 11 m1", "copy b.0 1 1 c 15 m1", 1),
				"block a.0 m1", "elected a.1 2 1 1:1\nuser a.0 1 2 c 15\nblock a.0 m1", 1), "",
		},
		"commit with a state that no donor has had": {
			strings.Replace(strings.Replace(moved, "copy b.0 1 1 c 11 m1", "copy b.0 1 1 c 14 m1", 1),
				"block a.0 m1", "elected a.1 2 1 1:1\nuser a.0 1 2 c 15\nblock a.0 m1", 1), movedStale,
		},
		"commit with a deleted document": {
			strings.Replace(moved, "block a.0 m1", "delete a.0 1 2 c\nblock a.0 m1", 1),
			movedDeleted,
		},
		"commit before the majority": {
			strings.Replace(moved, "majority b.0 1 1\n", "", 1), notDurableYet,
		},
		"copied state rolled back": {
			strings.Replace(moved, "majority b.0 1 1\n", "elected b.1 2 0\n", 1), notMoved,
		},
		"donor loses its last write later": {
			strings.Replace(
				moved, "block a.0 m1\n",
				"user a.0 1 2 d 5\ncopy b.0 1 2 d 5 m1\nmajority b.0 1 2\nblock a.0 m1\nelected "+
					"a.1 2 1 1:1\n", 1,
			), "",
		},
		"recipient's new leader has it all": {
			strings.Replace(
				moved, "majority b.0 1 1\n", "elected b.1 2 1 1:1\nmajority b.1 2 2\n", 1,
			), "",
		},
		"commit with the history": {known, ""},
		"commit without the history": {
			strings.Replace(known, "import b.0 1 2 c s 5 0\n", "", 1), notRemembered,
		},
		"history under a former name": {renamed, ""},
		"commit without the history under a former name": {
			strings.Replace(renamed, "plain import b.0 1 2 c s 5 0\n", "", 1), notRemembered,
		},
		"the former name is another collection's": {
			strings.NewReplacer("plain execute a.0 1 1 c s 5 0\n", "", "state a.0 m1 - m a b\n",
				"plain table 1 4 founding -..+=a@1|0\nmajority config.0 1 4\n"+
					"plain execute a.0 1 1 c s 5 0\nstate a.0 m1 - m a b\n",
				"plain import b.0 1 2 c s 5 0\n", "", "table 1 4 move", "table 1 5 move",
				"majority config.0 1 4\ndecide", "majority config.0 1 5\ndecide").Replace(renamed),
			"",
		},
		"the former name is an unsharded collection's": {
			strings.NewReplacer("plain execute a.0 1 1 c s 5 0\n", "", "state a.0 m1 - m a b\n",
				"plain execute a.0 1 1 c s 5 0\nstate a.0 m1 - m a b\n",
				"plain import b.0 1 2 c s 5 0\n", "").Replace(renamed),
			"",
		},
		"history of another statement": {
			strings.Replace(known, "c s 5 0\nmajority", "c s 5 1\nmajority", 1), notRemembered,
		},
		"history that is not majority": {
			strings.Replace(known, "majority b.0 1 2", "majority b.0 1 1", 1), rememberedYet,
		},
		"history rolled back": {
			strings.Replace(known, "majority b.0 1 2", "majority b.0 1 1\nelected b.1 2 1 1:1", 1),
			notRemembered,
		},
		"history with a dead end": {
			strings.Replace(known, "import b.0 1 2 c s 5 0", "import b.0 1 2 - s 5 -1", 1), "",
		},
		"dead end of an older transaction": {
			strings.Replace(known, "import b.0 1 2 c s 5 0", "import b.0 1 2 - s 4 -1", 1),
			notRemembered,
		},
		"recipient is further than the donor": {
			strings.Replace(known, "import b.0 1 2 c s 5 0", "execute b.0 1 2 z s 6 0", 1), "",
		},
		"the session has gone on": {
			strings.Replace(known, "import b.0 1 2 c s 5 0", "execute a.0 1 2 z s 6 0", 1), "",
		},
		"statement beside the range": {
			strings.Replace(strings.Replace(known, "execute a.0 1 1 c", "execute a.0 1 1 z", 1),
				"import b.0 1 2 c s 5 0\n", "", 1), "",
		},
		"chunks overlap": {
			opening + "table 1 2 split -..n=a@1|2", noPartition,
		},
		"chunks leave a gap": {
			opening + "table 1 2 split -..k=a@1|2", noPartition,
		},
		"a split with a new major version": {
			opening + "table 1 2 split -..k=a@2|0 k..m=a@2|1", "",
		},
		"a split that leaves a version out": {
			opening + "table 1 2 split -..k=a@1|3 k..m=a@1|4", wrongSplit,
		},
		"a split that moves": {
			opening + "table 1 2 split -..k=a@2|0 k..m=b@2|1", wrongSplit,
		},
		"a split that forgets the history": {
			opening + "table 1 2 split -..k=a@1|2 k..m=a@1|3<c", wrongSplit,
		},
		"a merge": {
			opening + "table 1 2 split -..k=a@1|2 k..m=a@1|3\ntable 1 3 merge -..m=a@1|4", "",
		},
		"a split": {
			opening + "table 1 2 split -..k=a@1|2 k..m=a@1|3", "",
		},
		"version not newer": {
			opening + "table 1 2 split -..k=a@1|2 k..m=a@1|1", oldVersion,
		},
		"version given twice": {
			opening + "table 1 2 split -..k=a@1|2 k..m=a@1|2", oldVersion,
		},
		"move without a new major": {
			opening + "table 1 2 move_x -..k=b@1|2<a k..m=a@1|3", oldVersion,
		},
		"move without control chunk": {
			opening + "table 1 2 split -..k=a@1|2 k..m=a@1|3\ntable 1 3 move_x -..k=b@2|0<a",
			noControl,
		},
		"move with control chunk": {
			opening + "table 1 2 move_x -..c=b@2|0<a c..m=a@2|1", "",
		},
		"history of another shard": {
			opening + "table 1 2 split -..k=a@1|2!b k..m=a@1|3", wrongHistory,
		},
		"history that stalls": {
			opening + "table 1 2 move_x -..m=b@2|0<a~", wrongHistory,
		},
		"lost write of a deposed config": {
			opening +
				"table 1 2 move_m1 -..m=b@2|0<a\nelected config.1 2 1 1:1\nmajority config.1 2 " +
				"2\nuser a.0 1 2 c 12", "",
		},
		"kept write of a deposed config": {
			opening +
				"copy b.0 1 1 c 11 m1\nmajority b.0 1 1\ntable 1 2 move_m1 -..m=b@2|0<a\nelected " +
				"config.1 2 2 1:2\nmajority config.1 2 3\nuser a.0 1 2 c 12", writeByStranger,
		},
		"orphans deleted": {moved + "clean a.0 1 2 c", ""},
		"a drop ends an open outcome": {
			asked +
				"table 1 2 drop\nmajority config.0 1 2\ntable 1 3 founding -..m=a@1|0 " +
				"m..+=b@1|1\nmajority config.0 1 3\nuser b.0 1 2 z 12", "",
		},
		"forbidden migrations are not open": {
			strings.Replace(
				asked, "state a.0 m1 - m a b kC",
				"table 1 2 forbidMigrations -..m=a@2|0\nmajority config.0 1 2\nstate a.0 m1 - m "+
					"a b kC", 1,
			) + "user b.0 1 2 z 12", "",
		},
		"allowed migrations are open again": {
			strings.Replace(
				asked, "state a.0 m1 - m a b kC",
				"table 1 2 forbidMigrations -..m=a@2|0\ntable 1 3 allowMigrations "+
					"-..m=a@3|0\nmajority config.0 1 3\nstate a.0 m1 - m a b kC", 1,
			) + "user b.0 1 2 z 12", writeBeforeEnd,
		},
		"write to a dropped collection":     {dropped + "user a.0 1 2 c 12", wroteDropped},
		"write before the drop is majority": {opening + "table 1 2 drop\nuser a.0 1 2 c 12", ""},
		"write to the next collection":      {dropped + again + "user a.0 1 2 c 12", ""},
		"deletion in the next collection": {
			dropped + again + "clean a.0 1 2 z - m1", deletedAnother,
		},
		"deletion of what was dropped": {dropped + "clean a.0 1 2 z - m1", ""},
		"copy into the next collection": {
			dropped + again + "copy b.0 1 2 c 12 m1", copiedAnother,
		},
		"copy of a new migration": {
			dropped + again + "state a.0 m2 - m a b\ncopy b.0 1 2 c 12 m2", "",
		},
		"copy of a migration that found the next": {
			dropped + "state a.0 m2 - m a b kCreated\n" + again +
				"state a.0 m2 - m a b kCloning\ncopy b.0 1 2 c 12 m2", "",
		},
		"copy of a migration that began when they were forbidden": {
			opening + "table 1 2 forbidMigrations -..m=a@2|0\nmajority config.0 1 2\n" +
				"state a.0 m2 - m a b kCreated\ntable 1 3 drop\nmajority config.0 1 3\n" +
				strings.ReplaceAll(again, "1 3", "1 4") +
				"state a.0 m2 - m a b kCloning\ncopy b.0 1 2 c 12 m2", "",
		},
		"copy of a migration that found the one before": {
			dropped + "state a.0 m2 - m a b kCreated\nstate a.0 m2 - m a b kCloning\n" + again +
				"copy b.0 1 2 c 12 m2", copiedAnother,
		},
		"owned document deleted": {opening + "clean a.0 1 2 c", deletedOwned},
		"owned document deleted by a zombie": {
			opening + "elected a.1 2 1 1:1\nclean a.0 1 2 c", "",
		},
		"document deleted while it arrives": {
			opening + "receive b.0 m1 - m kClone\nclean b.0 1 2 c", deletedReceived,
		},
		"deleted before the recipient starts": {
			opening + "receive b.0 m1 - m kReady\nclean b.0 1 2 c", "",
		},
		"deleted after the recipient failed": {
			opening + "receive b.0 m1 - m kClone\nreceive b.0 m1 - m kFail\nclean b.0 1 2 c", "",
		},
		"deleted under an open cursor": {
			strings.Replace(moved, "block a.0 m1\n", "cursor a.0 c1 - +\nblock a.0 m1\n", 1) +
				"clean a.0 1 2 c", deletedPinned,
		},
		"deleted after the cursor": {
			strings.Replace(moved, "block a.0 m1\n", "cursor a.0 c1 - +\nblock a.0 m1\n", 1) +
				"close a.0 c1\nclean a.0 1 2 c", "",
		},
		"deleted beside a cursor": {
			strings.Replace(moved, "block a.0 m1\n", "cursor a.0 c1 d +\nblock a.0 m1\n", 1) +
				"clean a.0 1 2 c", "",
		},
		"deleted under a cursor told of late": {
			moved + "cursor a.0 c1 - +\nclean a.0 1 2 c", deletedPinned,
		},
		"cursor without the range":   {moved + "cursor a.0 c1 c c\nclean a.0 1 2 c", ""},
		"decided committed, was not": {opening + "decide a.0 m1 committed", decidedWrongly},
		"decided aborted, was committed": {
			strings.Replace(moved, "m1 committed", "m1 aborted", 1), decidedWrongly,
		},
		"zombie decides": {
			opening + "elected a.1 2 1 1:1\ndecide a.0 m1 committed", "",
		},
		"commit after the abort": {
			strings.Replace(moved, "table 1 2", "decide a.0 m1 aborted\ntable 1 2", 1), lateCommit,
		},
		"aborted and cleaned up": {
			given + "clean b.0 1 2 d m1\ntask b.0 m1 - m done 0", "",
		},
		"copy after the end": {given + "copy b.0 1 2 e 12 m1", lateCopy},
		"copy after an end without decision": {
			strings.Replace(given, "decide a.0 m1 aborted\n", "", 1) + "copy b.0 1 2 e 12 m1", "",
		},
		"zombie copies after the end": {
			given + "elected b.1 2 1 1:1\ncopy b.0 1 2 e 12 m1", "",
		},
		"recipient starts after the end": {given + "receive b.0 m1 - m kReady", lateState},
		"recipient fails after the end":  {given + "receive b.0 m1 - m kAbort", ""},
		"recipient goes on after the abort": {
			strings.Replace(given, "receive b.0 m1 - m kFail", "receive b.0 m1 - m kCatchup", 1),
			"",
		},
		"donor goes on after the decision": {
			strings.Replace(
				given, "receive b.0 m1 - m kFail", "state a.0 m1 - m a b kCriticalSection", 1,
			), lateDonor,
		},
		"donor blocks writes after the end": {given + "block a.0 m1", lateSection},
		"history that the donor may lose": {
			strings.Replace(known, "import b.0 1 2 c s 5 0", "import b.0 1 2 c s 5 0 m1", 1),
			importedYet,
		},
		"history that the donor has": {
			strings.NewReplacer("execute a.0 1 1 c", "execute a.0 1 3 c", "import b.0 1 2 c s 5 0",
				"majority a.0 1 3\nimport b.0 1 2 c s 5 0 m1").Replace(known), "",
		},
		"history after the end":       {given + "import b.0 1 2 c s 5 0 m1", lateHistory},
		"history after the commit":    {known + "import b.0 1 3 c s 5 1 m1", lateHistory},
		"donor deletes what it keeps": {given + "clean a.0 1 2 c m1", deletedOwned},
		"deleted before the decision": {
			strings.Split(given, "decide")[0] + "clean b.0 1 2 d m1", deletedReceived,
		},
		"deleted without a promise": {
			strings.Split(given, "decide")[0] + "receive b.0 m1 - m kFail\nclean b.0 1 2 d m1", "",
		},
		"deleted by the decision of nobody": {
			strings.Split(
				given, "decide",
			)[0] + "task b.0 m1 - m pending 0\nreceive b.0 m1 - m kFail\nclean b.0 1 2 d m1",
			wrongCleanup,
		},
		"deleted for a task that is done": {
			moved +
				"end a.0 m1 committed\nclean a.0 1 2 c m1\ntask a.0 m1 - m done 0\ncopy a.0 1 3 " +
				"c 11 m2\nclean a.0 1 4 c m1", lateDeletion,
		},
		"deleted again from memory": {
			moved + "clean a.0 1 2 c m1\ntask a.0 m1 - m done -1\nclean a.0 1 3 c m1", "",
		},
		"orphans counted": {
			moved + "task a.0 m1 - m ready 1\nclean a.0 1 2 c\ntask a.0 m1 - m done 0", "",
		},
		"orphans counted twice":       {moved + "task a.0 m1 - m ready 2", orphansMiscounted},
		"task done with orphans left": {moved + "task a.0 m1 - m done 0", orphansMiscounted},
		"task done too early":         {moved + "task a.0 m1 - m done 1", forgotten},
		"count left when all are gone": {
			moved + "clean a.0 1 2 c\ntask a.0 m1 - m done 1", orphansMiscounted,
		},
		"pending tasks count nothing":    {moved + "task a.0 m1 - m pending 0", ""},
		"sweep done with documents left": {moved + "task a.0 m1 - m done -1", forgotten},
		"sweep done when the collection is gone": {
			moved + "table 1 3 drop\nmajority config.0 1 3\ntask a.0 m1 - m done -1", "",
		},
		"zombie counts": {
			moved + "elected a.1 2 1 1:1\ntask a.0 m1 - m ready 2", "",
		},
		"counted before a failover undid what the recipient has": {
			sentTooEarly + "task a.1 m1 - m ready 2", "",
		},
		"counted before a failover, and deleted": {
			sentTooEarly + "task a.1 m1 - m ready 2\nclean a.1 2 3 c m1\ntask a.1 m1 - m done 1", "",
		},
		"counted before a failover, and again": {
			sentTooEarly + "task a.1 m1 - m ready 2\nclean a.1 2 3 c m1\ntask a.1 m1 - m done 2",
			orphansMiscounted,
		},
		"what a deposed donor deleted": {
			strings.Replace(nothingCopied, "state a.0 m1",
				"elected a.1 2 1 1:1\ndelete a.0 1 2 c\nstate a.0 m1", 1), "",
		},
		"what a deposed donor still has": {
			strings.Replace(nothingCopied, "state a.0 m1",
				"elected a.1 2 1 1:1\nstate a.0 m1", 1), notMoved,
		},
		"counted by what a deposed donor sent": {deposedEarly + "task a.1 m1 - m ready 2", ""},
		"counted by more than a deposed donor sent": {
			deposedEarly + "task a.1 m1 - m ready 3", orphansMiscounted,
		},
		"counted as nobody had it": {sentTooEarly + "task a.1 m1 - m ready 3", orphansMiscounted},
		"copy after the commit":    {moved + "copy b.0 1 2 c 11 m1", lateCopy},
	} {
		t.Run(name, func(t *testing.T) { expectSignature(t, observe(t, c.script), c.signature) })
	}
}

func expectSignature(t *testing.T, o *Oracle, want verdict.Signature) {
	t.Helper()
	var got verdict.Signature
	if v := o.Broken(); v != nil {
		got = v.Signature
		if v.Broke == "" || len(v.Because) == 0 || len(v.Events) == 0 {
			t.Errorf("the violation is not explained: %+v", v)
		}
	}
	if got != want {
		t.Errorf("got %q, want %q: %v", got, want, o.Broken())
	}
}

// What a zombie wrote counts from the moment a later leader is elected that has it, and what the
// leader between wrote counts no more.
func TestLogsOfLaterLeaders(t *testing.T) {
	const rivals = opening + `
user a.0 1 2 c 12
elected a.1 2 1 1:1
user a.1 2 2 d 13
user a.0 1 3 e 14
elected a.0 3 3 1:3
state a.0 m1 - m a b
`
	for name, c := range map[string]struct {
		copies    string
		signature verdict.Signature
	}{
		"the first leader's": {"copy b.0 1 1 c 12 m1\ncopy b.0 1 2 e 14 m1", ""},
		"both": {
			"copy b.0 1 1 c 12 m1\ncopy b.0 1 2 d 13 m1\ncopy b.0 1 3 e 14 m1", movedDeleted,
		},
		"the state before": {"copy b.0 1 1 c 11 m1\ncopy b.0 1 2 e 14 m1", movedStale},
	} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, rivals+c.copies+
				"\nmajority b.0 1 9\nblock a.0 m1\ntable 1 2 move_m1 -..m=b@2|0<a\nmajority "+
				"config.0 1 2")
			expectSignature(t, o, c.signature)
		})
	}
}

// TestWritesThatMakeCollections: under the name of a collection that may be unsharded a write makes
// one where the database is, and nowhere else.
func TestWritesThatMakeCollections(t *testing.T) {
	const gone = "elected config.0 1 0 1:0\ntable 1 1 founding -..+=a@1|0\n" +
		"database 1 1 founding -..+=b@1|0\nelected a.0 1 0 1:0\nelected b.0 1 0 1:0\n" +
		"majority config.0 1 1\ntable 1 2 drop\nmajority config.0 1 2\n"
	for name, c := range map[string]struct {
		plain     bool
		script    string
		signature verdict.Signature
	}{
		"where the database is":     {true, "user b.0 1 2 c 12", ""},
		"where it is not":           {true, "user a.0 1 2 c 12", wroteDropped},
		"of one that is never made": {false, "user b.0 1 2 c 12", wroteDropped},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			if c.plain {
				s.o.Plain("test.docs")
			}
			s.lines(t, gone+c.script)
			expectOf(t, s.o, incarnationRule, c.signature)
		})
	}
}
