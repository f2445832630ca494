package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers/balance"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// policyRule is balancing-policy (protocol 14.1, 14.2).
var policyRule = verdict.Checker{
	Name: "balancing-policy",
	Promise: "A round of the balancer chooses what the policy of the version demands, nothing " +
		"else and nothing less, and donors are asked for just that, as operators have set.",
	Signatures: verdict.Meanings{
		notOfPolicy: "a round chose what the policy does not have, or left undone what it demands",
		notAsRequested: "the request that reached a donor has another range, recipient or options " +
			"than the operator's",
		notAsChosen: "a donor was asked for another migration than was chosen, or in another way " +
			"than operators have set",
	},
}

var _ = declare(102, policyRule, func(o *Oracle) hooks {
	o.rounds = &rounds{Oracle: o, chosen: map[string]chosen{}, wishes: map[string]*Wish{}}
	return hooks{event: o.rounds.judge}
})

// The signatures of what a round does wrong.
const (
	notOfPolicy    verdict.Signature = "not-of-the-policy"
	notAsChosen    verdict.Signature = "not-as-chosen"
	notAsRequested verdict.Signature = "not-as-requested"
)

// Views says how the oracle gets to know what a member of the config server has on disk of all that
// a round goes by; without it, rounds are not judged.
func (o *Oracle) Views(view func(node string) *balance.Round) { o.rounds.view = view }

// rounds follows the rounds of the newest primary of the config server.
type rounds struct {
	*Oracle
	view func(node string) *balance.Round
	now  *openRound
	// between are the states that the primary has had since its last round ended: the next one may
	// have read its settings in any of them, as it begins a little later.
	between []*balance.Round
	// off is set while the balancer is off: a round that begins goes by what is so from when it is
	// switched on.
	off bool
	// chosen are all requests by name, and underWay those of the term that have not ended.
	chosen map[string]chosen
	// wishes are the requests of operators.
	wishes   map[string]*Wish
	underWay []string
	// queued are requests whose shards are taken, and that have not been asked for.
	queued []queued
	// left is the request that has just left the queue.
	left queued
	// changed is when the catalog or what is under way was changed last.
	changed int64
}

// chosen is a request, and what it may say: anything if it goes out after its round, which a fault
// has delayed, as operators may have set something else since.
type chosen struct {
	balance.Choice
	open   bool
	asking []string
	step   uint64
	// chunkBytes is what the size of a chunk was set to.
	chunkBytes []int64
}

// openRound is a round that has begun.
type openRound struct {
	node   string
	number int
	step   uint64
	at     int64
	// states are those that the config server's primary has had since, until something was chosen.
	states []*balance.Round
	// stale says that it may have another state now.
	stale bool
	// disturbed says that what the round does may have another reason than these states: a fault,
	// or a change since something was chosen.
	disturbed bool
	// requests are those that were made, entered is how many have entered the queue for that.
	requests []string
	entered  int
	// heard is when a shard answered last.
	heard int64
	// cut are the chunks that were to be cut, by namespace and lower bound.
	cut []string
	// bytes and sizes are what shards have said, answered and failed which of them were asked so.
	bytes, sizes     map[weighed]int64
	answered, failed map[question]bool
	// unheard are shards of which a member has not said whether it is the primary, since one that
	// is has answered: a question may have come to nobody.
	unheard map[string]bool
}

// question is a request for sizes, by what it asks a shard for.
type question struct{ shard, request string }

// The requests for the sizes of chunks, and for what shards have of collections.
const (
	asksSizes = "DataSize"
	asksBytes = "ShardsvrGetStatsForBalancing"
	// asksPrimary goes before them, when it is not known who leads a shard.
	asksPrimary = "Hello"
)

// weighed is a collection on a shard, or a chunk.
type weighed struct{ ns, shard, min string }

func (r *rounds) judge(e *trace.Event) {
	if r.view == nil {
		return
	}
	switch e.Kind {
	case trace.MoveAsked:
		r.judgeAsked(e)
		return
	case trace.CatalogWritten:
		r.followWishes(e.NS)
	}
	if r.now != nil {
		r.follow(e)
	}
	set := r.world.Set(model.Config)
	if e.Kind == trace.Elected && e.Shard == model.Config {
		r.now, r.underWay, r.queued, r.between, r.off = nil, nil, nil, nil, false
		r.lookBetween(e.Node)
	}
	if e.Term != set.Term || e.Node != set.Leader {
		return
	}
	r.followQueued(e)
	if e.Kind == trace.EntryChanged {
		r.judgeDefragmented(e)
	}
	switch e.Kind {
	case trace.CatalogWritten, trace.ClusterChanged, trace.BalancerState, trace.EntryChanged:
		r.changed = e.At
		if !r.off || e.Kind == trace.BalancerState {
			r.lookBetween(e.Node)
		}
	case trace.BalancerRound:
		r.turn(e)
	case trace.BalancerChose:
		r.choose(e)
	case trace.BalancerDone:
		r.changed = e.At
		r.underWay = slices.DeleteFunc(r.underWay,
			func(id string) bool { return id == e.Request() })
	}
}

// turn begins a round, or judges it.
func (r *rounds) turn(e *trace.Event) {
	if e.RoundPhase() == trace.RoundBegun {
		r.now = &openRound{
			node: e.Node, number: e.Round(), step: e.Step, at: e.At, heard: e.At,
			bytes: map[weighed]int64{}, sizes: map[weighed]int64{},
			answered: map[question]bool{}, failed: map[question]bool{}, unheard: map[string]bool{},
		}
		r.look()
		return
	}
	if now := r.now; now != nil && now.number == e.Round() {
		r.look()
		now.disturbed = now.disturbed || now.askedInVain()
		// A round that has chosen nothing has nothing to wait for: this one's choice is on its way.
		now.disturbed = now.disturbed || len(now.requests) == 0 && e.At-now.heard > waiting
		r.judgeRound()
	}
	r.now, r.between = nil, nil
	r.lookBetween(e.Node)
}

// taken says whether requests of others than the round are in the queue: of the shards that they
// take nobody has heard.
func (r *rounds) taken(round int) bool {
	return slices.ContainsFunc(r.queued, func(q queued) bool {
		of, _, _ := number(q.request)
		return of != round
	})
}

func choiceOf(e *trace.Event) balance.Choice {
	return balance.Choice{NS: e.NS, Min: e.Min, Max: e.Max, From: e.Shard, To: e.Peer}
}

// lookBetween takes the state of the moment down between two rounds.
func (r *rounds) lookBetween(node string) {
	if r.now != nil || r.view == nil {
		return
	}
	state, n := r.view(node), len(r.between)
	r.off = state != nil && !state.On
	if state != nil && (n == 0 || !r.between[n-1].Equal(state)) {
		r.between = append(r.between, state)
	}
}

// follow takes notice of what may make a round choose something else.
func (r *rounds) follow(e *trace.Event) {
	now := r.now
	now.disturbed = now.disturbed || r.taken(now.number)
	if now.stale {
		r.look()
	}
	switch e.Kind {
	case trace.Fault, trace.Repair:
		now.disturbed = now.disturbed || e.Peer == now.node || e.FaultKind() == "error" ||
			e.FaultKind() == "kill-operation"
	case trace.PointHit, trace.SteppedDown:
		now.disturbed = now.disturbed || e.Node == now.node
	case trace.Weighed:
		if e.Node == now.node {
			now.weigh(e)
		}
	case trace.CallEnded:
		if e.Node == now.node && e.Code() != "" {
			now.noteFailed(r.causes.of(e.Peer).shard, e)
		}
	case trace.CatalogWritten, trace.ClusterChanged, trace.BalancerState, trace.BalancerDone,
		trace.EntryChanged:
		if e.Node != now.node {
			return
		}
		now.stale = true
		moved := e.Kind == trace.BalancerDone || e.Change() == trace.ChunkMoved ||
			e.Change() == trace.Split || e.Change() == trace.Jumbo
		now.disturbed = now.disturbed || len(now.requests) > 0 && !moved
	}
}

// look takes the state of the moment down, until something is chosen.
func (r *rounds) look() {
	now := r.now
	now.stale = false
	if len(now.requests) > 0 {
		return
	}
	state := r.view(now.node)
	if state == nil {
		now.disturbed = true
		return
	}
	r.takeBusy(state)
	for _, known := range now.states {
		if known.Equal(state) {
			return
		}
	}
	now.states = append(now.states, state)
}

// choose takes a request down, and what it has to say.
func (r *rounds) choose(e *trace.Event) {
	of, _, inRound := number(e.Request())
	if inRound = inRound && r.now != nil && of == r.now.number; inRound {
		r.look()
	}
	c := chosen{
		Choice: choiceOf(e),
		open:   e.Max == "", step: e.Step,
	}
	if c.open {
		c.Max = r.left.Max // the chunk as it was when the round chose; it may have been cut since
	}
	var states []*balance.Round
	if inRound || of == 0 {
		states = append(states, r.view(e.Node), r.left.state)
	}
	if inRound {
		states = append(append(states, r.between...), r.now.states...)
		r.now.requests = append(r.now.requests, e.Request())
	}
	states = slices.DeleteFunc(states, func(s *balance.Round) bool { return s == nil })
	c.expect(states, of == 0)
	r.chosen[e.Request()] = c
	r.awaited.delayed[e.Request()] = c.delays()
	r.underWay, r.changed = append(r.underWay, e.Request()), e.At
}

// waiting is after how long a round that has heard from all shards waits for something; the
// shortest interval of a balancer is longer.
const waiting = int64(25 * time.Millisecond)

// takeBusy has the shards of requests that have not ended be busy.
func (r *rounds) takeBusy(state *balance.Round) {
	for i := range state.Shards {
		s := &state.Shards[i]
		s.Busy = slices.ContainsFunc(r.underWay, func(id string) bool {
			return r.chosen[id].From == s.Name || r.chosen[id].To == s.Name
		})
	}
}

// judgeRound judges what a round has chosen, if it is clear what it went by.
func (r *rounds) judgeRound() {
	now := r.now
	if now.disturbed || len(now.states) == 0 {
		return
	}
	all, whole := r.choices()
	if !whole {
		return
	}
	if len(now.states) == 1 && len(all) == 0 {
		r.splits.judgeCuts(now, now.states[0])
	}
	var wrong string
	for _, state := range now.states {
		if !state.On || state.Window {
			return
		}
		judged := now.as(state)
		if wrong = judged.Judge(all, r.show); wrong == "" {
			return
		}
	}
	if len(now.states) > 1 || wrong == "" {
		return
	}
	r.report(policyRule, verdict.Violation{
		Signature: notOfPolicy,
		Broke:     fmt.Sprintf("round %d of the balancer: %s", now.number, wrong),
		Because: slices.Concat([]string{
			"nothing was changed from when it began until it chose, and no fault hit it",
		}, now.as(now.states[0]).AsIf(all, r.show), now.as(now.states[0]).Describe(r.show)),
	}, now.step)
}

// judgeDefragmented judges that a collection is given back to the regular policy: by then it has as
// few chunks as defragmentation can make of it.
func (r *rounds) judgeDefragmented(e *trace.Event) {
	now := r.now
	if e.Why() != "defragmented" || now == nil || now.disturbed || len(now.states) != 1 {
		return
	}
	if left := now.as(now.states[0]).Unfinished(e.NS, r.show); left != "" {
		r.report(policyRule, verdict.Violation{
			Signature: notOfPolicy, NS: e.NS,
			Broke:   fmt.Sprintf("the balancer ended the defragmentation of %s, but %s", e.NS, left),
			Because: []string{"the metadata has not changed since the round began, and no fault hit it"},
		}, now.step)
	}
}

// choices are those of the round: what it has asked for, and what waits to be asked for, since a
// round ends when one of its requests has. They are not whole when one was given up before.
func (r *rounds) choices() (all []balance.Choice, whole bool) {
	ids := slices.Clone(r.now.requests)
	for _, id := range ids {
		all = append(all, r.chosen[id].Choice)
	}
	for _, q := range r.queued {
		if of, _, _ := number(q.request); of == r.now.number {
			ids, all = append(ids, q.request), append(all, q.Choice)
		}
	}
	for i, id := range ids {
		if _, n, _ := number(id); n != i+1 {
			return nil, false
		}
	}
	return all, len(ids) >= r.now.entered
}
