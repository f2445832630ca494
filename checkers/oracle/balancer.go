package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// Balancing is balancer (protocol 14.3, 14.4).
var Balancing = verdict.Checker{
	Name: "balancer",
	Promise: "The balancer moves no range to a draining shard or out of the range's zone, starts " +
		"nothing while it is disabled or outside its window, and never runs two migrations " +
		"on one shard at a time; it commits nothing after a stop was acknowledged, moves " +
		"nothing back and forth, and does not stop balancing while chunks are in the wrong " +
		"place or unevenly distributed; and a removed shard owns nothing.",
	Signatures: verdict.Meanings{
		busyShard: "a migration was requested while another one with the same shard was " +
			"running",
		intoDraining:    "a chunk was to move to a draining shard",
		outOfZone:       "a chunk was to move to a shard outside its zone",
		outsideWindow:   "a migration was requested outside the active window",
		whileOff:        "a migration was requested although balancing was disabled",
		commitAfterStop: "a migration of the balancer committed after a stop was acknowledged",
		openedAfterStop: "a setting lets migrations of the balancer commit that was written " +
			"after a stop was acknowledged and does not start it",
		pingPong:     "a chunk moves back and forth although nothing has changed",
		ownerRemoved: "a removed shard owns a range",
		notBalanced: "the balancer stopped while chunks are in the wrong place or unevenly " +
			"distributed",
	},
}

var _ = declare(100, Balancing, func(o *Oracle) hooks {
	return hooks{event: o.judgeBalancing, commit: o.judgeBalanced, administered: o.administer}
})

// The signatures of balancing violations.
const (
	busyShard       verdict.Signature = "concurrent-migrations-on-shard"
	intoDraining    verdict.Signature = "moved-to-draining-shard"
	outOfZone       verdict.Signature = "moved-out-of-zone"
	outsideWindow   verdict.Signature = "moved-outside-window"
	whileOff        verdict.Signature = "moved-while-disabled"
	commitAfterStop verdict.Signature = "commit-after-stop"
	openedAfterStop verdict.Signature = "open-after-stop"
	pingPong        verdict.Signature = "ping-pong"
	ownerRemoved    verdict.Signature = "removed-shard-owns-data"
	notBalanced     verdict.Signature = "not-balanced"
)

// balancer is what is known of the balancer of the newest term.
type balancer struct {
	term uint64
	// states are what operators have said so far, the oldest first, as its primary had it; began is
	// which of them was the newest when a round began.
	states []*model.Cluster
	began  map[int]int
	// ended is the step at which the newest round has ended, 0 while it goes on.
	ended uint64
	// underWay are its requests that have not ended.
	underWay []request
	// moves counts what became of chunks since anybody but the balancer has changed anything.
	moves map[visit]int
	// atRandom are requests that follow no policy; carriedOut is by which migration each was
	// committed first.
	atRandom   map[string]bool
	carriedOut map[string]string
	// stopped is the step at which a stop was answered that still holds, 0 while the balancer may
	// commit.
	stopped uint64
}

// request is what the balancer has asked for.
type request struct {
	id, from, to string
	step         uint64
}

func (r *request) has(shard string) bool { return r.from == shard || r.to == shard }

// visit is the departure of the chunk that begins at min from a shard.
type visit struct{ ns, min, shard string }

// judgeBalancing looks at what the newest primary of the config server does; a deposed one may ask
// for what it likes, as nothing of it is committed against a stop.
func (o *Oracle) judgeBalancing(e *trace.Event) {
	if model.Administers(e) {
		o.balancer.moves = nil
	}
	if e.Kind == trace.Applied && e.Actor == trace.User {
		o.balancer.moves = nil
		return
	}
	if set := o.world.Set(model.Config); e.Term != set.Term || e.Node != set.Leader {
		return
	}
	switch e.Kind {
	case trace.BalancerState, trace.ClusterChanged:
		o.balancer.states = append(o.balancer.of(e.Term, o.world).states,
			o.world.LatestCluster().With(e))
	case trace.BalancerRound:
		b := o.balancer.of(e.Term, o.world)
		if b.ended = e.Step; e.RoundPhase() == trace.RoundBegun {
			b.began[e.Round()], b.ended = len(b.states)-1, 0
		}
	case trace.BalancerChose:
		o.judgeChoice(e, o.balancer.of(e.Term, o.world))
	case trace.BalancerDone:
		b := o.balancer.of(e.Term, o.world)
		b.underWay = slices.DeleteFunc(b.underWay, func(r request) bool {
			return r.id == e.Request()
		})
	case trace.BalancerStopped:
		if c := o.world.Cluster(); c == nil || c.Mode != trace.BalancerFull {
			o.balancer.stopped = e.Step
		}
	}
}

// of is the balancer of a term.
func (b *balancer) of(term uint64, w *model.World) *balancer {
	if b.term != term {
		*b = balancer{
			term:     term,
			states:   []*model.Cluster{w.LatestCluster()},
			began:    map[int]int{},
			stopped:  b.stopped,
			moves:    b.moves,
			atRandom: map[string]bool{},
		}
	}
	return b
}

// since are the states that the round may have gone by: which one when, only the balancer knows.
func (b *balancer) since(request string) []*model.Cluster {
	parts := strings.Split(request, "/")
	round, err := strconv.Atoi(parts[len(parts)-min(2, len(parts))])
	if first, known := b.began[round]; known && err == nil {
		return b.states[first:]
	}
	return b.states
}

// judgeChoice judges a request. What was said about shards and zones counts if it was in force all
// the time since its round began; what switches balancing off, and the window, are looked at last.
func (o *Oracle) judgeChoice(e *trace.Event, b *balancer) {
	o.judgeShares(e, b)
	o.judgeHours(e)
	states := b.since(e.Request())
	all := func(forbids func(*model.Cluster) bool) bool {
		return !slices.ContainsFunc(states, func(c *model.Cluster) bool { return !forbids(c) })
	}
	if all(func(c *model.Cluster) bool { return c.Draining(e.Peer) }) {
		o.unbalanced(e, intoDraining,
			fmt.Sprintf("%s was already draining when the round began", e.Peer))
	}
	zone := o.foreign(e, b)
	if zone != "" && all(func(c *model.Cluster) bool { return o.foreignIn(c, e) != "" }) {
		o.unbalanced(e, outOfZone,
			fmt.Sprintf("the range was assigned to zone %s when the round began, and %s was not",
				zone, e.Peer))
	}
	if o.unbalancedIn(o.world.LatestCluster(), e.NS) {
		o.unbalanced(e, whileOff, "balancing of the collection is disabled")
	}
	if e.Why() == trace.AtRandom {
		b.atRandom[e.Request()] = true
	}
}

func (o *Oracle) foreign(e *trace.Event, b *balancer) string {
	return o.foreignIn(b.states[len(b.states)-1], e)
}

// foreignIn is the zone of the chunk that is to move when its new shard is not of it.
func (o *Oracle) foreignIn(c *model.Cluster, e *trace.Event) string {
	table := o.world.Latest(e.NS)
	i := slices.IndexFunc(table, func(c trace.Chunk) bool { return c.Min == e.Min })
	if i < 0 || c == nil {
		return ""
	}
	if zone := c.Zone(e.NS, table[i].Min, table[i].Max); !c.InZone(e.Peer, zone) {
		return zone
	}
	return ""
}

func (o *Oracle) judgeShares(e *trace.Event, b *balancer) {
	for _, r := range b.underWay {
		if r.has(e.Shard) || r.has(e.Peer) {
			o.unbalanced(e, busyShard,
				fmt.Sprintf("migration %s from %s to %s has not ended", r.id, r.from, r.to), r.step)
		}
	}
	b.underWay = append(b.underWay, request{e.Request(), e.Shard, e.Peer, e.Step})
}

// judgeHours holds the time of day where the primary stands against the window (errata E22): both
// ends belong to it.
func (o *Oracle) judgeHours(e *trace.Event) {
	c := o.world.LatestCluster()
	if c == nil {
		return
	}
	if c.Mode != trace.BalancerFull {
		o.unbalanced(e, whileOff, "the balancer's mode is "+c.Mode.String())
	}
	local := time.Duration(e.LocalTime())
	if start, stop, set := hours(c.Window); set && !within(local, start, stop) {
		o.unbalanced(e, outsideWindow,
			fmt.Sprintf("the window is %s, and the time of day where the primary stands is %s (%s in UTC)",
				c.Window, clockFace(local), clockFace(local-time.Duration(e.AheadOfUTC()))))
	}
}

const day = 24 * time.Hour

// hours reads a window like 23:00-7:00.
func hours(window string) (start, stop time.Duration, set bool) {
	var h1, m1, h2, m2 time.Duration
	n, _ := fmt.Sscanf(window, "%d:%d-%d:%d", &h1, &m1, &h2, &m2)
	return h1*time.Hour + m1*time.Minute, h2*time.Hour + m2*time.Minute, n == 4
}

func within(local, start, stop time.Duration) bool {
	minutesIn := func(t time.Duration) time.Duration { return ((t-start)%day + day) % day }
	return minutesIn(local) <= minutesIn(stop)
}

func clockFace(t time.Duration) string {
	t = (t%day + day) % day
	return fmt.Sprintf("%d:%02d:%09.6f",
		t/time.Hour, t%time.Hour/time.Minute, (t % time.Minute).Seconds())
}

func (o *Oracle) unbalanced(
	e *trace.Event, signature verdict.Signature, because string, more ...uint64,
) {
	o.report(Balancing, verdict.Violation{
		Signature: signature,
		NS:        e.NS,
		Broke: fmt.Sprintf(
			"the balancer requested migration %s of the chunk at %s from %s to %s",
			e.Request(), o.show(e.Min), e.Shard, e.Peer,
		),
		Because: []string{because},
	}, more...)
}

// administer takes what a majority of the config server has of what operators say.
func (o *Oracle) administer(e *trace.Event) {
	switch {
	case e.BalancerMode() == trace.BalancerFull:
		o.balancer.stopped = 0
	case e.Kind == trace.BalancerState && o.balancer.stopped != 0 && !e.Closed():
		o.report(Balancing, verdict.Violation{
			Signature: openedAfterStop,
			Broke: fmt.Sprintf("a majority of the config server has the balancer's mode %s, and "+
				"would commit what it has asked for", e.BalancerMode()),
			Because: []string{fmt.Sprintf("the balancer had acknowledged a stop at step %d, and "+
				"nobody has started it since", o.balancer.stopped)},
		}, o.balancer.stopped, e.Step)
	case e.ClusterChange() == trace.ShardRemoved:
		o.left[e.Peer] = o.step
		for _, ns := range o.world.Tables() {
			if left := o.world.Table(ns).Owned(e.Peer); len(left) > 0 {
				o.ownerless(ns, e.Peer, left[0].Min, left[0].Max, e.Step)
			}
		}
	}
}

// judgeBalanced judges a commit: who asked for it, and to whom it gives.
func (o *Oracle) judgeBalanced(w *model.Write) {
	for _, c := range w.Chunks {
		if known := o.world.Cluster(); known.Knows() && !known.Has(c.Shard) {
			o.ownerless(w.NS, c.Shard, c.Min, c.Max, w.Step)
		}
	}
	m := o.moves[w.Migration()]
	if m == nil || !strings.HasPrefix(m.request, "balancer/") {
		o.balancer.moves = nil
		return
	}
	if since := o.balancer.stopped; since != 0 {
		o.report(Balancing, verdict.Violation{
			Signature: commitAfterStop,
			NS:        w.NS,
			Broke: fmt.Sprintf(
				"the config server committed migration %s, which the balancer had requested as %s",
				m.id, m.request,
			),
			Because: []string{
				fmt.Sprintf("the balancer had acknowledged a stop at step %d", since),
			},
		}, since, w.Step)
	}
	switch {
	case o.balancer.carriesOutAgain(m):
		o.balancer.moves = nil
	case !o.balancer.atRandom[m.request]:
		o.judgeReturn(w, m)
	}
}

// carriesOutAgain says whether a migration carries out a request that was carried out before: a
// copy of it came late. The balancer has not decided that, and what it has decided before counts no
// more.
func (b *balancer) carriesOutAgain(m *move) bool {
	if b.carriedOut == nil {
		b.carriedOut = map[string]string{}
	}
	if b.carriedOut[m.request] == "" {
		b.carriedOut[m.request] = m.id
	}
	return b.carriedOut[m.request] != m.id
}

func (o *Oracle) ownerless(ns, shard, lo, hi string, step uint64) {
	o.report(Balancing, verdict.Violation{
		Signature: ownerRemoved,
		NS:        ns,
		Broke:     fmt.Sprintf("%s is owned by %s", o.span(lo, hi), shard),
		Because:   []string{shard + " was removed from the cluster"},
	}, step)
}

// returns is how often a chunk may go to a shard that it has left, while nothing has changed but by
// the balancer: once, as what shards tell of their data is old, and estimated.
const returns = 1

func (o *Oracle) judgeReturn(w *model.Write, m *move) {
	b := &o.balancer
	if b.moves == nil {
		b.moves = map[visit]int{}
	}
	for _, moved := range w.Moved() {
		came, back := visit{w.NS, moved.Min, ""}, visit{w.NS, moved.Min, moved.To}
		if b.moves[back] > 0 {
			b.moves[came]++
		}
		b.moves[visit{w.NS, moved.Min, moved.From}]++
		if b.moves[came] > returns {
			o.report(Balancing, verdict.Violation{
				Signature: pingPong,
				NS:        w.NS,
				Broke: fmt.Sprintf(
					"migration %s moves the chunk %s back to %s, where it came from",
					m.id, o.span(moved.Min, moved.Max), moved.To,
				),
				Because: []string{
					"no client has written and no operator has changed anything since it began " +
						"to move back and forth",
				},
			}, w.Step)
		}
	}
}

// number takes the name of a request apart, which is balancer/term/round/number.
func number(request string) (round, n int, known bool) {
	parts := strings.Split(request, "/")
	if len(parts) != 4 {
		return 0, 0, false
	}
	round, err1 := strconv.Atoi(parts[2])
	n, err2 := strconv.Atoi(parts[3])
	return round, n, err1 == nil && err2 == nil
}

// Cluster is what the config server's leader has of shards, zones and the balancer; nil when
// nothing is known.
func (o *Oracle) Cluster() *model.Cluster { return o.world.LatestCluster() }

// Rested reports what is lacking in a collection, whose routing table is given, although the
// balancer has nothing to do.
func (o *Oracle) Rested(ns string, chunks []trace.Chunk, lacking string) {
	because, steps := o.leftBehind(ns, chunks)
	o.reportOf(Balancing, verdict.Violation{
		Signature: notBalanced,
		NS:        ns,
		Broke:     "the balancer has stopped moving chunks, although " + lacking,
		Because: append([]string{
			"it is enabled, nothing is in progress, and round after round ended without a " +
				"migration",
		}, because...),
	}, append(steps, cmp.Or(o.balancer.ended, o.step))...)
}
