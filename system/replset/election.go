package replset

import (
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/settings"
)

// The kinds of choices a member asks for.
const (
	chooseTimeout env.Choice = "replset.electionTimeout"
	chooseFirst   env.Choice = "replset.firstElection"
)

// electionClock decides when a member that does not lead campaigns. raft's own timeout is random
// outside the world's choices, so it is never consulted: raft gets only the ticks that its leases
// need, and those only when a vote asks.
type electionClock struct {
	// heard is when the member last heard from a leader.
	heard env.Time
	// timeout is how long the member waits for the next word.
	timeout time.Duration
	// ticked is up to when raft was given ticks.
	ticked env.Time
	// counting is set from such ticks until raft hears from a leader itself.
	counting bool
}

// tick is the heartbeat interval.
func (m *Member) tick() time.Duration { return settings.Pause(m.cfg.Settings.HeartbeatInterval) }

// electionTimeout is at least two heartbeats.
func (m *Member) electionTimeout() time.Duration {
	return max(m.cfg.Settings.ElectionTimeout, 2*m.tick())
}

// startElections arms the clock. On its very first boot the first member may campaign at once, as
// the initiator of a replica set does; a member that is alone always does.
func (m *Member) startElections(fresh bool) {
	m.hear()
	d := m.election.timeout
	eager := fresh && m.self == 1 && m.node.Choose(chooseFirst, m.cfg.Name, 8) != 0
	if eager || len(m.cfg.Members) == 1 {
		d = m.tick() / 10
		m.election.timeout = d
	}
	m.node.After(d, m.electionDue)
}

// hear notes a message from a leader.
func (m *Member) hear() {
	now := m.node.Mono()
	m.election.heard, m.election.ticked = now, now
	if m.election.timeout == 0 {
		m.election.timeout = m.drawElectionTimeout()
	}
}

// drawElectionTimeout is between one and two election timeouts.
func (m *Member) drawElectionTimeout() time.Duration {
	const steps = 1000
	base := m.electionTimeout()
	return base + base/steps*time.Duration(m.node.Choose(chooseTimeout, string(m.cfg.Self), steps))
}

// electionDue campaigns when the election timeout is over, else it looks again when it may be. One
// timer runs for the whole life of the member, so that hearing from a leader costs nothing.
func (m *Member) electionDue() {
	now := m.node.Mono()
	left := m.election.timeout - now.Sub(m.election.heard)
	switch {
	case m.leading:
		left = m.election.timeout
	case left <= 0:
		m.election.heard = now
		m.election.timeout = m.drawElectionTimeout()
		left = m.election.timeout
		_ = m.raft.Campaign()
		m.dirty = true
		m.readyLoop()
	}
	m.node.After(left, m.electionDue)
}

// listen keeps the election clock and raft's leases right before a message is stepped.
func (m *Member) listen(msg *pb.Message) {
	switch msg.Type {
	case pb.MsgApp, pb.MsgHeartbeat, pb.MsgSnap:
		if msg.Term >= m.term {
			m.hear()
		}
	case pb.MsgVote, pb.MsgPreVote:
		m.catchUpTicks()
	}
}

// catchUpTicks gives raft the ticks since the last sign of a leader: it refuses votes while a
// leader's lease may hold.
func (m *Member) catchUpTicks() {
	if m.leading {
		return
	}
	now, tick := m.node.Mono(), m.tick()
	for ; now.Sub(m.election.ticked) >= tick; m.election.ticked = m.election.ticked.Add(tick) {
		m.raft.TickQuiesced()
		m.election.counting = true
	}
}

// voted has a member that just gave its vote wait for the winner's first word.
func (m *Member) voted(msg *pb.Message) {
	if msg.Type == pb.MsgVote && m.raft.BasicStatus().Vote == msg.From && m.term == msg.Term {
		m.election.heard = m.node.Mono()
	}
}
