package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// joinedRule is joined (protocol 13.6): operations on whole collections rest on it.
var joinedRule = verdict.Checker{
	Name: "joined",
	Promise: "A shard that answers that its migrations of a collection have ended takes part in " +
		"none that it had begun, or had to recover, when it was asked. No collection is dropped, " +
		"renamed or replaced while a migration of it is in progress. Until the migrations that were " +
		"requested in earlier terms have ended, the balancer of a new primary begins no round, and " +
		"no operator is told that it has stopped.",
	Signatures: verdict.Meanings{
		joinedEarly: "a shard answered that its migrations have ended while one had not",
		goneEarly: "a collection was dropped, renamed or replaced while a migration of it was " +
			"in progress",
		balancedEarly: "a balancer began a round, or an operator was told that it had stopped, " +
			"while a migration that was requested in an earlier term was in progress",
	},
}

const (
	joinedEarly verdict.Signature = "joined-too-early"
	goneEarly   verdict.Signature = "gone-during-migration"

	balancedEarly verdict.Signature = "balanced-too-early"
)

var _ = declare(88, joinedRule, func(o *Oracle) hooks {
	r := &joined{
		Oracle: o, elected: map[string]int64{}, began: map[string]int64{},
		copies: map[string]bool{}, inherited: map[string]bool{},
	}
	o.joined = r
	return hooks{event: r.judge}
})

// Part is something that a member is doing for a migration: it is its donor, its recipient, or
// recovers it.
type Part struct{ Role, Migration string }

// The roles of a Part.
const (
	Donates  = "donor"
	Receives = "recipient"
	Recovers = "recovery"
)

// Parts says how the oracle gets to know what a member is doing; without it, nothing is judged.
func (o *Oracle) Parts(of func(node string) []Part) { o.parts = of }

// joined is the memory of joinedRule.
type joined struct {
	*Oracle
	// elected is when a node became the primary that it is, began when it began what it does, by
	// node, role and migration.
	elected, began map[string]int64
	// copies are the migrations that have begun to clone: others may find that they are not
	// allowed.
	copies map[string]bool
	// onRecord are the migrations that a member of the config server of 4.2 has on record, inherited
	// those that its newest primary had when it was elected.
	onRecord  func(node string) []string
	inherited map[string]bool
}

// MigrationsOnRecord says how the oracle gets to know the migrations that a member of the config
// server of 4.2 has on record, each with all that tells it from others. Other protocols have none.
func (o *Oracle) MigrationsOnRecord(of func(node string) []string) { o.joined.onRecord = of }

func (r *joined) judge(e *trace.Event) {
	switch e.Kind {
	case trace.Elected:
		r.elected[e.Node] = e.At
		if e.Shard == model.Config && r.onRecord != nil {
			clear(r.inherited)
			for _, id := range r.onRecord(e.Node) {
				r.inherited[id] = true
			}
		}
	case trace.BalancerRound:
		if e.RoundPhase() == trace.RoundBegun {
			r.judgeBalancer(e, "begins a round of the balancer")
		}
	case trace.BalancerStopped:
		r.judgeBalancer(e, "says that the balancer has stopped")
	case trace.MigrationRequested:
		r.begins(e, Donates, false)
	case trace.RecipientAdvanced:
		state, part := e.RecipientState(), partName(e.Node, Receives, e.Migration())
		r.begins(e, Receives, state == trace.RecipientReady)
		switch state {
		case trace.RecipientReady: // also of one that has failed, and is told to start by a late copy
			delete(r.copies, part)
		case trace.RecipientClone:
			r.copies[part] = true
		}
	case trace.DonorAdvanced:
		if e.DonorState() == trace.DonorCloning {
			r.copies[e.Migration()] = true
		}
	case trace.CatalogWritten:
		if r.parts != nil && r.world.Set(e.Shard).Leads(e) {
			r.judgeGone(e)
		}
	case trace.Answered:
		if e.Asked() == "JoinMigrations" && e.Code() == "" && r.parts != nil {
			r.judgeJoined(e)
		}
	}
}

// begins notes when a member took its part in a migration. It may begin again: in 4.2 a late copy
// of the start makes it the recipient of a migration that has long ended (protocol 5.2).
func (r *joined) begins(e *trace.Event, role string, again bool) {
	name := partName(e.Node, role, e.Migration())
	if again || r.began[name] <= r.elected[e.Node] {
		r.began[name] = e.At
	}
}

func partName(node, role, migration string) string { return node + " " + role + " " + migration }

// judgeJoined judges an answer. What began after the request, as a migration that finds out that it
// is not allowed, is not waited for.
func (r *joined) judgeJoined(e *trace.Event) {
	for _, p := range r.parts(e.Node) {
		m := r.moves[p.Migration]
		if m == nil || e.NS != "" && m.ns != e.NS {
			continue
		}
		began := r.since(e.Node, p)
		if began == 0 || began >= e.Arrived() {
			continue
		}
		r.report(joinedRule, verdict.Violation{
			Signature: joinedEarly, NS: m.ns,
			Broke: fmt.Sprintf("%s answers %s that its migrations have ended", e.Node, e.Peer),
			Because: []string{
				fmt.Sprintf("it is still %s %s", partWords[p.Role], p.Migration),
				fmt.Sprintf("when the request came, %v ago, it had known of that for %v",
					elapsed(e.At-e.Arrived()), elapsed(e.Arrived()-began)),
			},
		}, m.began)
	}
}

// judgeGone judges a write that takes a collection out of the catalog, or its name from it.
// Migrations were forbidden before, and then all shards have answered that theirs have ended.
func (r *joined) judgeGone(e *trace.Event) {
	names := []string{e.NS}
	if from := e.FormerName(); from != "" {
		names = append(names, from)
	} else if e.Change() != trace.Dropped {
		return
	}
	cluster := r.world.LatestCluster()
	if !cluster.Knows() {
		return
	}
	for _, shard := range cluster.Shards() {
		node := r.world.Set(shard).Leader
		for _, p := range r.parts(node) {
			m := r.moves[p.Migration]
			if m == nil || !slices.Contains(names, m.ns) || m.life != r.lives[m.ns] ||
				!r.goesOn(node, p) {
				continue
			}
			r.report(joinedRule, verdict.Violation{
				Signature: goneEarly, NS: m.ns,
				Broke: fmt.Sprintf("%s removes %s from the catalog, or gives it another name",
					e.Node, m.ns),
				Because: []string{
					fmt.Sprintf("%s is still %s %s", node, partWords[p.Role], p.Migration),
				},
			}, m.began)
		}
	}
}

// judgeBalancer: a new primary of 4.2 carries out again what it has on record; in later versions
// every shard is asked whether its migrations have ended (protocol 9.5).
func (r *joined) judgeBalancer(e *trace.Event, does string) {
	if r.parts == nil || !r.world.Set(model.Config).Leads(e) {
		return
	}
	early := func(ns, because string) {
		r.report(joinedRule, verdict.Violation{
			Signature: balancedEarly, NS: ns, Broke: e.Node + " " + does, Because: []string{because},
		})
	}
	if r.onRecord != nil {
		for _, id := range r.onRecord(e.Node) {
			if r.inherited[id] {
				early("", "a migration that was on record when it was elected still is: "+id)
			}
		}
		return
	}
	for _, shard := range r.world.LatestCluster().Shards() {
		node := r.world.Set(shard).Leader
		for _, p := range r.parts(node) {
			began := r.since(node, p)
			if m := r.moves[p.Migration]; m != nil && began != 0 && began < r.elected[e.Node] {
				early(m.ns, fmt.Sprintf("%s is still %s %s, and was when %s was elected",
					node, partWords[p.Role], p.Migration, e.Node))
			}
		}
	}
}

// goesOn says whether something came of a migration. A recipient that has only just begun may have
// been told to by a message that came late.
func (r *joined) goesOn(node string, p Part) bool {
	if p.Role == Receives {
		return r.copies[partName(node, Receives, p.Migration)]
	}
	return r.copies[p.Migration]
}

// since is when a member began what it does, 0 when nobody knows. A donor that gives up leaves the
// rest to a recovery, which is its own; a new primary begins at its election, at the earliest, to
// recover what others have left.
func (r *joined) since(node string, p Part) int64 {
	elected := r.elected[node]
	if p.Role == Recovers {
		return max(elected, r.began[partName(node, Donates, p.Migration)])
	}
	if began := r.began[partName(node, p.Role, p.Migration)]; began >= elected {
		return began
	}
	return 0
}

var partWords = map[string]string{
	Donates: "the donor of", Receives: "the recipient of", Recovers: "recovering",
}

// shardOfNode is the replica set of a member.
func shardOfNode(node string) string {
	shard, _, _ := strings.Cut(node, ".")
	return shard
}

// membershipRule is membership (protocol 14.2, H-38).
var membershipRule = verdict.Checker{
	Name: "membership",
	Promise: "A shard obeys a request to leave the cluster only if the request belongs " +
		"to the shard's latest removal: a shard that is not draining accepts the chunks " +
		"and databases it is given. A replica set that is not a member of the cluster " +
		"does not begin to receive a range.",
	Signatures: verdict.Meanings{
		leavesUnasked: "a shard that is not being removed agreed to leave, and refuses all data",
		receivesOutside: "a shard began to receive data although it is no member of the cluster, " +
			"so that nobody will take care of what goes wrong with it",
	},
}

const (
	leavesUnasked   verdict.Signature = "leaves-unasked"
	receivesOutside verdict.Signature = "receives-outside"
)

var _ = declare(104, membershipRule, func(o *Oracle) hooks {
	return hooks{event: func(e *trace.Event) {
		o.judgeLeaving(e)
		o.judgeReceiving(e)
	}}
})

// judgeReceiving: a shard leaves with its consent, and then takes nothing before it was admitted
// again. So it is a member when it begins, for the newest config primary and for a majority.
func (o *Oracle) judgeReceiving(e *trace.Event) {
	if e.Kind != trace.RecipientAdvanced || e.RecipientState() != trace.RecipientReady {
		return
	}
	shard := shardOfNode(e.Node)
	c := o.world.LatestCluster()
	if !c.Knows() || c.Has(shard) && o.world.Cluster().Has(shard) ||
		o.world.Set(shard).Leader != e.Node {
		return
	}
	o.report(membershipRule, verdict.Violation{
		Signature: receivesOutside, NS: e.NS,
		Broke: fmt.Sprintf("%s begins to receive %s of %s in migration %s",
			e.Node, o.span(e.Min, e.Max), e.NS, e.Migration()),
		Because: []string{fmt.Sprintf("%s is no member of the cluster", shard)},
	})
}

// Leavers says how the oracle gets to know whether a member takes nothing, as its shard leaves;
// without it, nothing is judged.
func (o *Oracle) Leavers(of func(node string) bool) { o.leaves = of }

// judgeLeaving: a copy of an order that was followed may be answered much later; what counts is
// what the shard goes by then. The cluster is the one of the newest primary of the config server,
// which gave the order when a majority knew that the shard drains.
func (o *Oracle) judgeLeaving(e *trace.Event) {
	if e.Kind != trace.Answered || e.Asked() != "ShardsvrLeaveCluster" || e.Code() != "" ||
		o.leaves == nil {
		return
	}
	shard := shardOfNode(e.Node)
	c := o.world.LatestCluster()
	if !c.Knows() || !c.Has(shard) || c.Draining(shard) || o.world.Set(shard).Leader != e.Node ||
		!o.leaves(e.Node) {
		return
	}
	o.report(membershipRule, verdict.Violation{
		Signature: leavesUnasked,
		Broke:     fmt.Sprintf("%s agrees to leave, and accepts no data from now on", e.Node),
		Because: []string{
			fmt.Sprintf("%s is a member of the cluster and does not drain", shard),
			fmt.Sprintf("the order from %s, received %v ago, must belong to an earlier removal",
				e.Peer, elapsed(e.At-e.Arrived())),
		},
	})
}
