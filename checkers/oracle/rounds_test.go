package oracle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers/balance"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// uneven is a cluster of three shards, of which one has all four chunks.
func uneven() *balance.Round {
	return &balance.Round{
		On:     true,
		Shards: []balance.Shard{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Collections: []balance.Collection{{NS: "test.docs", ChunkBytes: 100, OwnSize: true,
			Chunks: []balance.Chunk{
				{Min: "\x00", Max: "g", Shard: "a"}, {Min: "g", Max: "m", Shard: "a"},
				{Min: "m", Max: "r", Shard: "a"}, {Min: "r", Max: "\xff", Shard: "a"},
			}}},
	}
}

// play judges a round that asks for these migrations of the first chunk, FROM-TO, and what donors
// are asked for.
func play(
	t *testing.T, change func(*balance.Round), during []*trace.Event, chosen ...string,
) *Oracle {
	t.Helper()
	s := script{o: New(nil)}
	state := uneven()
	change(state)
	s.o.Views(func(string) *balance.Round { copied := *state; return &copied })
	s.lines(t, "elected a.0 1 0 1:0\nelected config.0 1 0 1:0\nround config.0 1 1 begun")
	see := func(e *trace.Event) {
		s.step++
		if e.Step, e.At = s.step, s.now(); e.Node == "" {
			e.Node = "config.0"
		}
		s.o.Observe(e)
	}
	for _, e := range during {
		see(e)
	}
	for i, c := range chosen {
		from, to, _ := strings.Cut(c, "-")
		see(trace.BalancerChoseEvent{
			Shard: from, Peer: to, Term: 1, NS: "test.docs", Min: "\x00", Max: "g",
			Request: "balancer/1/1/" + string(rune('1'+i)),
		}.Event())
	}
	s.lines(t, "round config.0 1 1 ended")
	return s.o
}

// expectOf expects that of one rule, whatever others say.
func expectOf(t *testing.T, o *Oracle, rule verdict.Checker, want verdict.Signature) {
	t.Helper()
	for _, v := range o.Verdicts() {
		var got verdict.Signature
		if v.Checker == rule.Name && len(v.Violations) > 0 {
			got = v.Violations[0].Signature
		}
		if v.Checker == rule.Name && got != want {
			t.Errorf("got %q, want %q: %v", got, want, v.Violations)
		}
	}
}

func TestRounds(t *testing.T) {
	same := func(*balance.Round) {}
	fault := trace.FaultEvent{Number: 1, FaultKind: "pause", Target: "config.0"}.Event()
	left := trace.SteppedDownEvent{Shard: "config", Term: 1}.Event()
	named := func(round int) string { return fmt.Sprintf("balancer/1/%d/1", round) }
	queued := func(round int, to string) *trace.Event {
		return trace.BalancerQueuedEvent{
			Shard: "a", Peer: to, Term: 1, NS: "test.docs", Min: "\x00", Max: "g",
			Request: named(round),
		}.Event()
	}
	for name, c := range map[string]struct {
		change    func(*balance.Round)
		during    []*trace.Event
		chosen    []string
		signature verdict.Signature
	}{
		"what is uneven":                               {same, nil, []string{"a-b"}, ""},
		"to the other of two equals":                   {same, nil, []string{"a-c"}, ""},
		"nothing":                                      {same, nil, nil, notOfPolicy},
		"what is uneven, and waits":                    {same, []*trace.Event{queued(1, "b")}, nil, ""},
		"what waits to go to itself":                   {same, []*trace.Event{queued(1, "a")}, nil, notOfPolicy},
		"nothing, as an earlier round's request waits": {same, []*trace.Event{queued(0, "b")}, nil, ""},
		"nothing, as a fault hit it":                   {same, []*trace.Event{fault}, nil, ""},
		"nothing, as its term ends":                    {same, []*trace.Event{left}, nil, ""},
		"nothing outside the window":                   {func(r *balance.Round) { r.Window = true }, nil, nil, ""},
		"what is off": {func(r *balance.Round) { r.Collections[0].Off = true },
			nil, []string{"a-b"}, notOfPolicy},
		"from who has nothing":     {same, nil, []string{"b-c"}, notOfPolicy},
		"two of which one was due": {same, nil, []string{"a-b", "a-c"}, notOfPolicy},
		"into what drains": {func(r *balance.Round) { r.Shards[1].Draining = true },
			nil, []string{"a-b"}, notOfPolicy},
		"while one with a limit is silent": {func(r *balance.Round) { r.Shards[2].MaxBytes = 9 },
			nil, []string{"a-b"}, notOfPolicy},
		"nothing, as one with a limit is silent": {func(r *balance.Round) {
			r.Shards[2].MaxBytes = 9
		}, nil, nil, ""},
		"what is jumbo": {func(r *balance.Round) { r.Collections[0].Chunks[0].Jumbo = true },
			nil, []string{"a-b"}, notOfPolicy},
		"at random to itself": {func(r *balance.Round) { r.AtRandom = true },
			nil, []string{"a-a"}, notOfPolicy},
		"at random to anybody": {func(r *balance.Round) { r.AtRandom = true },
			nil, []string{"a-c"}, ""},
		"by size without any answers": {func(r *balance.Round) { r.BySize = true }, nil, nil, ""},
		"by size with much": {
			func(r *balance.Round) { r.BySize = true }, []*trace.Event{
				trace.WeighedEvent{Peer: "a", NS: "test.docs", Bytes: 400}.Event(),
				trace.WeighedEvent{Peer: "b", NS: "test.docs"}.Event(),
			}, nil, notOfPolicy,
		},
		"by size with much, and asked again in vain": {
			func(r *balance.Round) { r.BySize = true }, []*trace.Event{
				trace.WeighedEvent{Peer: "a", NS: "test.docs", Bytes: 400}.Event(),
				trace.WeighedEvent{Peer: "b", NS: "test.docs"}.Event(),
				trace.CallEndedEvent{Peer: "a.0", Request: "Hello", Code: "HostUnreachable"}.Event(),
			}, nil, "",
		},
		"by size with much, and asked for something else in vain": {
			func(r *balance.Round) { r.BySize = true }, []*trace.Event{
				trace.WeighedEvent{Peer: "a", NS: "test.docs", Bytes: 400}.Event(),
				trace.WeighedEvent{Peer: "b", NS: "test.docs"}.Event(),
				trace.CallEndedEvent{
					Peer: "a.0", Request: asksSizes, Code: "NotWritablePrimary",
				}.Event(),
			}, nil, "",
		},
		"by size with little": {
			func(r *balance.Round) { r.BySize = true }, []*trace.Event{
				trace.WeighedEvent{Peer: "a", NS: "test.docs", Bytes: 299}.Event(),
				trace.WeighedEvent{Peer: "b", NS: "test.docs"}.Event(),
			}, nil, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			expectOf(t, play(t, c.change, c.during, c.chosen...), policyRule, c.signature)
		})
	}
}

func TestRequests(t *testing.T) {
	const asking = "balancer chunkBytes=100 throttle="
	for name, c := range map[string]struct {
		to, asking string
		signature  verdict.Signature
	}{
		"as chosen":             {"b", asking, ""},
		"to another":            {"c", asking, notAsChosen},
		"of another size":       {"b", "balancer chunkBytes=0 throttle=", notAsChosen},
		"in an operator's name": {"b", "operator " + asking, notAsChosen},
		"by force":              {"b", asking + " forceJumbo=balancer", notAsChosen},
	} {
		t.Run(name, func(t *testing.T) {
			o := play(t, func(*balance.Round) {}, nil, "a-b")
			e := trace.MoveAskedEvent{
				Peer: c.to, NS: "test.docs", Min: "\x00", Max: "g", Request: "balancer/1/1/1",
				Asking: c.asking,
			}.Event()
			e.Node = "a.0"
			o.Observe(e)
			expectOf(t, o, policyRule, c.signature)
		})
	}
}

// TestSizesMeanwhile: a donor may be asked for chunks of any size that the collection had since the
// round began, also of one that it had only for a while.
func TestSizesMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		asked int64
		want  verdict.Signature
	}{
		"at the beginning": {100, ""},
		"for a while":      {150, ""},
		"at the end":       {600, ""},
		"never":            {200, notAsChosen},
	} {
		s, state := script{o: New(nil)}, uneven()
		s.o.Views(func(string) *balance.Round {
			copied := *state
			copied.Collections = slices.Clone(state.Collections)
			return &copied
		})
		see := func(node string, e *trace.Event) {
			s.step++
			e.Step, e.At, e.Node = s.step, s.now(), node
			s.o.Observe(e)
		}
		s.lines(t, "elected a.0 1 0 1:0\nelected config.0 1 0 1:0\nround config.0 1 1 begun")
		for i, size := range []int64{150, 600} {
			see("config.0", trace.EntryChangedEvent{
				Shard: "config", Peer: "test.docs", Term: 1, Index: uint64(i + 1), NS: "test.docs",
				Why: "configureCollectionBalancing", Fields: []string{"maxChunkSizeBytes"},
			}.Event())
			state.Collections[0].ChunkBytes = size
		}
		see("config.0", trace.BalancerChoseEvent{
			Shard: "a", Peer: "b", Term: 1, NS: "test.docs", Min: "\x00", Max: "g",
			Request: "balancer/1/1/1",
		}.Event())
		see("a.0", trace.MoveAskedEvent{
			Peer: "b", NS: "test.docs", Min: "\x00", Max: "g", Request: "balancer/1/1/1",
			Asking: balance.Asking(false, false, "", c.asked),
		}.Event())
		t.Run(name, func(t *testing.T) { expectOf(t, s.o, policyRule, c.want) })
	}
}

// TestChoiceOnItsWay: a round that has nothing on record, and waits all the same, has chosen
// something that its task has not come to announce.
func TestChoiceOnItsWay(t *testing.T) {
	for wait, want := range map[time.Duration]verdict.Signature{
		0: notOfPolicy, 80 * time.Millisecond: "",
	} {
		s := script{o: New(nil)}
		s.o.Views(func(string) *balance.Round { return uneven() })
		s.lines(t, "elected config.0 1 0 1:0\nround config.0 1 1 begun")
		ended := trace.BalancerRoundEvent{Round: 1, Phase: trace.RoundEnded}.Event()
		ended.Shard, ended.Node, ended.Term = "config", "config.0", 1
		ended.At = s.now() + int64(wait)
		s.o.Observe(ended)
		expectOf(t, s.o, policyRule, want)
	}
}

// TestSettingsBetweenRounds: a round reads its settings a little before it begins, and those of a
// collection when it asks; operators may set others in between.
func TestSettingsBetweenRounds(t *testing.T) {
	state := uneven()
	s := script{o: New(nil)}
	s.o.Views(func(string) *balance.Round {
		copied := *state
		copied.Collections = slices.Clone(state.Collections)
		return &copied
	})
	set := func(forced bool, chunkBytes int64) {
		state.Forced, state.Collections[0].ChunkBytes = forced, chunkBytes
		answered := s.o.Asked(nil)
		answered(true)
	}
	ask := func(round string, forced bool) {
		begun := trace.BalancerChoseEvent{
			Shard: "a", Peer: "b", Term: 1, NS: "test.docs", Min: "\x00", Max: "g",
			Request: "balancer/1/" + round + "/1",
		}.Event()
		begun.Node = "config.0"
		s.o.Observe(begun)
		asked := trace.MoveAskedEvent{
			Peer: "b", NS: "test.docs", Min: "\x00", Max: "g", Request: begun.Request(),
			Asking: balance.Asking(false, forced, "", 200),
		}.Event()
		asked.Node = "a.0"
		s.o.Observe(asked)
	}
	s.lines(t, "elected config.0 1 0 1:0")
	set(true, 100)
	set(false, 200)
	s.lines(t, "round config.0 1 1 begun")
	ask("1", true)
	s.lines(t, "round config.0 1 1 ended")
	expectOf(t, s.o, policyRule, "")
	s.lines(t, "round config.0 1 2 begun")
	ask("2", true)
	expectOf(t, s.o, policyRule, notAsChosen)
}

// TestSplits: documents a to j of ten bytes each, and chunks of thirty.
func TestSplits(t *testing.T) {
	documents := balance.Extent{Keys: strings.Split("abcdefghij", ""), Bytes: 100}
	cut := func(at string) (all []trace.Chunk) {
		lo := "\x00"
		for _, hi := range append(strings.Split(at, ""), "\xff") {
			if hi != "" {
				all, lo = append(all, trace.Chunk{Min: lo, Max: hi}), hi
			}
		}
		return all
	}
	found := func(at string) *trace.Event {
		return trace.SplitFoundEvent{
			NS: "test.docs", Min: "\x00", Max: "\xff", Chunks: cut(at), ChunkBytes: 30,
		}.Event()
	}
	nowhere := trace.SplitFoundEvent{
		NS: "test.docs", Min: "\x00", Max: "\xff", Chunks: cut(""), ChunkBytes: 30, Arrived: 1,
	}.Event()
	marked := func(major uint32) *trace.Event {
		return trace.CatalogWrittenEvent{
			Shard: "config", Term: 1, Index: 2, NS: "test.docs", Why: trace.Jumbo.String(),
			Chunks: []trace.Chunk{{
				Min: "\x00", Max: "\xff", Shard: "a", Jumbo: true, Major: major,
			}},
		}.Event()
	}
	jumbo := marked(1)
	begun := trace.SplitBegunEvent{NS: "test.docs", ChunkBytes: 60}.Event()
	made := func(at string) *trace.Event {
		return trace.SplitMadeEvent{
			Peer: "a.0", NS: "test.docs", Min: "\x00", Max: "\xff", Chunks: cut(at),
		}.Event()
	}
	want := strings.Join(documents.Points("\x00", "\xff", 30), "")
	itself := strings.Join(documents.Automatic(documents, "\x00", "\xff", 60, true, true, false), "")
	for name, c := range map[string]struct {
		events    []*trace.Event
		signature verdict.Signature
	}{
		"where it is due":                  {[]*trace.Event{found(want)}, ""},
		"where it is not due":              {[]*trace.Event{found("b")}, wrongPoints},
		"marked though it can be cut":      {[]*trace.Event{found(want), jumbo}, jumboIdly},
		"marked though nobody was asked":   {[]*trace.Event{jumbo}, jumboIdly},
		"marked as it cannot be cut":       {[]*trace.Event{nowhere, jumbo}, ""},
		"marked after a change":            {[]*trace.Event{nowhere, marked(2)}, jumboIdly},
		"cut by itself":                    {[]*trace.Event{begun, made(itself)}, ""},
		"cut by itself where it is no use": {[]*trace.Event{begun, made("bc")}, wrongPoints},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.o.Views(func(string) *balance.Round { return uneven() })
			s.o.Extents(func(string, string) (balance.Extent, bool, bool) {
				return documents, false, true
			})
			s.lines(t,
				"elected config.0 1 0 1:0\nelected a.0 1 0 1:0\ntable 1 1 founding -..+=a@1|0")
			s.lines(t, "round config.0 1 1 begun")
			for _, e := range c.events {
				s.step++
				e.Step, e.Node = s.step, "a.0"
				if e.Kind == trace.CatalogWritten {
					e.Node = "config.0"
				}
				s.o.Observe(e)
			}
			expectOf(t, s.o, splitRule, c.signature)
		})
	}
}

// A task that has learned of one size of chunks may look while another has learned of a later one.
func TestSplitsOfTwoSizes(t *testing.T) {
	have := balance.Extent{Keys: strings.Split("abcdefghij", ""), Bytes: 100}
	s := script{o: New(nil)}
	s.o.Views(func(string) *balance.Round { return uneven() })
	s.o.Extents(func(string, string) (balance.Extent, bool, bool) { return have, false, true })
	s.lines(t, "elected config.0 1 0 1:0\nelected a.0 1 0 1:0\ntable 1 1 founding -..+=a@1|0")
	s.lines(t, "round config.0 1 1 begun")
	observe := func(node string, e *trace.Event) {
		s.step++
		e.Step, e.Node = s.step, node
		s.o.Observe(e)
	}
	observe("a.0", trace.SplitBegunEvent{NS: "test.docs", ChunkBytes: 40}.Event())
	observe("a.0", trace.SplitBegunEvent{NS: "test.docs", ChunkBytes: 80}.Event())
	have = balance.Extent{Keys: strings.Split("bcdefghijk", ""), Bytes: 100}
	s.lines(t, "user a.0 1 1 k 11")
	var pieces []trace.Chunk
	lo := "\x00"
	for _, hi := range append(have.Automatic(have, "\x00", "\xff", 40, true, true, false), "\xff") {
		pieces, lo = append(pieces, trace.Chunk{Min: lo, Max: hi}), hi
	}
	observe("config.0", trace.SplitMadeEvent{
		Peer: "a.0", NS: "test.docs", Min: "\x00", Max: "\xff", Chunks: pieces,
	}.Event())
	expectOf(t, s.o, splitRule, "")
}

// The settings of the balancer and the shards of a round may be of two states, if both were in
// force while it was made.
func TestRequestOfTwoStates(t *testing.T) {
	early, late := uneven(), uneven()
	early.BySize, late.BySize = true, true
	early.Throttle, late.Throttle = "none", "majority"
	early.Shards[0].Draining = true
	c := &chosen{Choice: balance.Choice{NS: "test.docs", Min: "\x00", Max: "g", From: "a", To: "b"}}
	c.expect([]*balance.Round{early, late}, false)
	if want := balance.Asking(false, true, "majority", 100); !slices.Contains(c.asking, want) {
		t.Errorf("%q lacks %q", c.asking, want)
	}
	if none := balance.Asking(true, true, "majority", 100); slices.Contains(c.asking, none) {
		t.Errorf("%q has %q, which no state says", c.asking, none)
	}
}

// A request by the lower bound alone is of the chunk that was there when it entered the queue.
func TestChunkThatWasCutSince(t *testing.T) {
	for end, want := range map[string]verdict.Signature{"g": "", "h": notOfPolicy} {
		s := script{o: New(nil)}
		s.o.Views(func(string) *balance.Round { return uneven() })
		s.lines(t, "elected a.0 1 0 1:0\nelected config.0 1 0 1:0\nround config.0 1 1 begun")
		for _, e := range []*trace.Event{
			trace.BalancerQueuedEvent{
				Shard: "a", Peer: "b", Term: 1, NS: "test.docs", Min: "\x00", Max: end,
				Request: "balancer/1/1/1",
			}.Event(),
			trace.BalancerChoseEvent{
				Shard: "a", Peer: "b", Term: 1, NS: "test.docs", Min: "\x00",
				Request: "balancer/1/1/1",
			}.Event(),
		} {
			s.step++
			e.Step, e.At, e.Node = s.step, s.now(), "config.0"
			s.o.Observe(e)
		}
		s.lines(t, "round config.0 1 1 ended")
		expectOf(t, s.o, policyRule, want)
	}
}

// TestSingleChunk: a chunk that a shard of 4.2 has asked to be moved goes to the shard that had
// least when the request was made, whatever is split while it waits.
func TestSingleChunk(t *testing.T) {
	for name, c := range map[string]struct {
		to        string
		split     bool // while it waits
		signature verdict.Signature
	}{
		"to who has least":                     {"b", false, ""},
		"to who has more":                      {"c", false, notOfPolicy},
		"to who had least, which has more now": {"b", true, ""},
		"to who had more, and has least now":   {"c", true, notOfPolicy},
	} {
		s := script{o: New(nil)}
		state := uneven()
		state.Collections[0].Chunks[3].Shard = "c"
		s.o.Views(func(string) *balance.Round { copied := *state; return &copied })
		s.lines(t, "elected a.0 1 0 1:0\nelected config.0 1 0 1:0")
		see := func(e *trace.Event) {
			s.step++
			e.Step, e.At, e.Node = s.step, s.now(), "config.0"
			s.o.Observe(e)
		}
		see(trace.BalancerQueuedEvent{
			Shard: "a", Peer: c.to, Term: 1, NS: "test.docs", Min: "\x00", Max: "g",
			Request: "balancer/1/0/1",
		}.Event())
		if c.split {
			state = uneven()
			state.Collections[0].Chunks[2].Shard, state.Collections[0].Chunks[3].Shard = "b", "b"
			s.lines(t, "table 1 2 split -..m=a@1|0 m..+=b@1|1")
		}
		see(trace.BalancerChoseEvent{
			Shard: "a", Peer: c.to, Term: 1, NS: "test.docs", Min: "\x00", Max: "g",
			Request: "balancer/1/0/1",
		}.Event())
		t.Run(name, func(t *testing.T) { expectOf(t, s.o, policyRule, c.signature) })
	}
}
