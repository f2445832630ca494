package replset

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// TestLateAcknowledgement: a primary that was deposed gets an acknowledgement which was sent before.
// The entry is a majority's then, and what the primary has read meanwhile is out of date all the
// same.
func TestLateAcknowledgement(t *testing.T) {
	c := newCluster(3, sim.Options{Seed: 1}).start()
	defer c.world.Close()
	old := c.elect()
	c.run(time.Second, nil)
	var follower, next env.NodeID
	for _, id := range c.ids {
		if id != old.cfg.Self {
			follower, next = next, id
		}
	}
	c.world.Partition(next, old.cfg.Self, true)
	c.world.AddRule(sim.Rule{
		From: string(follower), To: string(old.cfg.Self),
		Fate: sim.Fate{Delay: 300 * time.Millisecond},
	})
	if _, err := c.write(old.cfg.Self, command.WriteConcern{W: 1}, put(1, "old")); err != nil {
		t.Fatal(err)
	}
	c.run(20*time.Millisecond, nil) // both have it
	c.do(next, func(_ env.Task, m *Member) { m.TakeOver() })
	won := func() bool { return c.members[next].IsPrimary() }
	if c.run(200*time.Millisecond, won); !won() {
		t.Fatal("nobody took over")
	}
	newer, err := c.write(next, command.Majority, put(2, "new"))
	if err != nil || !old.Leading() {
		t.Fatalf("the next primary wrote %v, %v; the old one still leads: %t", newer, err,
			old.Leading())
	}
	c.do(old.cfg.Self, func(t env.Task, m *Member) { err = m.AwaitMajority(t) })
	if err == nil {
		t.Error("a deposed primary vouches for what it has read")
	}
}
