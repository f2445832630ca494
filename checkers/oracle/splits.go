package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers/balance"
	"github.com/shardproof/shardproof/checkers/facts"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// splitRule is split-points (protocol 13.1, 13.2, 13.5).
var splitRule = verdict.Checker{
	Name: "split-points",
	Promise: "A chunk is cut without being asked for only where a boundary of zones or the size " +
		"of its documents demands it, and is marked jumbo only if it cannot be cut.",
	Signatures: verdict.Meanings{
		wrongPoints: "a chunk was to be cut where neither zones nor the size of its documents say",
		notCut:      "a round left a chunk as it was although the boundary of a zone is inside",
		jumboIdly:   "a chunk was marked jumbo although nobody had found that it cannot be cut",
		unwanted:    "a shard cuts chunks by itself, or may, although that is switched off",
	},
}

var _ = declare(103, splitRule, func(o *Oracle) hooks {
	o.splits = &splits{
		Oracle: o, looks: map[string][]look{}, found: map[string]foundPoints{},
		latest: map[string][]*trace.Event{}, wished: map[string][]string{},
		permits: map[string]int{}, cuts: map[string]bool{}, zoned: map[string]bool{},
		asked: map[string]bool{}, begun: map[string]int{},
	}
	return hooks{event: o.splits.judge}
})

// The signatures of splits.
const (
	wrongPoints verdict.Signature = "split-points-wrong"
	notCut      verdict.Signature = "chunk-not-cut"
	jumboIdly   verdict.Signature = "jumbo-without-cause"
)

// Extents says how the oracle gets to know what a member has of a collection, and whether its key
// is hashed; without it, the points of splits are not judged.
func (o *Oracle) Extents(of func(node, ns string) (x balance.Extent, hashed, known bool)) {
	o.splits.extent = of
}

// SplitsBegun counts how often anybody has learned that chunks of the collection may be cut, which
// shards of 4.2 ask before they look at one that was written to.
func (o *Oracle) SplitsBegun(ns string) int { return o.splits.begun[ns] }

// splits is what is known of splits that nobody has asked for.
type splits struct {
	*Oracle
	extent func(node, ns string) (x balance.Extent, hashed, known bool)
	// looks are what a shard's member has seen of a collection when it was about to cut a chunk of
	// it by itself.
	looks map[string][]look
	// wished are the bounds of ranges that operators have had moved, by collection: 4.2 cuts the
	// range out of its chunks first.
	wished map[string][]string
	// latest is when a member began to look at a collection for the last time, for each size.
	latest map[string][]*trace.Event
	// found are the newest answers where a range can be cut.
	found map[string]foundPoints
	// permits counts how often a member has learned that it may cut a chunk of a collection, less
	// what it has cut, which cuts names; zoned are the collections that were ever of a zone.
	permits     map[string]int
	cuts, zoned map[string]bool
	// begun counts how often shards have learned that they may cut chunks of a collection.
	begun map[string]int
	// asked are the cuts that config servers have ever asked for: such a request may take its time.
	asked map[string]bool
}

// look is what a member had when it was about to cut a chunk.
type look struct {
	balance.Extent
	hashed     bool
	chunkBytes int64
}

// foundPoints is an answer where a range can be cut, and the chunk of its first key then.
type foundPoints struct {
	step   uint64
	points []string
	chunk  trace.Chunk
}

func (s *splits) judge(e *trace.Event) {
	if s.extent == nil {
		return
	}
	switch e.Kind {
	case trace.SplitBegun:
		s.permit(e)
		s.begin(e)
	case trace.Applied:
		s.lookAgain(e)
	case trace.SplitFound:
		s.judgeFound(e)
	case trace.SplitAsked:
		s.judgeAsked(e)
	case trace.SplitMade:
		s.judgePermitted(e)
		s.judgeMade(e)
	case trace.ClusterChanged:
		s.zoned[e.NS] = s.zoned[e.NS] || e.ClusterChange() == trace.ZoneRange
	case trace.CatalogWritten:
		if set := s.world.Set(model.Config); set.Leads(e) && e.Change() == trace.Jumbo {
			s.judgeJumbo(e)
		}
	}
}

// begin notes what the member has.
func (s *splits) begin(e *trace.Event) {
	began, at := *e, e.Node+" "+e.NS
	s.latest[at] = append(slices.DeleteFunc(s.latest[at], func(b *trace.Event) bool {
		return b.ChunkBytes() == e.ChunkBytes()
	}), &began)
	s.look(&began)
}

func (s *splits) look(began *trace.Event) {
	if x, hashed, known := s.extent(began.Node, began.NS); known {
		at := began.Node + " " + began.NS
		s.looks[at] = append(s.looks[at], look{x, hashed, began.ChunkBytes()})
	}
}

// longestLook is how long a member may take until it has looked: its task may stall.
const longestLook = int64(450 * time.Millisecond)

// lookAgain notes what the member has after a change while it may still look: also after a fault,
// which may have kept it from looking.
func (s *splits) lookAgain(e *trace.Event) {
	for _, began := range s.latest[e.Node+" "+e.NS] {
		n := s.causes.of(e.Node)
		if len(n.faults) > 0 || e.At-max(began.At, n.faulted) <= longestLook {
			s.look(began)
		}
	}
}

// points are where the pieces of an event meet.
func points(e *trace.Event) (all []string) {
	for _, piece := range e.Chunks[1:] {
		all = append(all, piece.Min)
	}
	return all
}

// cutOf names the cut of an event.
func cutOf(e *trace.Event) string { return fmt.Sprint(e.NS, e.Min, e.Max, points(e)) }

// judgeFound judges where a shard says that a chunk can be cut which was too big to be moved. Its
// documents may have changed since it looked if the answer took its time.
func (s *splits) judgeFound(e *trace.Event) {
	s.found[e.NS+e.Min] = foundPoints{e.Step, points(e), s.world.Latest(e.NS).ChunkOf(e.Min)}
	x, _, known := s.extent(e.Node, e.NS)
	if !known || e.Arrived() != e.At {
		return
	}
	if want := x.Points(e.Min, e.Max, e.ChunkBytes()); !slices.Equal(want, points(e)) {
		s.wrong(e, want, e.Node+" has "+x.Cut(e.Min, e.Max, points(e), e.ChunkBytes()))
	}
	for _, id := range s.rounds.underWay {
		c := s.rounds.chosen[id]
		if c.NS == e.NS && c.Min == e.Min && len(c.asking) > 0 &&
			!slices.Contains(c.chunkBytes, e.ChunkBytes()) {
			s.wrong(e, points(e), fmt.Sprintf(
				"operators have set a chunk to have %v bytes, and asked for was %d",
				c.chunkBytes, e.ChunkBytes()))
		}
	}
}

// judgeAsked judges what the config server has asked for, when no operator asks for anything.
func (s *splits) judgeAsked(e *trace.Event) {
	defer func() { s.asked[cutOf(e)] = true }()
	switch now := s.rounds.now; {
	case now != nil && now.node == e.Node:
		now.cut = append(now.cut, e.NS+e.Min)
	case now != nil: // in a round of its own: it was deposed since
		return
	}
	if s.causes.commands > 0 || s.ordered(e) {
		return
	}
	s.wrong(e, nil, "no boundary of zones is there, and no answer says so")
}

// ordered says whether the chunk is to be cut like that: for zones, because it was too big, or for
// a range that is to move.
func (s *splits) ordered(e *trace.Event) bool {
	at := points(e)
	if s.asked[cutOf(e)] {
		return true
	}
	if found, known := s.found[e.NS+e.Min]; known && slices.Equal(found.points, at) {
		return true
	}
	unasked := func(k string) bool { return !slices.Contains(s.wished[e.NS], k) }
	now := s.rounds.now
	if s.rounds.view == nil || now == nil || !slices.ContainsFunc(at, unasked) {
		return true // of a round that is over, or for an operator
	}
	for _, state := range now.states {
		if slices.Equal(state.Cuts(e.NS)[e.Min], at) {
			return true
		}
	}
	return false
}

// judgeMade judges what a shard of 4.2 has had cut by itself: of what it has looked at, there is a
// state of its documents that says so.
func (s *splits) judgeMade(e *trace.Event) {
	looks := s.looks[e.Peer+" "+e.NS]
	if len(looks) == 0 || e.Code() != "" || s.causes.commands > 0 || len(points(e)) < 2 ||
		len(s.causes.of(e.Peer).faults) > 0 || s.zoned[e.NS] || s.ordered(e) {
		return // where zones begin and end, a round that is over may have asked for it
	}
	table := s.world.Latest(e.NS)
	if len(table) == 0 {
		return
	}
	first, last := s.first(e.NS), s.last(e.NS)
	var want []string
	for i, l := range looks {
		// The outermost document is looked up after the points.
		for _, after := range looks[i:] {
			want = l.Automatic(after.Extent, e.Min, e.Max, l.chunkBytes,
				e.Min == first, e.Max == last, l.hashed)
			if slices.Equal(want, points(e)) {
				return
			}
			if !sameInside(want, points(e)) {
				break
			}
		}
	}
	s.wrong(e, want, "of what the shard has looked at nothing is to be cut like that")
}

// sameInside says that two lists of points differ at their ends alone.
func sameInside(a, b []string) bool {
	return len(a) == len(b) && len(a) > 1 && slices.Equal(a[1:len(a)-1], b[1:len(b)-1])
}

func (s *splits) first(ns string) string { return s.world.Latest(ns)[0].Min }

func (s *splits) last(ns string) string {
	table := s.world.Latest(ns)
	return table[len(table)-1].Max
}

// judgeJumbo judges that a chunk is marked.
func (s *splits) judgeJumbo(e *trace.Event) {
	for _, at := range e.Chunks {
		found, known := s.found[e.NS+at.Min]
		is := &found.chunk
		same := at.Epoch == is.Epoch && at.Major == is.Major && at.Minor == is.Minor
		if !at.Jumbo || known && len(found.points) == 0 && same {
			continue
		}
		s.report(splitRule, verdict.Violation{
			Signature: jumboIdly,
			NS:        e.NS,
			Broke: fmt.Sprintf("the chunk %s on %s was marked jumbo",
				s.span(at.Min, at.Max), at.Shard),
			Because: []string{"nobody has answered that it cannot be cut since it last changed"},
		}, e.Step)
	}
}

func (s *splits) wrong(e *trace.Event, want []string, because string) {
	s.report(splitRule, verdict.Violation{
		Signature: wrongPoints,
		NS:        e.NS,
		Broke: fmt.Sprintf("the chunk %s is to be cut at %s instead of %s",
			s.span(e.Min, e.Max), s.keys(points(e)), s.keys(want)),
		Because: []string{because},
	}, e.Step)
}

func (s *splits) keys(all []string) (text string) {
	for _, k := range all {
		text += s.show(k) + " "
	}
	return "[" + text + "]"
}

// reachable says that a round could ask the shard: it had a primary all the time, and no request of
// the round's node has failed. One that finds no primary asks for nothing.
func (s *splits) reachable(now *openRound, shard string) bool {
	primary := s.causes.of(s.world.Set(shard).Leader)
	return primary.settled && primary.role < now.at && s.causes.of(now.node).any < now.at
}

// judgeCuts judges that a round has had cut what it must, of a state that was the only one.
func (s *splits) judgeCuts(now *openRound, state *balance.Round) {
	for i := range state.Collections {
		ns := state.Collections[i].NS
		for _, at := range state.Collections[i].Chunks {
			if state.Cuts(ns)[at.Min] == nil || slices.Contains(now.cut, ns+at.Min) ||
				!s.reachable(now, at.Shard) {
				continue
			}
			s.report(splitRule, verdict.Violation{
				Signature: notCut,
				NS:        ns,
				Broke: fmt.Sprintf("round %d of the balancer has left the chunk %s as it was",
					now.number, s.span(at.Min, at.Max)),
				Because: []string{"the boundary of a zone is inside, all the time since it began"},
			}, now.step)
		}
	}
}

// unwanted is the signature of what a service does that is switched off.
const unwanted verdict.Signature = "service-not-off"

// service is what operators have said of a service, as their commands tell and not what the store
// makes of them.
type service struct {
	// step is that at which the first command that switched it off was acknowledged, 0 while it may
	// be on, and off when that was.
	off  int64
	step uint64
	// on says that somebody has switched it on, or has tried to: from then on nothing is known.
	on bool
}

// switches notes that a command about a service was given.
func (o *Oracle) switches(f *facts.Fact) {
	if s := o.service(f.Service); f.On {
		s.on, s.step = true, 0
	}
}

// switched notes that it was acknowledged.
func (o *Oracle) switched(f *facts.Fact) {
	if s := o.service(f.Service); !f.On && !s.on && s.step == 0 {
		s.off, s.step = o.causes.now, o.step
	}
}

func (o *Oracle) service(name string) *service {
	s := o.services[name]
	if s == nil {
		s = &service{}
		o.services[name] = s
	}
	return s
}

// permit judges that a shard has learned that it may look for a chunk to cut, which it asked for at
// some time, and counts it.
func (s *splits) permit(e *trace.Event) {
	s.permits[e.Node+" "+e.NS]++
	s.begun[e.NS]++
	if off := s.service(facts.AutoSplit); off.step != 0 && e.Sent() > off.off {
		s.unwanted(e, fmt.Sprintf("%s has learned that it may cut chunks of %s", e.Node, e.NS),
			fmt.Sprintf("it asked after step %d, when an operator was told that %s is off",
				off.step, facts.AutoSplit))
	}
}

// judgePermitted judges that a shard has a chunk cut in several pieces: unless the config server
// may have asked for it, the shard has asked whether it may, once for each cut.
func (s *splits) judgePermitted(e *trace.Event) {
	found, known := s.found[e.NS+e.Min]
	cut := cutOf(e)
	if e.Code() != "" || len(points(e)) < 2 || s.causes.commands > 0 || s.zoned[e.NS] ||
		known && len(found.points) > 0 || s.cuts[cut] || s.ordered(e) {
		return
	}
	s.cuts[cut] = true
	if s.permits[e.Peer+" "+e.NS]--; s.permits[e.Peer+" "+e.NS] < 0 {
		s.unwanted(e, fmt.Sprintf("%s has had the chunk %s cut", e.Peer, s.span(e.Min, e.Max)),
			"it has not learned before that it may")
	}
}

func (s *splits) unwanted(e *trace.Event, broke, because string) {
	v := verdict.Violation{Signature: unwanted, NS: e.NS, Broke: broke, Because: []string{because}}
	s.report(splitRule, v, s.service(facts.AutoSplit).step)
}
