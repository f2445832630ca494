package oracle

import (
	"cmp"
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers/balance"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// What an operator is told may be what was so at any moment since the question, and nothing else.
func TestTold(t *testing.T) {
	const ns = "test.docs"
	const off = "mode config.0 1 2 off\nmajority config.0 1 2"
	draining := ShardLine("a", true, 0, nil)
	for name, c := range map[string]struct {
		question       Question
		script, answer string
		signature      verdict.Signature
	}{
		"the mode":              {BalancerMode(), "", "full", ""},
		"another mode":          {BalancerMode(), "", "off", toldWrong},
		"no answer":             {BalancerMode(), "", "", ""},
		"the mode before":       {BalancerMode(), off, "full", ""},
		"the mode after":        {BalancerMode(), off, "off", ""},
		"a mode of no majority": {BalancerMode(), "mode config.0 1 2 off", "off", toldWrong},
		"a shard too few":       {ShardList(), "", ShardLine("a", false, 0, nil), toldWrong},
		"one that drains":       {ShardList(), "", draining, toldWrong},
		"chunks of the past": {
			ChunkList(ns), "", (&Oracle{show: New(nil).show}).ChunkLine("\x00", "\xff", "b", false),
			toldWrong,
		},
		"chunks of nothing": {ChunkList("test.none"), "", "[a, b) on a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: observe(t, three)}
			s.step = s.o.step
			told := s.o.Asks(c.question)
			s.lines(t, c.script)
			told(c.answer)
			expectSignature(t, s.o, c.signature)
		})
	}
}

// The status of a collection is judged by what shards have told the primary, by what they have when
// it has asked none, and not at all when something changed meanwhile.
func TestStatus(t *testing.T) {
	weigh := func(shard string, bytes int64) *trace.Event {
		return trace.WeighedEvent{Peer: shard, NS: "test.docs", Bytes: bytes}.Event()
	}
	even := []*trace.Event{weigh("a", 100), weigh("b", 100), weigh("c", 100)}
	heavy := []*trace.Event{weigh("a", 900), weigh("b", 0), weigh("c", 0)}
	silent := trace.CallEndedEvent{Peer: "b.0", Request: asksPrimary, Code: "NetworkTimeout"}
	queued := trace.BalancerQueuedEvent{Shard: "config", Term: 1, Request: "balancer/1/8/1"}
	changed := append(even, trace.BalancerStateEvent{Shard: "config", Term: 1, Index: 2}.Event())
	for name, c := range map[string]struct {
		during    []*trace.Event
		before    *trace.Event
		has       map[string]int64
		violation string
		signature verdict.Signature
		// larger: chunks are to be larger by the time of the answer.
		larger bool
	}{
		"not asked, as one has no primary": {
			nil, trace.SteppedDownEvent{Shard: "b", Term: 1}.Event(),
			map[string]int64{"a": 900, "b": 0, "c": 0}, "", "", false,
		},
		"larger chunks meanwhile":  {heavy, nil, nil, "", "", true},
		"even":                     {even, nil, nil, "", "", false},
		"heavy":                    {heavy, nil, nil, "chunksImbalance", "", false},
		"heavy and told compliant": {heavy, nil, nil, "", toldWrong, false},
		"even and told otherwise":  {even, nil, nil, "chunksImbalance", toldWrong, false},
		"another violation":        {heavy, nil, nil, "draining", toldWrong, false},
		"not asked, and even": {
			nil, nil, map[string]int64{"a": 100, "b": 100, "c": 100}, "", "", false,
		},
		"not asked, and heavy": {
			nil, nil, map[string]int64{"a": 900, "b": 0, "c": 0}, "", toldWrong, false,
		},
		"not asked, as one does not answer": {
			[]*trace.Event{silent.Event()}, nil, map[string]int64{"a": 900, "b": 0, "c": 0}, "", "",
			false,
		},
		"changed meanwhile":       {changed, nil, nil, "chunksImbalance", "", false},
		"a chunk is to move":      {heavy, queued.Event(), nil, "", "", false},
		"one is queued meanwhile": {append(heavy, queued.Event()), nil, nil, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, chunkBytes := script{o: New(nil)}, int64(0)
			s.o.Views(func(string) *balance.Round {
				state := uneven()
				state.BySize, state.ChunkBytes = true, chunkBytes
				return state
			})
			s.lines(t, "elected config.0 1 0 1:0\nelected a.0 1 0 1:0\nelected b.0 1 0 1:0\n"+
				"elected c.0 1 0 1:0")
			for _, shard := range []string{"a", "b", "c"} {
				s.happens(shard+".0", trace.WritableEvent{Shard: shard, Term: 1}.Event())
			}
			if c.before != nil {
				s.happens(cmp.Or(c.before.Shard, "config")+".0", c.before)
			}
			s.happens("config.0", trace.ReachedEvent{}.Event())
			told := s.o.AsksStatus("test.docs", func() map[string]int64 { return c.has })
			for _, e := range c.during {
				s.happens("config.0", e)
			}
			if c.larger {
				chunkBytes = 1000
			}
			told(c.violation, true)
			expectOf(t, s.o, toldRule, c.signature)
		})
	}
}

// How a collection lies on the shards is judged when nothing of it was written since the question.
func TestExtents(t *testing.T) {
	const split = "table 1 2 split -..c=a@1|3 c..g=a@1|4"
	right, wrong := ExtentLine("a", 1, 2, 80), ExtentLine("a", 1, 2, 40)
	for name, c := range map[string]struct {
		before, script, answer string
		signature              verdict.Signature
	}{
		"right":               {"", "", right, ""},
		"wrong":               {"", "", wrong, toldWrong},
		"no answer":           {"", "", "", ""},
		"written meanwhile":   {"", "user a.0 1 9 k 1", wrong, ""},
		"after a first fault": {"", "fault a.0 crash", wrong, ""},
		"split meanwhile":     {"", split, wrong, ""},
		"split before":        {split, "", wrong, ""},
		"on a majority now":   {split, "majority config.0 1 2", wrong, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: observe(t, three)}
			s.step = s.o.step
			s.o.changed = 0 // long ago
			s.lines(t, c.before)
			told := s.o.AsksExtents("test.docs")
			if s.o.causes.commands != 1 {
				t.Error("that a router reads the routing table for the question has no cause")
			}
			s.lines(t, c.script)
			told(c.answer, right)
			expectOf(t, s.o, toldRule, c.signature)
		})
	}
}

// A member of the config server may tell a router for a while what was so before a change.
func TestExtentsAfterChange(t *testing.T) {
	for past, signature := range map[time.Duration]verdict.Signature{
		spreads / 2: "", spreads: toldWrong,
	} {
		s := script{o: observe(t, three)}
		s.o.changed = 1
		s.o.causes.now = int64(past) + 1
		told := s.o.AsksExtents("test.docs")
		told(ExtentLine("a", 2, 2, 80), ExtentLine("a", 1, 2, 80))
		expectOf(t, s.o, toldRule, signature)
	}
}

// happens has the oracle see that something happens at a node.
func (s *script) happens(node string, e *trace.Event) {
	s.step++
	e.Step, e.At, e.Node = s.step, s.now(), node
	s.o.Observe(e)
}

// A migration has no outcome any more when its collection was dropped, even if the name is in use.
func TestCollectionGone(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   bool
	}{
		"its collection is there":           {opening + "state a.0 m1 - m a b\n", false},
		"it is dropped":                     {dropped, true},
		"another one has the name":          {dropped + again, true},
		"a migration of the next of a name": {dropped + again + "state a.0 m2 - m a b\n", true},
	} {
		if got := observe(t, c.script).CollectionGone("m1"); got != c.want {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
	if observe(t, dropped+again+"state a.0 m2 - m a b\n").CollectionGone("m2") {
		t.Error("the collection of the newer migration is taken for dropped")
	}
}
