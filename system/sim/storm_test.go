package sim_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/sim"
)

// storm is a world in which everything of the package happens at once, driven by choices at the
// gate: calls between four nodes, one-way messages, disks, conditions, scopes, sites, crashes,
// partitions, rules.
type storm struct {
	w      *sim.World
	events uint64
	last   string
}

func (s *storm) Observe(e *trace.Event) {
	s.events++
	_, s.last, _ = e.Details()
}

var stormNodes = []env.NodeID{"a", "b", "c", "d"}

func stormOptions(seed uint64) sim.Options {
	return sim.Options{
		Seed: seed, Classify: firstWord, TracePoints: true,
		Network: sim.Network{Loss: 20_000, Duplicate: 20_000, LoseReply: 10_000, Tail: 10_000},
		Disk:    sim.DiskTiming{Tail: 20_000},
	}
}

// newStorm makes the world; it is over after 200 ms.
func newStorm(o sim.Options) *storm {
	s := &storm{}
	o.Observer, o.OnPoint = s, s.onPoint
	s.w = sim.New(o)
	s.w.SetStalls(50_000, nil, time.Millisecond)
	s.w.SetLateWakings(slices.Repeat(sim.SiteOdds{50_000}, failpoint.Count()), time.Millisecond)
	s.w.SetStepFailures(5_000, nil)
	for _, id := range stormNodes {
		s.w.AddNode(id, s.boot)
	}
	s.faults()
	return s
}

func (s *storm) run() uint64 {
	defer s.w.Close()
	s.w.Run(nil, env.Time(200*time.Millisecond))
	return s.w.Hash()
}

// onPoint has some passages crash their node, some fail and some take time.
func (s *storm) onPoint(p *sim.PointHit) sim.Action {
	g := s.w.Gate()
	if id := p.Node; g.Decide("crash-at-site", string(id), 5_000) {
		s.w.At(s.w.Now().Add(3*time.Millisecond), func() { s.w.Restart(id) })
		return sim.Action{Crash: true}
	}
	if g.Decide("fail-at-site", string(p.Node), 20_000) {
		return sim.Action{Err: errcode.New(errcode.FailPointEnabled, "no")}
	}
	return sim.Action{Pause: time.Duration(g.Pick("pause", string(p.Node), 100_000))}
}

// faults crash, cut off and slow down nodes at fixed times.
func (s *storm) faults() {
	ms := func(n int) env.Time { return env.Time(n) * env.Time(time.Millisecond) }
	for i, id := range stormNodes {
		next := stormNodes[(i+1)%len(stormNodes)]
		s.w.At(ms(20+37*i), func() { s.w.Crash(id) })
		s.w.At(ms(30+37*i), func() { s.w.Restart(id) })
		s.w.At(ms(10+29*i), func() { s.w.Partition(id, next, i%2 == 0) })
		s.w.At(ms(22+29*i), func() { s.w.Heal(id, next, i%2 == 0) })
	}
	s.w.At(ms(40), func() {
		id := s.w.AddRule(sim.Rule{From: "a", Match: func(m *sim.Message) bool {
			return m.Class == "put"
		}, Hold: true})
		s.w.AddRule(sim.Rule{To: "c*", Loss: sim.Always / 4, Tail: sim.Always / 4})
		s.w.At(ms(55), func() { s.w.RemoveRule(id) })
	})
	s.w.At(ms(60), func() { s.w.SetSlowness("b", 20); s.w.SetDrift("c", 50_000) })
	s.w.At(ms(90), func() {
		s.w.SetSlowness("b", 1)
		s.w.JumpClock("c", -time.Second)
		s.w.SetDiskSlowness("d", 3, sim.Always/3)
	})
}

func (s *storm) boot(t env.Task) {
	n := t.Node()
	var done env.Cond
	n.Serve(func(t env.Task, from env.NodeID, req env.Message) (env.Message, error) {
		if err := n.Disk().Append(t, "log", []byte(req.(*text).Text)); err != nil {
			return nil, err
		}
		if err := t.Yield(site("config.sendMove")); err != nil {
			return nil, err
		}
		if n.Choose("failure", "handler", 10) == 0 {
			return nil, errcode.New(errcode.BadValue, "unlucky")
		}
		done.Signal()
		return &text{"got " + req.(*text).Text}, n.Disk().Sync(t, "log")
	})
	n.Receive(func(env.NodeID, env.Message) { done.Broadcast() })
	if old, err := n.Disk().Read(t, "log"); err == nil && old != nil {
		n.Emit(trace.ReachedEvent{Probe: "recovered", N: len(old)}.Event())
	}
	scope := env.NewScope(t.Scope())
	for i := range 6 {
		n.Spawn(scope, fmt.Sprint("client-", i), func(t env.Task) { s.client(t, &done, scope) })
	}
}

// client does one chosen thing after the other until its scope is over, and then starts again
// outside of it.
func (s *storm) client(t env.Task, done *env.Cond, scope *env.Scope) {
	n := t.Node()
	for i := 0; t.Err() == nil; i++ {
		to := stormNodes[n.Choose("peer", t.Name(), len(stormNodes))]
		switch n.Choose("step", t.Name(), 8) {
		case 0:
			_ = t.Point(site("router.send"), env.Note{})
			_ = done.Wait(t, 3*time.Millisecond)
		case 1:
			n.Send(to, &text{fmt.Sprintf("note %d", i)})
		case 2:
			n.After(time.Millisecond, done.Signal)
		case 3:
			_ = t.Sleep(500 * time.Microsecond)
		case 4:
			if n.Choose("end", t.Name(), 20) == 0 {
				scope.Cancel(errcode.New(errcode.Interrupted, "enough"))
			}
		default:
			if _, err := t.Call(
				to, &text{fmt.Sprintf("put %d", i)}, 10*time.Millisecond,
			); err != nil {
				n.Sometimes(string(errcode.Of(err)))
			}
		}
	}
	n.Spawn(nil, "survivor", func(t env.Task) { s.client(t, done, scope) })
}
