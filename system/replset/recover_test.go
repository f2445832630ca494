package replset

import (
	"math"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/sim"
)

// TestWhatSurvivesStays: an entry that a crash left though it was not synced counts from then on,
// so that the next crash does not take it.
func TestWhatSurvivesStays(t *testing.T) {
	c := newCluster(1, sim.Options{Seed: 1, Planned: true, Decisions: []sim.Decision{
		{Kind: sim.Kept, Site: "s.0/journal", Occurrence: 1, Answer: math.MaxInt64},
	}}).start()
	defer c.world.Close()
	c.elect()
	if _, err := c.write("s.0", command.Majority, put(1, "old")); err != nil {
		t.Fatal(err)
	}
	var last uint64
	c.do("s.0", func(run env.Task, m *Member) {
		e := pb.Entry{Term: m.term, Index: m.log.last().Index + 1}
		last = e.Index
		if err := run.Node().Disk().Append(run, journalFile, appendEntry(nil, &e)); err != nil {
			t.Error(err)
		}
	})
	for range 2 {
		c.world.Crash("s.0")
		delete(c.members, "s.0")
		c.world.Restart("s.0")
		c.run(time.Minute, func() bool { return c.members["s.0"] != nil })
		if got := c.members["s.0"].log.last().Index; got != last {
			t.Errorf("the log ends at %d, not %d", got, last)
		}
	}
}

// TestSnapshotOfTheSameState: what is in the snapshot file is not saved again, even if more of the
// log could go.
func TestSnapshotOfTheSameState(t *testing.T) {
	c := newCluster(1, sim.Options{Seed: 1})
	c.settings.LogRetention = 20
	c.start()
	defer c.world.Close()
	c.elect()
	for i := range int64(10) {
		if _, err := c.write("s.0", command.Majority, put(i, "v")); err != nil {
			t.Fatal(err)
		}
	}
	done := c.do("s.0", func(run env.Task, m *Member) {
		for _, c.settings.LogRetention = range []int{2, 1} {
			m.takeSnapshot(run)
			first, _ := m.stable.FirstIndex()
			if m.journal.saved != m.committed.Index || first != m.committed.Index-1 {
				t.Errorf("saved up to %d of %d, the log begins at %d",
					m.journal.saved, m.committed.Index, first)
			}
		}
	})
	if !done || c.world.Err() != nil {
		t.Error(c.world.Err())
	}
}

// TestLogBeforeSnapshot: after a restart a member still tells of the part of its log that lies
// before its snapshot, as a reader of changes asks for it.
func TestLogBeforeSnapshot(t *testing.T) {
	const kept = 5
	c := newCluster(1, sim.Options{Seed: 1})
	c.settings.LogRetention = 20
	c.start()
	defer c.world.Close()
	c.elect()
	for i := range int64(10) {
		if _, err := c.write("s.0", command.Majority, put(i, "v")); err != nil {
			t.Fatal(err)
		}
	}
	since := func() (entries int, complete bool) {
		m := c.members["s.0"]
		first, _ := m.log.at(m.log.base.Index + 1)
		complete = m.Since(first.entry.TS-1, func(*oplog.Entry) bool {
			entries++
			return true
		})
		return entries, complete
	}
	c.do("s.0", func(run env.Task, m *Member) {
		c.settings.LogRetention = kept
		m.takeSnapshot(run)
	})
	c.settings.LogRetention = 20
	before, _ := since()
	c.world.Crash("s.0")
	delete(c.members, "s.0")
	c.world.Restart("s.0")
	c.run(time.Minute, func() bool { return c.members["s.0"] != nil })
	if c.members["s.0"] == nil {
		t.Fatal(c.world.Err())
	}
	if after, complete := since(); before < kept || after < kept || !complete {
		t.Errorf("%d entries before the restart, %d after it, complete: %v", before, after, complete)
	}
}
