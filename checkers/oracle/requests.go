package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers/balance"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// expect says what the request may say: the settings of a round are read before it begins, then
// what shards there are, and the settings of its collection when it has chosen. A single one reads
// them before it asks what shards with a limit have: it may say anything while there are such.
func (c *chosen) expect(states []*balance.Round, single bool) {
	c.chunkBytes = append(c.chunkBytes, balance.ChunkSizes(c.NS, states)...)
	for _, state := range states {
		if c.Max == "" { // the chunk of a request that has never been in the queue
			c.Max = state.End(c.NS, c.Min)
		}
	}
	if single && slices.ContainsFunc(states, limited) {
		return
	}
	for _, state := range states {
		for _, settings := range states {
			for _, bytes := range c.chunkBytes {
				c.asking = append(c.asking, state.Request(c.Choice, single, settings, bytes))
			}
		}
	}
	slices.Sort(c.asking)
	c.asking = slices.Compact(c.asking)
}

// delays says whether nobody waits for the deletion of what a request of the balancer moves.
func (c *chosen) delays() bool {
	return len(c.asking) > 0 && !slices.ContainsFunc(c.asking, balance.Waits)
}

// Wish is what an operator asks for who has a range moved.
type Wish struct {
	// Name is the request's, NS the collection and To the shard that is to get it.
	Name, NS, To string
	// Min and Max bound the range, an empty one as the donor decides. With Find it is the chunk
	// that has the key instead.
	Min, Max, Find string
	// Asking is what else the request says, and Waits that it includes the deletion.
	Asking string
	Waits  bool
	// begin and end are how far chunks with the key of Find have reached since, end empty for none.
	begin, end string
}

// MovesRange is called when an operator has a range moved.
func (o *Oracle) MovesRange(w Wish) {
	o.splits.wished[w.NS] = append(o.splits.wished[w.NS], w.Min, w.Max)
	o.awaited.delayed[w.Name] = !w.Waits
	w.reach(o.world.Latest(w.NS))
	o.rounds.wishes[w.Name] = &w
}

// reach notes how far the chunk with the key of Find reaches in a table.
func (w *Wish) reach(table model.Table) {
	c := table.ChunkOf(w.Find)
	if w.Find == "" || c.Max == "" {
		return
	}
	if w.end == "" {
		w.begin = c.Min
	}
	w.begin, w.end = min(w.begin, c.Min), max(w.end, c.Max)
}

// followWishes notes how the chunks change that operators have asked for.
func (r *rounds) followWishes(ns string) {
	//shardproof:allow map each for itself
	for _, w := range r.wishes {
		if w.NS == ns {
			w.reach(r.world.Latest(ns))
		}
	}
}

// judgeWish judges that a donor was asked for what an operator has asked for: a part of the range,
// if that is one of several chunks. A chunk that was found by its key may have been split since,
// and the piece with the key have moved.
func (r *rounds) judgeWish(e *trace.Event, w *Wish) {
	within := w.Min <= e.Min && (w.Max == "" || e.Max != "" && e.Max <= w.Max)
	if w.Find != "" {
		within = e.Min <= w.Find && w.Find < e.Max || w.begin <= e.Min && e.Max <= w.end
	}
	if within && e.NS == w.NS && e.Peer == w.To && e.Asking() == w.Asking {
		return
	}
	r.report(policyRule, verdict.Violation{
		Signature: notAsRequested,
		NS:        e.NS,
		Broke: fmt.Sprintf("%s was asked to move %s of %s to %s, with %q",
			e.Node, r.span(e.Min, e.Max), e.NS, e.Peer, e.Asking()),
		Because: []string{fmt.Sprintf("an operator has requested %s of %s to %s, with %q",
			r.wished(w), w.NS, w.To, w.Asking)},
	})
}

// wished is the range of a wish, for people.
func (r *rounds) wished(w *Wish) string {
	if w.Find != "" {
		return "the chunk of " + r.show(w.Find)
	}
	return r.span(w.Min, w.Max)
}

// judgeAsked judges what a donor was asked for.
func (r *rounds) judgeAsked(e *trace.Event) {
	if w, operator := r.wishes[e.Request()]; operator {
		r.judgeWish(e, w)
		return
	}
	c, known := r.chosen[e.Request()]
	if !known {
		return // of a deposed primary
	}
	max := c.Max
	if c.open {
		max = ""
	}
	what := ""
	switch donor, _, _ := strings.Cut(e.Node, "."); {
	case donor != c.From || e.Peer != c.To || e.NS != c.NS || e.Min != c.Min || e.Max != max:
		what = fmt.Sprintf("to move %s of %s to %s", r.span(e.Min, e.Max), e.NS, e.Peer)
	case len(c.asking) > 0 && !slices.Contains(c.asking, e.Asking()):
		what = fmt.Sprintf("with %q", e.Asking())
	default:
		return
	}
	r.report(policyRule, verdict.Violation{
		Signature: notAsChosen,
		NS:        e.NS,
		Broke:     fmt.Sprintf("%s received request %s %s", e.Node, e.Request(), what),
		Because: []string{fmt.Sprintf("chosen was %s of %s from %s to %s, with %q",
			r.span(c.Min, c.Max), c.NS, c.From, c.To, c.asking)},
	}, c.step)
}

// queued is a request that is about to be made; a single one has its options from when it came.
type queued struct {
	balance.Choice
	request string
	state   *balance.Round
}

// followQueued follows what is in the queue, before anything else is made of the event.
func (r *rounds) followQueued(e *trace.Event) {
	switch e.Kind {
	case trace.BalancerQueued:
		q := queued{Choice: choiceOf(e), request: e.Request()}
		if of, _, _ := number(e.Request()); of == 0 {
			q.state = r.judgeSingle(e, q.Choice)
		} else if r.now != nil && of == r.now.number {
			r.now.entered++
		}
		r.queued = append(r.queued, q)
	case trace.BalancerChose, trace.BalancerDone:
		r.left = queued{}
		for _, q := range r.queued {
			if q.request == e.Request() {
				r.left = q
			}
		}
		r.queued = slices.DeleteFunc(r.queued,
			func(q queued) bool { return q.request == e.Request() })
	}
}

// quiet is for how long nothing may have changed before a single chunk is chosen, which is
// announced a little later.
const quiet = int64(time.Millisecond)

// limited says whether a shard has a limit, of which those who choose have to ask it first.
func limited(state *balance.Round) bool {
	return slices.ContainsFunc(state.Shards, func(s balance.Shard) bool { return s.MaxBytes > 0 })
}

// judgeSingle judges that a chunk moves for which a shard of 4.2 has asked (top-chunk
// optimisation): it goes to the shard that has least when it enters the queue. What is split while
// it waits there has no part in that. It returns the state of that moment.
func (r *rounds) judgeSingle(e *trace.Event, choice balance.Choice) *balance.Round {
	state := r.view(e.Node)
	n := r.causes.of(e.Node)
	if state == nil || len(r.queued) > 0 || len(n.faults) > 0 ||
		e.At-max(r.changed, n.faulted) < quiet ||
		limited(state) {
		return state
	}
	r.takeBusy(state)
	if wrong := state.Single(choice); wrong != "" {
		r.report(policyRule, verdict.Violation{
			Signature: notOfPolicy,
			NS:        e.NS,
			Broke: fmt.Sprintf("%s moves the chunk at %s from %s to %s, and %s",
				e.Request(), r.show(choice.Min), choice.From, choice.To, wrong),
			Because: []string{"nothing was changed just before it was chosen"},
		})
	}
	return state
}

// weigh takes what a shard says, until something is chosen; one that says something else than
// before leaves it open which the round goes by.
func (now *openRound) weigh(e *trace.Event) {
	if now.entered > 0 {
		return
	}
	said, at, asked := now.bytes, weighed{e.NS, e.Peer, e.Min}, asksBytes
	if e.Min != "" {
		said, asked = now.sizes, asksSizes
	}
	now.note(now.answered, question{e.Peer, asked})
	now.heard = e.At
	delete(now.unheard, e.Peer)
	before, known := said[at]
	now.disturbed = now.disturbed || known && before != e.Bytes()
	said[at] = e.Bytes()
}

// noteFailed takes a question that failed, or one for the primary that it is to be put to.
func (now *openRound) noteFailed(shard string, e *trace.Event) {
	switch asked := e.Asked(); asked {
	case asksSizes, asksBytes:
		now.heard = e.At
		now.note(now.failed, question{shard, asked})
		now.unheard[shard] = true // until it answers, nothing that it is asked next need leave a trace
	case asksPrimary:
		now.unheard[shard] = true
	}
}

// askedInVain says whether a shard that has answered may have been asked again, with no primary to
// answer: it is not known whether the round goes by what it said before.
func (now *openRound) askedInVain() bool {
	//shardproof:allow map whether there is one does not depend on the order
	for asked := range now.answered {
		if now.unheard[asked.shard] {
			return true
		}
	}
	return false
}

// note notes that a shard was asked. When one of two requests has failed, it is not known whether
// the round goes by the other.
func (now *openRound) note(in map[question]bool, asked question) {
	in[asked] = true
	now.disturbed = now.disturbed || now.answered[asked] && now.failed[asked]
}

// as is the state with what shards have said.
func (now *openRound) as(state *balance.Round) *balance.Round {
	judged := *state
	judged.Shards, judged.Collections = slices.Clone(state.Shards), slices.Clone(state.Collections)
	for i := range judged.Shards {
		s := &judged.Shards[i]
		s.Silent = !now.answered[question{s.Name, asksBytes}]
	}
	for i := range judged.Collections {
		c := &judged.Collections[i]
		c.Bytes, c.Sizes = map[string]int64{}, map[string]int64{}
		for _, s := range judged.Shards {
			if bytes, said := now.bytes[weighed{c.NS, s.Name, ""}]; said {
				c.Bytes[s.Name] = bytes
			}
		}
		for _, at := range c.Chunks {
			if bytes, said := now.sizes[weighed{c.NS, at.Shard, at.Min}]; said {
				c.Sizes[at.Min] = bytes
			}
		}
	}
	return &judged
}
