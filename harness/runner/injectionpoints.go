package runner

import (
	"time"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/sim"
)

// pointRecorder records every moment at which a fault could happen. A nil recorder records none.
type pointRecorder struct {
	taking bool
	about  *target.Description
	leader func(set string) env.NodeID
	since  func() time.Duration
	taken  []InjectionPoint
	passed map[passed]uint64
	// donor and recipient are the shards of the first migration or move of a primary, moving
	// whether one is in progress.
	donor, recipient string
	moving           bool
	// state is that of the latest move, deletion that of the range that it left behind, 0 before.
	state    string
	deletion trace.DeletionState
}

type passed struct {
	node env.NodeID
	site failpoint.Site
}

func newPointRecorder(
	leader func(set string) env.NodeID, since func() time.Duration, about *target.Description,
) *pointRecorder {
	return &pointRecorder{
		about:  about,
		leader: leader,
		since:  since,
		passed: make(map[passed]uint64),
		state:  BeforeMoves,
	}
}

func (n *pointRecorder) observer() Observer {
	return Observer{Event: n.observe, Point: n.onPoint, Message: n.onMessage}
}

func (n *pointRecorder) begin() {
	if n != nil {
		n.taking = true
	}
}

// end says whose part each node had, which is known only now.
func (n *pointRecorder) end(to *[]InjectionPoint) {
	if n == nil {
		return
	}
	n.taking = false
	for i := range n.taken {
		n.taken[i].Actor = actorOf(n.taken[i].Node, n.donor, n.recipient)
	}
	*to = n.taken
}

// observe follows the states of a migration's donor or of a movePrimary, and those of the deletion
// that follows.
func (n *pointRecorder) observe(e *trace.Event) {
	switch e.Kind {
	case trace.DonorAdvanced, trace.PrimaryMoving:
		if n.donor == "" {
			n.donor, n.recipient = e.Shard, e.Peer
		}
		n.state, n.moving = e.State(), !e.DonorState().Terminal()
	case trace.MigrationEnded:
		n.moving = false
	case trace.RangeDeletion:
		if n.taking && (n.deletion != 0 || !n.moving) {
			n.deletion = e.DeletionState()
		}
	}
}

// phase is the state of the move, or of the deletion behind it, or both while a range comes back
// that is being deleted.
func (n *pointRecorder) phase() string {
	switch {
	case n.deletion == 0 || n.deletion.Terminal() && n.moving:
		return n.state
	case n.moving:
		return "deletion " + n.deletion.String() + " during " + n.state
	}
	return "deletion " + n.deletion.String()
}

func (n *pointRecorder) onPoint(p *sim.PointHit) {
	if !n.taking {
		return
	}
	by := passed{p.Node, p.Site}
	n.passed[by]++
	in := p.Site.Info()
	n.note(InjectionPoint{
		What: FailpointPassed,
		Site: in.Name,
		Nth:  n.passed[by],
		Node: string(p.Node),
		Role: in.Role,
	})
}

func (n *pointRecorder) onMessage(o sim.InjectionPoint) {
	at := InjectionPoint{
		What:  MessageSent,
		Site:  o.Site,
		Nth:   o.Nth,
		Node:  string(o.Node),
		Class: o.Class,
		Call:  o.Call,
		Reply: o.Reply,
	}
	messages := &n.about.Messages
	at.Steering = int(messages.Role(o.Class))
	at.Doubles = o.Class != "" && !o.Reply && messages.Repeatable(o.Class)
	if o.Class == "" {
		at.What = WriteBegun
	}
	if n.taking && (o.Class != "" || o.Durable) {
		n.note(at)
	}
}

func (n *pointRecorder) note(o InjectionPoint) {
	o.At = n.since()
	o.Phase, o.Leads = n.phase(), n.leader(setOf(env.NodeID(o.Node))) == env.NodeID(o.Node)
	n.taken = append(n.taken, o)
}
