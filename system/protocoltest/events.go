package protocoltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
)

// topics are the names of the events that are shown; nil: all but those that have to be asked for.
type topics []string

// topic is a name for kinds of events.
type topic struct {
	name  string
	kinds []trace.Kind
	asked bool // shown only when a script asks for it
}

var allTopics = []topic{
	{name: "donor", kinds: []trace.Kind{trace.MigrationRequested, trace.DonorAdvanced}},
	{name: "recipient", kinds: []trace.Kind{trace.RecipientAdvanced}},
	{name: "section", kinds: []trace.Kind{trace.CriticalSection}},
	{name: "decision", kinds: []trace.Kind{trace.DecisionMade, trace.MigrationEnded}},
	{name: "deletion", kinds: []trace.Kind{trace.RangeDeletion}},
	{name: "election", kinds: []trace.Kind{trace.Elected, trace.ProcessAborted}},
	{name: "rollback", kinds: []trace.Kind{trace.RolledBack}, asked: true}, // or after a crash
	{name: "placement", kinds: []trace.Kind{trace.CatalogWritten}},
	{name: "primary", kinds: []trace.Kind{trace.PrimaryMoving}},
	{name: "balancer", kinds: []trace.Kind{
		trace.BalancerRound, trace.BalancerChose, trace.BalancerState, trace.BalancerStopped,
	}},
	{name: "cluster", kinds: []trace.Kind{trace.ClusterChanged}},
	{name: "applied", kinds: []trace.Kind{trace.Applied}, asked: true},
	{name: "executed", kinds: []trace.Kind{trace.Executed}, asked: true},
}

func (r *Rig) trace(l Line) error {
	r.topics = topics{}
	for _, w := range l.Words() {
		if !slices.ContainsFunc(allTopics, func(t topic) bool { return t.name == w }) {
			return fmt.Errorf("there is no topic %s", w)
		}
		r.topics = append(r.topics, w)
	}
	return nil
}

// TraceAll has every event shown.
func (r *Rig) TraceAll() {
	for _, t := range allTopics {
		r.topics = append(r.topics, t.name)
	}
}

func (r *Rig) shows(k trace.Kind) bool {
	for _, t := range allTopics {
		if slices.Contains(t.kinds, k) {
			return slices.Contains(r.topics, t.name) || r.topics == nil && !t.asked
		}
	}
	return false
}

// Observe shows the events that the script is about; the world calls it.
func (r *Rig) Observe(e *trace.Event) {
	if e.Kind == trace.ProcessAborted {
		r.Down(env.NodeID(e.Node))
	}
	if e.Kind == trace.SteppedDown {
		r.TermEnds(env.NodeID(e.Node))
	}
	if !r.shows(e.Kind) {
		return
	}
	switch e.Kind {
	case trace.MigrationRequested:
		r.Say("%s: %s is to move to %s", e.Migration(), span(e), e.Peer)
	case trace.DonorAdvanced:
		r.Say("%s: donor %s %s", e.Migration(), e.Node, e.State())
	case trace.RecipientAdvanced:
		r.Say("%s: recipient %s %s", e.Migration(), e.Node, e.State())
	case trace.DecisionMade:
		r.Say("%s: %s records %s", e.Migration(), e.Node, e.State())
	case trace.MigrationEnded:
		by := ""
		if e.Recovered() {
			by = ", by recovery"
		}
		r.Say("%s: %s has completed it: %s%s", e.Migration(), e.Node, e.State(), by)
	case trace.RangeDeletion:
		r.Say("%s: deletion on %s %s", e.Migration(), e.Node, e.State())
	case trace.CriticalSection:
		r.showSection(e)
	case trace.BalancerRound, trace.BalancerChose, trace.BalancerState, trace.BalancerStopped:
		r.showBalancer(e)
	case trace.PrimaryMoving:
		r.Say("%s: %s %s", e.Migration(), e.Node, e.State())
	default:
		r.showServer(e)
	}
}

// span is a range of which the donor may have to decide where it ends.
func span(e *trace.Event) string {
	return shown(key.Range{Min: key.Key(e.Min), Max: key.Key(e.Max)})
}

// showSection leaves out what followers hold.
func (r *Rig) showSection(e *trace.Event) {
	if r.Cluster == nil || string(r.Primary(e.Shard)) != e.Node {
		return
	}
	does := map[trace.SectionState]string{
		trace.WritesBlocked: "blocks writes", trace.ReadsBlocked: "blocks reads",
		trace.SectionReleased: "leaves its critical section",
	}[e.SectionState()]
	if e.NS != Sharded {
		does += " of " + e.NS
	}
	r.Say("%s: %s %s %s", e.Migration(), e.Actor, e.Node, does)
}

func (r *Rig) showBalancer(e *trace.Event) {
	switch e.Kind {
	case trace.BalancerRound:
		r.Say("%s: round %d %s", e.Node, e.Round(), e.State())
	case trace.BalancerChose:
		r.Say("%s: asks %s to move %s to %s (%s)", e.Request(), e.Shard, span(e), e.Peer, e.Why())
	case trace.BalancerState:
		r.Say("%s: the balancer is set to %s", e.Node, e.State())
	case trace.BalancerStopped:
		r.Say("%s: the balancer is stopped", e.Node)
	}
}

func (r *Rig) showServer(e *trace.Event) {
	switch e.Kind {
	case trace.Elected:
		if e.Term > 1 {
			r.Say("%s is elected in term %d", e.Node, e.Term)
		}
	case trace.RolledBack:
		r.Say("%s rolls back", e.Node)
	case trace.ProcessAborted:
		r.Say("%s ends itself: %s", e.Node, e.Why())
	case trace.CatalogWritten:
		r.showPlacement(e)
	case trace.ClusterChanged:
		r.showChange(e)
	case trace.Applied:
		r.Say("%d %s applied %s %v %v term %d index %d hash %x id %s", e.At, e.Node, e.Actor,
			key.Key(e.Key), e.NS, e.Term, e.Index, e.Hash&0xffff, e.For())
	case trace.Executed:
		r.showStatement(e)
	}
}

// showStatement shows what a member has on record of a retryable write.
func (r *Rig) showStatement(e *trace.Event) {
	what, from := fmt.Sprintf("statement %d", e.Statement()), ""
	if e.Statement() < 0 {
		what = "a dead end"
	}
	if e.Migration() != "" {
		from = " from " + e.Migration()
	}
	r.Say("%s records %s of transaction %d of session %s on %s%s",
		e.Node, what, e.Txn(), e.Session(), e.NS, from)
}

func (r *Rig) showPlacement(e *trace.Event) {
	var chunks []string
	for _, c := range e.Chunks {
		rng := key.Range{Min: key.Key(c.Min), Max: key.Key(c.Max)}
		where := fmt.Sprintf("%v on %s %d|%d", rng, c.Shard, c.Major, c.Minor)
		if e.NS != Sharded {
			where = fmt.Sprintf("%s on %s, version %d", e.NS, c.Shard, c.Major)
		}
		chunks = append(chunks, where)
	}
	r.Say("%s writes: %s", e.Node, strings.Join(chunks, ", "))
}

// showChange shows what an operator has changed.
func (r *Rig) showChange(e *trace.Event) {
	switch e.ClusterChange() {
	case trace.ShardAdded:
		r.Say("%s writes: %s is a shard", e.Node, e.Peer)
	case trace.ShardDraining:
		r.Say("%s writes: %s drains", e.Node, e.Peer)
	case trace.ShardRemoved:
		r.Say("%s writes: %s is no shard", e.Node, e.Peer)
	case trace.ShardZones:
		r.Say("%s writes: %s is in the zones %q", e.Node, e.Peer, e.Zones())
	case trace.ZoneRange:
		if e.Zones() == "" {
			r.Say("%s writes: the range of %s from %v is in no zone", e.Node, e.NS, key.Key(e.Min))
			return
		}
		rng := key.Range{Min: key.Key(e.Min), Max: key.Key(e.Max)}
		r.Say("%s writes: %v of %s is in zone %s", e.Node, rng, e.NS, e.Zones())
	default:
		r.Say("%s writes: %s of %s", e.Node, e.State(), e.NS)
	}
}
