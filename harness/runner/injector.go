package runner

import (
	"strings"
	"time"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/faults/terms"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// injector brings the scenario's faults about, and those of the background that chance decides.
type injector struct {
	driver *faults.Driver
	world  *sim.World
	// background are the rules of what happens to a few of all messages.
	background []sim.RuleID
}

func newInjector(planned []scenario.Fault, set *terms.Set) injector {
	if set.Empty() {
		set = nil
	}
	return injector{driver: faults.New(planned, set)}
}

// start arms the faults. Times of the scenario count from the run's base.
func (in *injector) start(r *run) {
	in.world = r.world
	p := &faultWorld{
		world:    r.world,
		failover: r.failover(),
		hurry:    r.operators.hurry,
		diskTail: sim.Probability(r.conditions.diskTail),
	}
	in.driver.Start(p, r.base)
	in.startBackground(r, p)
}

// end repairs every fault.
func (in *injector) end() {
	in.driver.End()
	for _, id := range in.background {
		in.world.RemoveRule(id)
	}
}

// point is what faults do to a task at a site.
func (in *injector) point(p *sim.PointHit) sim.Action {
	a := in.driver.Point(p.Node, p.Task, p.Site, p.Note)
	if a.Zero() {
		return sim.Action{}
	}
	do := sim.Action{Pause: a.Pause, Crash: a.Crash, Announce: true}
	if a.Err != nil {
		do.Err = a.Err
	}
	if a.Until != nil {
		do.Until = &sim.Latch{}
		a.Until(do.Until.Open)
	}
	return do
}

// startBackground has the world lose, duplicate and slow down a few of all messages and disk
// operations.
func (in *injector) startBackground(r *run, p *faultWorld) {
	c := &r.conditions
	if c.loss+c.tail > 0 {
		in.add(sim.Rule{Loss: sim.Probability(c.loss), Tail: sim.Probability(c.tail)})
	}
	if c.duplicate > 0 {
		repeatable := func(m *sim.Message) bool { return r.about.Messages.Repeatable(m.Class) }
		in.add(sim.Rule{Match: repeatable, Duplicate: sim.Probability(c.duplicate)})
	}
	if c.lateCopies > 0 {
		in.copyLate(r, sim.Probability(c.lateCopies))
	}
	if c.chains > 0 {
		// Replication keeps its pace.
		between := func(m *sim.Message) bool { return setOf(m.From) != setOf(m.To) }
		in.add(sim.Rule{
			Match:          between,
			Chain:          sim.Probability(c.chains),
			PriorityChange: sim.Probability(c.demotions),
		})
	}
	r.world.SetStalls(sim.Probability(c.stall), siteOdds(c.siteStalls), c.stallDelay)
	r.world.SetLateWakings(siteOdds(c.siteWakings), c.stallDelay)
	r.world.SetStepFailures(sim.Probability(c.failures), siteOdds(c.siteFailures))
	if p.diskTail > 0 {
		for _, n := range r.servers {
			r.world.SetDiskSlowness(n.ID, 1, p.diskTail)
		}
	}
}

// A copy comes up to latestCopy after its message. The first few messages of a kind on a link have
// the full odds, later ones few, so that what is sent once in a run is copied as often as what is
// sent all the time.
const (
	latestCopy  = 3 * time.Second
	firstCopies = 3
	rarerLater  = 32
)

// copyLate has messages come once more when their sender has long gone on: those that are fenced or
// may be repeated. Any other command that comes late would be carried out late.
func (in *injector) copyLate(r *run, odds sim.Probability) {
	late := sim.Fate{Spread: latestCopy}
	among := func(early bool) func(*sim.Message) bool {
		return func(m *sim.Message) bool {
			return !m.Reply && (m.Nth <= firstCopies) == early &&
				r.about.Messages.Role(m.Class) > faults.Bystander &&
				r.about.Messages.Repeatable(m.Class)
		}
	}
	in.add(sim.Rule{Match: among(true), Fate: late, Duplicate: odds})
	in.add(sim.Rule{Match: among(false), Fate: late, Duplicate: odds / rarerLater})
}

// siteOdds are the odds of each failpoint at which something happens there in so many of a million
// runs.
func siteOdds(runs int) (odds sim.SiteOdds) {
	for _, n := range faults.Evenly(runs) {
		odds = append(odds, sim.Probability(n))
	}
	return odds
}

func (in *injector) add(rule sim.Rule) {
	in.background = append(in.background, in.world.AddRule(rule))
}

// setOf is the part of a node's name that members of a set share.
func setOf(id env.NodeID) string {
	set, _, _ := strings.Cut(string(id), ".")
	return set
}

// failover is how the system changes who leads; nothing happens in one that does not know how.
func (r *run) failover() target.Failover {
	if f, ok := r.system.(target.Failover); ok {
		return f
	}
	return noFailover{}
}

type noFailover struct{}

func (noFailover) HandOver(env.NodeID) {}
func (noFailover) TakeOver(env.NodeID) {}
