package balancer

import (
	"time"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
)

// term is the balancer of one term of the primary.
type term struct {
	*Balancer
	number    uint64
	recovered bool // what earlier terms have asked for has ended
	inRound   bool
	rounds    int64 // that have ended
	stored    int   // how often the settings of the balancer were written
	singles   int64 // chunks that shards have asked for to be moved
	scheduler scheduler
	woken     bool               // a setting was written since the balancer went to sleep
	warned    []policy.OnlyJumbo // of which it has told
	changed   env.Cond           // any of the above but the last changed
}

// run is the balancer's main loop (protocol 14.1). A balancer that is off has nothing to do until
// an operator sets something.
func (m *term) run(t env.Task) {
	if m.changed.WaitFor(
		t, 0, func() bool { return m.woken || m.document().Mode != command.BalancerOff },
	) != nil {
		return
	}
	for m.recover(t) != nil {
		if t.Sleep(m.settings.HeartbeatInterval) != nil {
			return
		}
	}
	m.recovered = true
	m.changed.Broadcast()
	for m.sleep(t, m.turn(t)) == nil {
	}
}

// turn is one turn of the loop; it returns how long the balancer sleeps after it (errata E1).
func (m *term) turn(t env.Task) time.Duration {
	m.woken = false
	if t.Point(failpoint.BalancerLoadSettings, env.Note{}) != nil {
		return m.settings.BalancerInterval
	}
	o, open := m.open(t)
	if !open || m.round(t, o) == 0 {
		return m.settings.BalancerInterval
	}
	return m.settings.BalancerPause
}

// open returns what operators have set by now, and whether the balancer may ask for migrations.
func (m *term) open(t env.Task) (o roundOptions, open bool) {
	if t.Point(failpoint.BalancerWindowCheck, env.Note{}) != nil {
		return o, false
	}
	o = m.options()
	return o, m.permits(o)
}

// permits compares with the local time of day of the server (errata E22).
func (m *term) permits(o roundOptions) bool {
	return o.mode == command.BalancerFull &&
		o.window.Contains(time.Duration(m.node.Now()), m.settings.LocalTimeOffset)
}

// sleep ends early when an operator writes a setting.
func (m *term) sleep(t env.Task, interval time.Duration) error {
	_ = t.Point(failpoint.BalancerSleep, env.Note{})
	_ = m.changed.WaitFor(t, settings.Pause(interval), func() bool { return m.woken })
	return t.Err()
}

// recover waits until what earlier terms have asked for has ended (protocol 9.5). 4.2 has it on
// record and carries it out again; later, every shard is asked what it still does.
func (m *term) recover(t env.Task) error {
	if err := t.Point(failpoint.BalancerStepUp, env.Note{}); err != nil {
		return err
	}
	if m.server.Profile().LocksCollections() {
		return m.server.AwaitMigrations(t)
	}
	for _, shard := range m.server.Shards() {
		if set := m.server.Set(shard.Name); set != nil {
			_, err := rpc.CallPrimary[command.Done](t, set, &command.JoinMigrations{},
				m.settings.CommandTimeout)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// idle reports whether nothing is in progress that this or an earlier term has asked for.
func (m *term) idle() bool { return m.recovered && !m.inRound && m.scheduler.idle() }
