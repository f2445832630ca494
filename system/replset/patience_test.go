package replset

import (
	"testing"
	"time"

	raft "go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/shardproof/shardproof/system/sim"
)

// deposed cuts the primary off from everybody until it has found out, and returns it.
func deposed(t *testing.T, c *cluster) *Member {
	m := c.elect()
	c.run(3*time.Second, nil)
	for _, other := range c.ids {
		c.world.Partition(m.cfg.Self, other, false)
	}
	if c.run(3*time.Second, func() bool { return !m.Leading() }); m.Leading() {
		t.Fatal("the primary has not found out")
	}
	return m
}

// TestDeposedWaits: who has lost the leadership waits for another leader before it asks for votes.
func TestDeposedWaits(t *testing.T) {
	for seed := range uint64(10) {
		c := newCluster(3, sim.Options{Seed: seed}).start()
		m := deposed(t, c)
		campaigns := func() bool { return m.raft.BasicStatus().RaftState == raft.StatePreCandidate }
		if c.run(m.electionTimeout()-time.Millisecond, campaigns); campaigns() {
			t.Errorf("seed %d: it did not wait", seed)
		}
		if c.run(2*m.electionTimeout(), campaigns); !campaigns() {
			t.Errorf("seed %d: it has given up", seed)
		}
		c.world.Close()
	}
}

// TestVoterWaits: who gives its vote waits for the winner, and who refuses it does not.
func TestVoterWaits(t *testing.T) {
	c := newCluster(3, sim.Options{Seed: 1}).start()
	defer c.world.Close()
	m := deposed(t, c)
	vote := m.raft.BasicStatus().Vote
	for _, from := range m.voters.Voters {
		before := m.election.heard
		c.run(time.Millisecond, nil)
		m.voted(&pb.Message{Type: pb.MsgVote, From: from, Term: m.term})
		if waits := m.election.heard != before; waits != (from == vote) {
			t.Errorf("voted for %d, asked by %d: waits %t", vote, from, waits)
		}
	}
}
