package runner

import (
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// faultWorld gives faults their World over a simulated one. Its diskTail is the share of slow disk
// operations that holds while no fault slows a disk.
type faultWorld struct {
	world    *sim.World
	failover target.Failover
	hurry    func()
	diskTail sim.Probability
}

func (p *faultWorld) Now() env.Time            { return p.world.Now() }
func (p *faultWorld) At(t env.Time, fn func()) { p.world.At(t, fn) }
func (p *faultWorld) Nodes() []env.NodeID      { return p.world.Nodes() }
func (p *faultWorld) Up(node env.NodeID) bool  { return p.world.Up(node) }
func (p *faultWorld) Crash(node env.NodeID)    { p.world.Crash(node) }
func (p *faultWorld) Restart(node env.NodeID)  { p.world.Restart(node) }
func (p *faultWorld) StepDown(node env.NodeID) { p.failover.HandOver(node) }
func (p *faultWorld) TakeOver(node env.NodeID) { p.failover.TakeOver(node) }
func (p *faultWorld) Hurry()                   { p.hurry() }
func (p *faultWorld) Emit(e *trace.Event)      { p.world.Emit(e) }

func (p *faultWorld) Choose(kind, site string, n int) int {
	return p.world.Gate().Pick(kind, site, n)
}

func (p *faultWorld) Partition(from, to []env.NodeID, both bool) (heal func()) {
	each := func(do func(a, b env.NodeID, oneWay bool)) {
		for _, a := range from {
			for _, b := range to {
				do(a, b, !both)
			}
		}
	}
	each(p.world.Partition)
	return func() { each(p.world.Heal) }
}

func (p *faultWorld) Interrupt(node env.NodeID, match func(string) bool, err error) {
	p.world.Interrupt(node, match, err)
}

func (p *faultWorld) SlowDisk(node env.NodeID, factor int) (repair func()) {
	p.world.SetDiskSlowness(node, factor, p.diskTail)
	return func() { p.world.SetDiskSlowness(node, 1, p.diskTail) }
}

func (p *faultWorld) ShiftClock(node env.NodeID, jump time.Duration, ppm int) (repair func()) {
	p.world.JumpClock(node, jump)
	p.world.SetDrift(node, int64(ppm))
	return func() { p.world.ResetClock(node) }
}

// delaySteps is into how many latencies a delay is spread, so that messages overtake each other.
const delaySteps = 8

func (p *faultWorld) Disturb(r faults.Rule) (remove func()) {
	var installed []sim.RuleID
	left := quota{r.Skip, r.Limit}
	for step := range delaySteps {
		rule := sim.Rule{Match: match(r, step, &left), Hold: r.Hold, Copy: r.Copy}
		switch share := r.Delay * time.Duration(step+1) / delaySteps; {
		case r.Delay == 0 && step > 0:
			continue
		case r.Duplicate > 0:
			rule.Fate.Later = share
		default:
			rule.Fate.Delay = share
		}
		rule.Fate.Drop, rule.Loss = certain(r.Lose)
		rule.Fate.LoseReply, rule.LoseReply = certain(r.LoseReply)
		rule.Fate.Duplicate, rule.Duplicate = certain(r.Duplicate)
		installed = append(installed, p.world.AddRule(rule))
	}
	return func() {
		for _, id := range installed {
			p.world.RemoveRule(id)
		}
	}
}

// certain turns per cent into what always happens, or into odds.
func certain(percent int) (always bool, odds sim.Probability) {
	if percent >= 100 {
		return true, 0
	}
	return false, sim.Probability(percent) * (sim.Always / 100)
}

// match selects the messages of a rule, as many as are left. A rule with a delay is spread over
// steps by the number of the message.
func match(r faults.Rule, step int, left *quota) func(*sim.Message) bool {
	return func(m *sim.Message) bool {
		switch {
		case r.Requests && m.Reply, r.Replies && !m.Reply,
			r.From != nil && !r.From(m.From), r.To != nil && !r.To(m.To),
			r.Class != nil && !r.Class(m.Class), r.Body != nil && !r.Body(m.Body):
			return false
		}
		if r.Delay > 0 && int(keyed.Mix(m.Nth)%delaySteps) != step {
			return false
		}
		taken := left.take(r.Limit > 0)
		if taken && r.Taken != nil {
			r.Taken(m.From)
		}
		return taken
	}
}

// quota is how many messages of a rule go undisturbed first, and how many are disturbed then.
type quota struct{ skip, left int }

func (q *quota) take(limited bool) bool {
	switch {
	case q.skip > 0:
		q.skip--
		return false
	case limited && q.left == 0:
		return false
	}
	q.left--
	return true
}
