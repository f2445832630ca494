package harness

import (
	"slices"

	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/histories/event"
	"github.com/shardproof/shardproof/system/point"
	"github.com/shardproof/shardproof/system/sim"
)

// coverage is what a run has been through, as a set of situations: what happened, in which states donor and recipient of the
// latest migration were, which fault was in force, and which control message was on its way. Of two runs that pass, one with a
// situation that no earlier run had is worth going on from. A nil coverage notes nothing.
type coverage struct {
	situations       map[uint64]struct{}
	donor, recipient uint64
	// latest is the last thing that happened, so that two in a row count as well.
	latest  uint64
	active  []string       // kinds of faults, in the order in which they began
	pending map[string]int // control requests without an answer as yet, by class
}

func newCoverage() *coverage {
	return &coverage{situations: make(map[uint64]struct{}), pending: make(map[string]int)}
}

func (c *coverage) add(parts ...uint64) {
	h := uint64(len(parts))
	for _, p := range parts {
		h = scramble(h*0x9e3779b97f4a7c15 + p)
	}
	c.situations[h] = struct{}{}
}

// hashOf is words as a number.
func hashOf(words ...string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, w := range words {
		for i := range len(w) {
			h = (h ^ uint64(w[i])) * 0x100000001b3
		}
		h = (h ^ 0xff) * 0x100000001b3
	}
	return h
}

func (c *coverage) observe(e *event.Event) {
	switch e.Kind {
	case event.Fault:
		c.active = append(c.active, e.Value)
		c.happen(hashOf("fault", e.Value))
		return
	case event.Repair:
		if i := slices.Index(c.active, e.Value); i >= 0 {
			c.active = slices.Delete(c.active, i, i+1)
		}
		return
	case event.Reached:
		c.add(hashOf("probe", e.Value))
		return
	case event.DonorState:
		c.donor = hashOf(e.Value)
	case event.RecipientState:
		c.recipient = hashOf(e.Value)
	case event.DecisionMade, event.MigrationEnded, event.RangeDeletion, event.CriticalSection, event.PrimaryMoving, event.NodeDown, event.Elected:
	default:
		return
	}
	c.happen(hashOf(e.Kind.String(), e.Value))
}

// happen counts everything that was the case when something happened.
func (c *coverage) happen(what uint64) {
	c.add(1, what, c.donor, c.recipient)
	c.add(2, c.latest, what)
	c.latest = what
	for _, kind := range c.active {
		c.add(3, what, c.donor, c.recipient, hashOf(kind))
	}
	//shardproof:allow map each entry is a situation of its own
	for class, n := range c.pending {
		if n > 0 {
			c.add(4, what, c.donor, c.recipient, hashOf(class))
		}
	}
}

// pass counts a failpoint of a migration in the state of its donor.
func (c *coverage) pass(site point.Site) {
	if r := infoOf[site].Role; r != point.Replica && r != point.Router && r != point.Request {
		c.add(5, uint64(site), c.donor, c.recipient)
	}
}

// send follows the control messages that are on their way.
func (c *coverage) send(o *sim.Occasion) {
	switch {
	case o.Class == "" || faults.SteeringOf(o.Class) == faults.Bystander:
	case o.Call:
		c.pending[o.Class]++
	case o.Reply:
		c.pending[o.Class]--
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
