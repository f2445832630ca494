package harness

import (
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/event"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/point"
)

// Counters are what a run, or many, did: the evidence beside a verdict that the run was worth something.
type Counters struct {
	Runs                                     int
	Steps                                    uint64
	Virtual                                  int64 // nanoseconds of virtual time
	Ops, OK, Failed, Unknown                 int
	Started, Committed, Aborted, Recovered   int
	Elections, Crashes, RolledBack, Deleting int
	// Faults counts by kind, Probes the Sometimes that were reached.
	Faults map[string]int
	Probes map[string]int
	// Sites counts passes by point.Site.
	Sites []uint64
	// DonorFailover counts crashes and stepdowns of a donor's primary by the state its migration was in, RecipientCrash
	// crashes of a recipient's.
	DonorFailover, RecipientCrash map[string]int
}

// DonorStates and RecipientStates are the states of a migration in which a failover can hit it, in the order of the
// protocol (5.1, 5.2).
var (
	DonorStates = []string{"kCreated", "kCloning", "kCloneCaughtUp", "kCriticalSection", "kCloneCompleted", "kCommittingOnConfig"}

	RecipientStates = []string{"kReady", "kClone", "kCatchup", "kSteady", "kCommitStart", "kEnteredCritSec", "kExitCritSec"}
)

// NewCounters returns counters at zero.
func NewCounters() *Counters {
	return &Counters{
		Faults: map[string]int{}, Probes: map[string]int{}, Sites: make([]uint64, point.Count()),
		DonorFailover: map[string]int{}, RecipientCrash: map[string]int{},
	}
}

// Add takes the counts of other runs over.
func (c *Counters) Add(o *Counters) {
	c.Runs += o.Runs
	c.Steps += o.Steps
	c.Virtual += o.Virtual
	c.Ops, c.OK, c.Failed, c.Unknown = c.Ops+o.Ops, c.OK+o.OK, c.Failed+o.Failed, c.Unknown+o.Unknown
	c.Started, c.Committed = c.Started+o.Started, c.Committed+o.Committed
	c.Aborted, c.Recovered = c.Aborted+o.Aborted, c.Recovered+o.Recovered
	c.Elections, c.Crashes = c.Elections+o.Elections, c.Crashes+o.Crashes
	c.RolledBack, c.Deleting = c.RolledBack+o.RolledBack, c.Deleting+o.Deleting
	for i, n := range o.Sites {
		c.Sites[i] += n
	}
	addAll(c.Faults, o.Faults)
	addAll(c.Probes, o.Probes)
	addAll(c.DonorFailover, o.DonorFailover)
	addAll(c.RecipientCrash, o.RecipientCrash)
}

func addAll(sum, more map[string]int) {
	//shardproof:allow map sums do not depend on the order
	for name, n := range more {
		sum[name] += n
	}
}

// SitesReached is how many failpoints were passed at least once.
func (c *Counters) SitesReached() int {
	n := 0
	for _, passes := range c.Sites[1:] {
		if passes > 0 {
			n++
		}
	}
	return n
}

func (c *Counters) countOps(ops []histories.Op) {
	c.Ops += len(ops)
	for i := range ops {
		switch ops[i].Outcome {
		case histories.OK:
			c.OK++
		case histories.Failed:
			c.Failed++
		default:
			c.Unknown++
		}
	}
}

// tally turns events into counters. It remembers in which state of a migration every node is.
type tally struct {
	*Counters
	donor, recipient map[env.NodeID]string
	started          map[string]bool
}

func newTally() *tally {
	return &tally{
		Counters: NewCounters(), started: map[string]bool{},
		donor: map[env.NodeID]string{}, recipient: map[env.NodeID]string{},
	}
}

// Observe counts one event.
func (c *tally) Observe(e *event.Event) {
	node := env.NodeID(e.Node)
	switch e.Kind {
	case event.Fault:
		c.Faults[e.Value]++
	case event.Reached:
		c.Probes[e.Value]++
	case event.Elected:
		c.Elections++
	case event.RolledBack:
		c.RolledBack++
	case event.NodeDown:
		c.Crashes++
		c.lose(node, c.RecipientCrash)
	case event.SteppedDown:
		c.lose(node, nil)
	case event.DonorState:
		c.donorState(node, e)
	case event.RecipientState:
		note(c.recipient, node, e.Value)
	case event.MigrationEnded:
		c.ended(e)
	case event.RangeDeletion:
		if e.Value == "done" {
			c.Deleting++
		}
	}
}

// lose counts the end of a primary that was taking part in a migration.
func (c *tally) lose(node env.NodeID, recipients map[string]int) {
	if state, ok := c.donor[node]; ok {
		c.DonorFailover[state]++
	}
	if state, ok := c.recipient[node]; ok && recipients != nil {
		recipients[state]++
	}
	delete(c.donor, node)
	delete(c.recipient, node)
}

func (c *tally) donorState(node env.NodeID, e *event.Event) {
	note(c.donor, node, e.Value)
	if !c.started[e.ID] {
		c.started[e.ID] = true
		c.Started++
	}
}

func (c *tally) ended(e *event.Event) {
	switch {
	case e.Value == "committed":
		c.Committed++
	default:
		c.Aborted++
	}
	if e.N == 1 {
		c.Recovered++
	}
}

// note remembers a node's state until its last.
func note(states map[env.NodeID]string, node env.NodeID, state string) {
	switch state {
	case "kDone", "kFail", "kAbort":
		delete(states, node)
	default:
		states[node] = state
	}
}
