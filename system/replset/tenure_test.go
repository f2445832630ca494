package replset

import (
	"slices"
	"testing"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/store"
)

// TestStepUpWritesFirst has step-up work write, and wait for a majority, while users may not yet.
func TestStepUpWritesFirst(t *testing.T) {
	c := newCluster(3, sim.Options{Seed: 1})
	defer c.world.Close()
	var early error
	c.stepUp = func(t env.Task) error {
		m := c.members[t.Node().ID()]
		t.Node().Spawn(nil, "user", func(t env.Task) { _, early = m.Write(t, put(2, "user")) })
		if _, err := m.Write(t, put(1, "step-up")); err != nil {
			return err
		}
		return m.AwaitMajority(t)
	}
	m := c.start().elect()
	if m == nil {
		t.Fatal("nobody leads: ", c.world.Err())
	}
	if !errcode.Is(early, errcode.NotWritablePrimary) {
		t.Errorf("a user's write during step-up ended with %v", early)
	}
	if got := values(m, m.ReadAt(command.MajorityRead)); len(got) != 1 || got[0] != "step-up" {
		t.Errorf("committed at the first user write: %v", got)
	}
}

// TestStepUpEndsWithItsTerm deposes a primary just as one watcher has done its work
// of the new term: the next one, which was told that the term is over, is not asked for its own.
func TestStepUpEndsWithItsTerm(t *testing.T) {
	c := newCluster(3, sim.Options{Seed: 1})
	defer c.world.Close()
	var done env.Cond
	worked, next := 0, map[env.NodeID]*shadow{}
	c.stepUp = func(t env.Task) error {
		if worked++; worked > 1 {
			return nil
		}
		return done.Wait(t, 0)
	}
	c.onBoot = func(_ env.Task, m *Member) {
		next[m.cfg.Self] = newShadow(m, nil)
		m.Watch(next[m.cfg.Self])
	}
	c.onEvent = func(e *trace.Event) {
		if e.Kind == trace.SteppedDown {
			done.Signal()
		}
	}
	c.start()
	c.run(time.Minute, func() bool { return worked > 0 })
	var first *Member
	for _, m := range c.members {
		if m.Leading() {
			first = m
		}
	}
	c.members[c.ids[first.self%3]].TakeOver()
	if m := c.elect(); m == nil || m == first {
		t.Fatal("nobody else leads: ", c.world.Err())
	}
	if got := next[first.cfg.Self].calls; !slices.Equal(got, []string{"down"}) {
		t.Errorf("a watcher of %s was told %q", first.cfg.Self, got)
	}
}

// TestTenureEndsItsTasks deposes a primary: a task that acts for it can neither wait nor write any
// more, even when the same member leads again.
func TestTenureEndsItsTasks(t *testing.T) {
	c := newCluster(3, sim.Options{Seed: 1}).start()
	defer c.world.Close()
	m := c.elect()
	var waiting, writing error
	c.world.Node(m.cfg.Self).Spawn(m.TermScope(), "worker", func(t env.Task) {
		waiting = t.Park(0)
		_, writing = m.Write(t, put(1, "late"))
	})
	for _, other := range c.ids {
		c.world.Partition(m.cfg.Self, other, false)
	}
	c.run(3*time.Second, func() bool { return !m.Leading() })
	c.run(time.Millisecond, nil)
	for _, err := range []error{waiting, writing, m.TermScope().Err()} {
		if !errcode.Is(err, errcode.PrimarySteppedDown) {
			t.Errorf("after the tenure: %v", err)
		}
	}
	if m.Store().Count(testNS, store.Latest) != 0 {
		t.Error("a task of an ended tenure wrote")
	}
}

// TestSecondaryFollowsTimestamps waits on a secondary for a timestamp that the primary has
// committed.
func TestSecondaryFollowsTimestamps(t *testing.T) {
	c := newCluster(3, sim.Options{Seed: 1}).start()
	defer c.world.Close()
	m := c.elect()
	if _, err := c.write(m.cfg.Self, command.Majority, put(1, "a")); err != nil {
		t.Fatal(err)
	}
	ts := m.CommittedTS()
	var err error
	var seen []string
	c.do("s.2", func(t env.Task, m *Member) {
		err = m.AwaitTS(t, ts)
		seen = values(m, m.ReadAt(command.MajorityRead))
	})
	if err != nil || len(seen) != 1 {
		t.Errorf("after the wait: %v, %v", seen, err)
	}
	c.do("s.2", func(t env.Task, m *Member) { err = m.AwaitTS(t, ts+1) })
	if !errcode.Is(err, errcode.ExceededTimeLimit) {
		t.Errorf("a wait for the future ended with %v", err)
	}
}
