package sim

import (
	"time"

	"github.com/shardproof/shardproof/system/env"
)

// machineClock is a node's two clocks. Both run at the same, possibly wrong, rate; the wall clock
// also has an offset.
type machineClock struct {
	// since is the true time at which the rate was last set, and base what the monotonic clock
	// showed then.
	since, base env.Time
	// ppm is how much faster than true time the clocks run, in parts per million.
	ppm    int64
	offset time.Duration
}

const (
	million = 1_000_000
	// forever is longer than any run, and short enough to be added to any time, even when the
	// slowest clock stretches it.
	forever = time.Duration(1) << 56
	// slowest and fastest bound a clock's drift: a tenth of the right rate and ten times it.
	slowestDrift, fastestDrift = -900_000, 9_000_000
)

func (m *machine) mono() env.Time {
	d := m.world.now.Sub(m.clock.since)
	ppm := time.Duration(m.clock.ppm)
	return m.clock.base.Add(d + d/million*ppm + d%million*ppm/million)
}

func (m *machine) wall() env.Time { return m.mono().Add(m.clock.offset) }

// real is how long d of the node's monotonic clock takes in true time, rounded up so that the clock
// has moved by d then.
func (m *machine) real(d time.Duration) time.Duration {
	d = min(max(d, 0), forever)
	if m.clock.ppm == 0 {
		return d
	}
	rate := million + m.clock.ppm
	whole, rest := int64(d)/rate, int64(d)%rate
	return time.Duration(whole*million+(rest*million+rate-1)/rate) + 1
}

// SetDrift has the node's clocks run faster (or slower: negative) than true time, in parts per
// million; at most ten times.
func (w *World) SetDrift(id env.NodeID, ppm int64) {
	m := w.machine(id)
	m.clock.base, m.clock.since = m.mono(), w.now
	m.clock.ppm = min(max(ppm, slowestDrift), fastestDrift)
}

// JumpClock moves the node's wall clock, also backwards; its monotonic clock does not move.
func (w *World) JumpClock(id env.NodeID, by time.Duration) { w.machine(id).clock.offset += by }

// ResetClock sets the node's wall clock to true time and its rate to the right one.
func (w *World) ResetClock(id env.NodeID) {
	w.SetDrift(id, 0)
	m := w.machine(id)
	m.clock.offset = w.now.Sub(m.mono())
}
