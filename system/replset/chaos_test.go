package replset

import (
	"fmt"
	"testing"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/codec"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/store"
)

// storm is a cluster under random faults, with writers on every member.
type storm struct {
	*cluster
	next  int64
	acked map[int64]oplog.Time
	calm  bool
}

func newStorm(seed uint64, c env.Codec) *storm {
	opts := sim.Options{Seed: seed, Codec: c}
	opts.Network.Loss = sim.Always / 100
	opts.Network.Duplicate = sim.Always / 100
	opts.Disk.Tail = sim.Always / 50
	s := &storm{acked: map[int64]oplog.Time{}}
	opts.OnPoint = s.passing
	members := 3
	if seed%5 == 4 {
		members = 1 // nobody else makes up for what a member forgets
	}
	s.cluster = newCluster(members, opts)
	if seed%2 == 0 {
		s.settings.LogRetention = 1 + int(seed%40)
	}
	s.onBoot = func(t env.Task, m *Member) {
		for i := range 3 {
			t.Spawn(fmt.Sprint("writer", i), func(t env.Task) { s.writer(t, m) })
		}
	}
	for at := 300 * time.Millisecond; at < 10*time.Second; at += s.dice("pause", 700) {
		s.world.At(env.Time(at), s.mischief)
	}
	s.start()
	return s
}

// passing sometimes crashes or pauses the task that passes a site.
func (s *storm) passing(p *sim.PointHit) sim.Action {
	if s.calm {
		return sim.Action{}
	}
	switch s.roll("at "+p.Site.String(), 400) {
	case 0:
		id := p.Node
		s.world.At(s.world.Now().Add(s.dice("down", 1500)), func() { s.world.Restart(id) })
		return sim.Action{Crash: true}
	case 1, 2:
		return sim.Action{Pause: s.dice("held", 300)}
	case 3:
		return sim.Action{Err: errcode.New(errcode.FailPointEnabled, "no")}
	}
	return sim.Action{}
}

// dice is a random time of up to n milliseconds, at least one.
func (s *storm) dice(site string, n int) time.Duration {
	return time.Duration(1+s.roll(site, n)) * time.Millisecond
}

func (s *storm) roll(site string, n int) int {
	return s.world.Gate().Pick("storm", site, n)
}

// writer writes documents of its own whenever its member is the primary, and notes those that a
// majority has.
func (s *storm) writer(t env.Task, m *Member) {
	for t.Sleep(
		time.Duration(1+t.Node().Choose("think", string(m.cfg.Self), 20))*time.Millisecond,
	) == nil {
		if !m.IsPrimary() || s.calm {
			continue
		}
		s.next++
		id := s.next
		at, err := m.Write(t, put(id, "x"))
		if err == nil && m.Await(
			t, at, command.WriteConcern{Majority: true, Timeout: time.Second},
		) == nil {
			s.acked[id] = at
		}
		if id%10 == 0 && m.Confirm(t) == nil {
			t.Node().Sometimes("confirmed")
		}
	}
}

// mischief does something to a random member, or helps it.
func (s *storm) mischief() {
	a, b := s.ids[s.roll("a", len(s.ids))], s.ids[s.roll("b", len(s.ids))]
	switch s.roll("what", 8) {
	case 0, 1:
		s.world.Crash(a)
		s.world.At(s.world.Now().Add(s.dice("down", 1500)), func() { s.world.Restart(a) })
	case 2:
		s.world.Partition(a, b, true)
	case 3:
		for _, other := range s.ids {
			s.world.Partition(a, other, false)
		}
	case 4, 5:
		s.world.HealNetwork()
	case 6:
		s.world.SetDiskSlowness(a, 1+s.roll("slow", 200), 0)
	case 7:
		if m := s.members[a]; s.world.Up(a) && m != nil {
			s.world.Node(a).Spawn(nil, "stepdown", func(t env.Task) { _ = m.StepDown(t) })
		}
	}
}

func (s *storm) heal() {
	s.calm = true
	s.world.HealNetwork()
	for _, id := range s.ids {
		s.world.SetDiskSlowness(id, 1, 0)
		s.world.Restart(id)
	}
}

// settled reports whether all members hold the same committed log.
func (s *storm) settled() bool {
	p := s.primary()
	if p == nil {
		return false
	}
	for _, id := range s.ids {
		m := s.members[id]
		if m == nil || m.Applied() != p.Applied() || m.Committed() != p.Applied() {
			return false
		}
	}
	return true
}

func (s *storm) play(t *testing.T) {
	t.Helper()
	s.run(10*time.Second, nil)
	s.heal()
	s.run(100*time.Millisecond, nil)
	if end := s.run(20*time.Second, s.settled); end != sim.Stopped {
		t.Fatalf("the set does not settle: %s, %v", end, s.world.Err())
	}
	s.checkEqual(t)
	s.checkAcked(t)
	s.checkMajorities(t)
}

func (s *storm) checkEqual(t *testing.T) {
	first := s.members[s.ids[0]]
	for _, id := range s.ids {
		m := s.members[id]
		if m.store.Checksum(store.Latest) != first.store.Checksum(store.Latest) ||
			describeTerms(m.log.terms) != describeTerms(first.log.terms) {
			t.Errorf("%s differs from %s", id, s.ids[0])
		}
		w := s.watching[id]
		if w.applied != m.Applied().Index || w.committed != m.Committed().Index {
			t.Errorf("%s: the watcher saw %d, %d", id, w.applied, w.committed)
		}
	}
}

func (s *storm) checkAcked(t *testing.T) {
	m := s.primary()
	for id := int64(1); id <= s.next; id++ {
		at, acked := s.acked[id]
		if acked && m.store.Get(testNS, string(key.Int(id)), store.Latest) == nil {
			t.Errorf("document %d, majority-acknowledged at %s, is lost", id, at)
		}
	}
}

// checkMajorities compares what leaders of all terms called committed with what the log holds in
// the end.
func (s *storm) checkMajorities(t *testing.T) {
	m := s.primary()
	for _, at := range s.acked {
		if _, term, ok := m.Entry(at.Index); ok && term != at.Term {
			t.Errorf("entry %s was committed, now index %d is of term %d", at, at.Index, term)
		}
	}
	leaders := map[uint64]string{}
	for _, e := range s.events {
		if e.Kind != trace.Elected {
			continue
		}
		if other, ok := leaders[e.Term]; ok {
			t.Errorf("term %d has two leaders, %s and %s", e.Term, other, e.Node)
		}
		leaders[e.Term] = e.Node
	}
}

func TestStorm(t *testing.T) {
	reached := map[string]uint64{}
	acked := 0
	for seed := range uint64(80) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newStorm(seed, nil)
			defer s.world.Close()
			s.play(t)
			acked += len(s.acked)
			for _, probe := range []string{
				"replset.rolledBack", "replset.initialSync", "confirmed",
			} {
				reached[probe] += s.world.Reached(probe)
			}
		})
	}
	for _, probe := range []string{"replset.rolledBack", "replset.initialSync", "confirmed"} {
		if reached[probe] == 0 {
			t.Errorf("never reached: %s", probe)
		}
	}
	t.Logf("%d acknowledged writes, %v", acked, reached)
}

// TestStormIsTheSame plays storms again, and with every message passed through bytes.
func TestStormIsTheSame(t *testing.T) {
	for seed := range uint64(6) {
		var hashes []uint64
		for _, c := range []env.Codec{nil, nil, codec.BSON} {
			s := newStorm(seed, c)
			s.play(t)
			hashes = append(hashes, s.world.Hash())
			s.world.Close()
		}
		if hashes[0] != hashes[1] || hashes[0] != hashes[2] {
			t.Errorf("seed %d: hashes %x", seed, hashes)
		}
	}
}
