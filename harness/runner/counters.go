package runner

import (
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Counters are what a run, or many, did: the evidence beside a verdict that the run was worth
// something.
type Counters struct {
	// Older: those that spoke 4.2.
	Runs, Older int
	Steps       uint64
	// Nanoseconds of virtual time.
	Virtual                                  int64
	Ops, OK, Failed, Unknown                 int
	Started, Committed, Aborted, Recovered   int
	Elections, Crashes, RolledBack, Deleting int
	// Of the balancer; Balanced: requests of which the migration was committed.
	Rounds, Chosen, Balanced int
	// Removals of shards, changes of zones, stops of the balancer that were answered.
	Drained, Rezoned, Stopped int
	// Primaries counts moves of primaries by how they ended: "done", "aborted".
	Primaries map[string]int
	// Weaknesses counts runs by what they have shown of the verdict.KnownAnomalies.
	Weaknesses map[string]int
	// Faults counts by kind, Probes the Sometimes that were reached.
	Faults map[string]int
	Probes map[string]int
	// Statistics are the shardingStatistics of all shard members that ran at the end, added up.
	Statistics map[string]int64
	// Sites counts passes by failpoint.Site.
	Sites []uint64
	// FaultsIn counts faults by the state that the donor of the latest migration was in when they
	// began.
	FaultsIn map[FaultIn]int
	// DonorFailover counts crashes and stepdowns of a donor's primary by the state its migration
	// was in, RecipientCrash crashes of a recipient's.
	DonorFailover, RecipientCrash map[string]int
}

// DonorStates and RecipientStates are the names of the states of a migration in which a failover
// can hit it, in their order (protocol 5.1, 5.2).
var (
	DonorStates     = namesOf(trace.DonorStates())
	RecipientStates = namesOf(trace.RecipientStates())
)

func namesOf[S fmt.Stringer](states []S) (names []string) {
	for _, s := range states {
		names = append(names, s.String())
	}
	return names
}

// FaultIn is a kind of fault in a state of a migration, empty before the first one.
type FaultIn struct{ Kind, State string }

// MarshalText writes the kind and the state.
func (f FaultIn) MarshalText() ([]byte, error) { return []byte(f.Kind + " " + f.State), nil }

// UnmarshalText reads what MarshalText writes.
func (f *FaultIn) UnmarshalText(text []byte) error {
	f.Kind, f.State, _ = strings.Cut(string(text), " ")
	return nil
}

// NewCounters returns counters at zero.
func NewCounters() *Counters {
	return &Counters{
		Primaries:      map[string]int{},
		Weaknesses:     map[string]int{},
		Faults:         map[string]int{},
		Probes:         map[string]int{},
		Statistics:     map[string]int64{},
		Sites:          make([]uint64, failpoint.Count()),
		FaultsIn:       map[FaultIn]int{},
		DonorFailover:  map[string]int{},
		RecipientCrash: map[string]int{},
	}
}

// Add takes the counts of other runs over.
func (c *Counters) Add(o *Counters) {
	c.Runs, c.Older = c.Runs+o.Runs, c.Older+o.Older
	c.Steps += o.Steps
	c.Virtual += o.Virtual
	c.Ops, c.OK, c.Failed, c.Unknown = c.Ops+o.Ops, c.OK+o.OK, c.Failed+o.Failed,
		c.Unknown+o.Unknown
	c.Started, c.Committed = c.Started+o.Started, c.Committed+o.Committed
	c.Aborted, c.Recovered = c.Aborted+o.Aborted, c.Recovered+o.Recovered
	c.Elections, c.Crashes = c.Elections+o.Elections, c.Crashes+o.Crashes
	c.RolledBack, c.Deleting = c.RolledBack+o.RolledBack, c.Deleting+o.Deleting
	c.Rounds, c.Chosen, c.Balanced = c.Rounds+o.Rounds, c.Chosen+o.Chosen, c.Balanced+o.Balanced
	c.Drained, c.Rezoned, c.Stopped = c.Drained+o.Drained, c.Rezoned+o.Rezoned, c.Stopped+o.Stopped
	for i, n := range o.Sites {
		c.Sites[i] += n
	}
	addAll(c.Primaries, o.Primaries)
	addAll(c.Weaknesses, o.Weaknesses)
	addAll(c.Faults, o.Faults)
	addAll(c.Probes, o.Probes)
	addAll(c.Statistics, o.Statistics)
	addAll(c.FaultsIn, o.FaultsIn)
	addAll(c.DonorFailover, o.DonorFailover)
	addAll(c.RecipientCrash, o.RecipientCrash)
}

func addAll[K comparable, N int | int64](sum, more map[K]N) {
	//shardproof:allow map sums do not depend on the order
	for name, n := range more {
		sum[name] += n
	}
}

// SitesReached is how many of some failpoints were passed at least once.
func (c *Counters) SitesReached(of []failpoint.Info) (n int) {
	for _, in := range of {
		if c.Sites[in.Site] > 0 {
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

// counting turns events into counters. It remembers in which state of a migration every node is.
type counting struct {
	*Counters
	donor, recipient map[env.NodeID]part
	started          map[string]bool
	// latest is the state of the donor that advanced last.
	latest string
}

// part is a node's part in a migration. It ends when there is nothing left of it to be done on that
// node: the last state of a donor lasts until its copy is deleted or its abort completed, that of a
// recipient until the donor has completed the migration.
type part struct {
	state, migration string
	over             bool
}

func newTally() *counting {
	return &counting{
		Counters: NewCounters(), started: map[string]bool{},
		donor: map[env.NodeID]part{}, recipient: map[env.NodeID]part{},
	}
}

// Observe counts one event.
func (c *counting) Observe(e *trace.Event) {
	node := env.NodeID(e.Node)
	switch e.Kind {
	case trace.Fault:
		c.Faults[e.FaultKind()]++
		c.FaultsIn[FaultIn{e.FaultKind(), c.latest}]++
	case trace.Reached:
		c.Probes[e.Probe()]++
	case trace.Elected:
		c.Elections++
	case trace.RolledBack:
		c.RolledBack++
	case trace.NodeDown:
		c.Crashes++
		c.lose(node, c.RecipientCrash)
	case trace.SteppedDown:
		c.lose(node, nil)
	case trace.DonorAdvanced:
		c.donorState(node, e)
	case trace.RecipientAdvanced:
		c.recipient[node] = part{e.State(), e.Migration(), e.RecipientState().Terminal()}
	case trace.MigrationEnded:
		c.ended(e)
	case trace.PrimaryMoving:
		if e.PrimaryMovePhase().Terminal() {
			c.Primaries[e.State()]++
		}
	case trace.BalancerRound, trace.BalancerChose, trace.BalancerDone, trace.BalancerStopped,
		trace.ClusterChanged:
		c.balancer(e)
	case trace.RangeDeletion:
		if e.DeletionState() == trace.DeletionDone {
			c.Deleting++
			leave(c.donor, node, e.Migration())
		}
	}
}

// balancer counts what the balancer does, and what operators have it do.
func (c *counting) balancer(e *trace.Event) {
	switch {
	case e.RoundPhase() == trace.RoundEnded:
		c.Rounds++
	case e.Kind == trace.BalancerChose:
		c.Chosen++
	case e.Outcome() == trace.BalancerMoved:
		c.Balanced++
	case e.Kind == trace.BalancerStopped:
		c.Stopped++
	case e.ClusterChange() == trace.ShardRemoved:
		c.Drained++
	case e.ClusterChange() == trace.ShardZones, e.ClusterChange() == trace.ZoneRange:
		c.Rezoned++
	}
}

// lose counts the end of a primary that was taking part in a migration.
func (c *counting) lose(node env.NodeID, recipients map[string]int) {
	if p, ok := c.donor[node]; ok {
		c.DonorFailover[p.state]++
	}
	if p, ok := c.recipient[node]; ok && recipients != nil {
		recipients[p.state]++
	}
	delete(c.donor, node)
	delete(c.recipient, node)
}

func (c *counting) donorState(node env.NodeID, e *trace.Event) {
	id := e.Migration()
	c.latest = e.State()
	c.donor[node] = part{e.State(), id, e.DonorState().Terminal()}
	if !c.started[id] {
		c.started[id] = true
		c.Started++
	}
}

func (c *counting) ended(e *trace.Event) {
	if e.Decision() == trace.Committed {
		c.Committed++
	} else {
		c.Aborted++
		leave(c.donor, env.NodeID(e.Node), e.Migration())
	}
	if e.Recovered() {
		c.Recovered++
	}
	//shardproof:allow map each entry is judged by itself
	for node := range c.recipient {
		leave(c.recipient, node, e.Migration())
	}
}

// leave ends a node's part in a migration that has reached a last state there.
func leave(parts map[env.NodeID]part, node env.NodeID, migration string) {
	if p := parts[node]; p.migration == migration && p.over {
		delete(parts, node)
	}
}
