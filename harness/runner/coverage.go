package runner

import (
	"slices"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/sim"
)

// coverage is what a run has been through, as a set of situations: the states of donor and
// recipient of the latest migration, the latest fault in force, and what sort of control message
// was on its way, whenever one of these changed. Of two runs that pass, one with a situation that
// no earlier run had is worth going on from. They are so coarse that there are some thousands of
// them: were each of many runs new, novelty would steer nothing.
type coverage struct {
	situations       map[uint64]struct{}
	donor, recipient uint64
	active           []string // kinds of faults, in the order in which they began
	// pending counts the control requests without an answer as yet, by their degree.
	pending [faults.Commit + 1]int
	role    func(class string) faults.MessageRole
}

func newCoverage(of *target.Description) *coverage {
	return &coverage{situations: make(map[uint64]struct{}), role: of.Messages.Role}
}

func (c *coverage) observer() Observer {
	return Observer{
		Event: c.observe, Message: c.send, Point: func(p *sim.PointHit) { c.pass(p.Site) },
	}
}

func (c *coverage) add(parts ...uint64) {
	h := uint64(len(parts))
	for _, p := range parts {
		h = keyed.Mix(h*keyed.Golden + p)
	}
	c.situations[h] = struct{}{}
}

// hashOf is words as a number.
func hashOf(words ...string) uint64 {
	h := uint64(keyed.Basis)
	for _, w := range words {
		h = keyed.Byte(keyed.Text(h, w), 0xff)
	}
	return h
}

func (c *coverage) observe(e *trace.Event) {
	switch e.Kind {
	case trace.Fault:
		c.active = append(c.active, e.FaultKind())
		c.happen(hashOf("fault", e.FaultKind()))
		return
	case trace.Repair:
		if i := slices.Index(c.active, e.FaultKind()); i >= 0 {
			c.active = slices.Delete(c.active, i, i+1)
		}
		return
	case trace.Reached:
		c.add(hashOf("probe", e.Probe()))
		return
	case trace.DonorAdvanced:
		c.donor = hashOf(e.State())
	case trace.RecipientAdvanced:
		c.recipient = hashOf(partOf(e.RecipientState()))
	case trace.DecisionMade, trace.MigrationEnded, trace.RangeDeletion, trace.CriticalSection,
		trace.PrimaryMoving, trace.NodeDown, trace.Elected:
	default:
		return
	}
	_, says, _ := e.Details()
	c.happen(hashOf(e.Kind.String(), says))
}

// partOf is what a recipient does in each of its states, so that a donor's state and it make few
// pairs.
func partOf(s trace.RecipientState) string {
	switch {
	case s.Failed():
		return "has given up"
	case s.CommitWindow():
		return "commits"
	case s.Open():
		return "receives"
	}
	return "has it"
}

// happen counts what was the case when something happened.
func (c *coverage) happen(what uint64) {
	fault := uint64(0)
	if n := len(c.active); n > 0 {
		fault = hashOf(c.active[n-1])
	}
	c.add(1, c.donor, c.recipient, fault, uint64(c.degree()))
	c.add(2, c.donor, what)
}

// degree is that of the weightiest message on its way.
func (c *coverage) degree() faults.MessageRole {
	for d := faults.Commit; d > faults.Bystander; d-- {
		if c.pending[d] > 0 {
			return d
		}
	}
	return faults.Bystander
}

// pass counts a failpoint of a migration, by itself and under a fault.
func (c *coverage) pass(site failpoint.Site) {
	if r := site.Role(); r != failpoint.Replica && r != failpoint.Router && r != failpoint.Request {
		c.add(3, uint64(site), uint64(min(len(c.active), 1)))
	}
}

// send follows the control messages that are on their way.
func (c *coverage) send(o sim.InjectionPoint) {
	switch d := c.role(o.Class); {
	case o.Call:
		c.pending[d]++
	case o.Reply:
		c.pending[d]--
	}
}

// all is the set, in ascending order.
func (c *coverage) all() []uint64 {
	if c == nil {
		return nil
	}
	all := make([]uint64, 0, len(c.situations))
	//shardproof:allow map sorted below
	for h := range c.situations {
		all = append(all, h)
	}
	slices.Sort(all)
	return all
}
