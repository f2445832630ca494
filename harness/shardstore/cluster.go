package shardstore

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/checkers/admission"
	"github.com/shardproof/shardproof/checkers/batches"
	"github.com/shardproof/shardproof/checkers/migrationmodel"
	"github.com/shardproof/shardproof/checkers/omissions"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/checkers/signals"
	"github.com/shardproof/shardproof/checkers/warnings"
	"github.com/shardproof/shardproof/harness/shardstore/committed"
	"github.com/shardproof/shardproof/harness/shardstore/disks"
	"github.com/shardproof/shardproof/harness/shardstore/doubts"
	"github.com/shardproof/shardproof/harness/shardstore/leading"
	"github.com/shardproof/shardproof/harness/shardstore/logs"
	"github.com/shardproof/shardproof/harness/shardstore/merges"
	"github.com/shardproof/shardproof/harness/shardstore/placements"
	"github.com/shardproof/shardproof/harness/shardstore/preference"
	"github.com/shardproof/shardproof/harness/shardstore/scans"
	"github.com/shardproof/shardproof/harness/shardstore/sums"
	"github.com/shardproof/shardproof/harness/shardstore/tails"
	"github.com/shardproof/shardproof/harness/shardstore/timed"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
)

// cluster is a started store: one run's.
type cluster struct {
	*system.Cluster
	world    target.World
	scenario *scenario.Scenario
	settings settings.Settings
	// impatient are the settings before an operator made them regular at the end; nil until then.
	impatient *settings.Settings
	oracle    *oracle.Oracle
	// balancing follows the balancer; settling is set when the faults have healed and it is brought
	// to its end.
	balancing balancing
	settling  bool
	// given are the commands that have come to their end, by number.
	given map[int]bool
	// sessions are those of the clients.
	sessions []*session
	// learned is when routers were last told of a collection or database by the config server.
	learned map[lesson]env.Time
	// queries are those that shards have let in and not answered to the end.
	queries map[string]asking
	// firstSeen is when requests first came whose refusal is remembered, by session; keys are
	// lastingKeys.
	firstSeen map[string]firstSeen
	keys      map[string]key.Pattern
	// balanceViews are the latest that were read of config servers, by member.
	balanceViews map[string]balanceView
	disks        *disks.Disks
	leading      *leading.Record
	merges       *merges.Watch
	// primaries are those that routers go by.
	primaries preference.Primaries
	doubts    doubts.Routers
	sums      sums.Routers
	tails     tails.Routers
	// placements are those that secondaries know.
	placements placements.Secondaries
	timed      *timed.Cluster
	signals    *signals.Judge
	warnings   *warnings.Judge
	admission  *admission.Judge
	committed  *committed.Reader
	// scans are the queries that shards have begun to answer.
	scans     *scans.Scans
	omissions *omissions.Judge
	// leaked is set when documents that nobody owned had to be removed by an operator.
	leaked bool
}

var (
	_ target.Mover         = (*cluster)(nil)
	_ target.Commanded     = (*cluster)(nil)
	_ target.Quiescer      = (*cluster)(nil)
	_ target.Prober        = (*cluster)(nil)
	_ target.Failover      = (*cluster)(nil)
	_ target.ChangeStreams = (*cluster)(nil)
	_ target.Clock         = (*cluster)(nil)
	_ target.Judge         = (*cluster)(nil)
	_ target.Excuser       = (*cluster)(nil)
	_ target.Distributed   = (*cluster)(nil)
	_ target.Witness       = (*cluster)(nil)
	_ target.Overhearer    = (*cluster)(nil)
)

// modelOf is the protocol that the scenario's servers speak, for those who judge.
func modelOf(s *scenario.Scenario) migrationmodel.Protocol {
	if protocolOf(s).CoordinatesMigrations() {
		return migrationmodel.V80
	}
	return migrationmodel.V42
}

// Start assembles a cluster in the setup's world.
func (Store) Start(setup target.Setup) (target.System, error) {
	s := setup.Scenario
	c := &cluster{
		world:    setup.World,
		scenario: s,
		settings: settings.Default(protocolOf(s)),
		given:    map[int]bool{},
		learned:  map[lesson]env.Time{},
		queries:  map[string]asking{},

		firstSeen:    map[string]firstSeen{},
		keys:         lastingKeys(s),
		balanceViews: map[string]balanceView{},
		disks:        disks.New(setup.World.Durable),
		leading:      leading.New(),
		merges:       merges.New(),
		scans:        scans.New(),
		omissions:    omissions.New(),
		committed:    committed.New(),
	}
	c.oracle = oracle.New(func(k string) string { return key.Key(k).String() })
	c.oracle.Speaks(modelOf(s))
	c.oracle.Limit(c.limits)
	c.oracle.Views(c.view)
	c.oracle.Extents(c.extent)
	c.oracle.Identities(c.identity)
	c.oracle.CutOff(c.cutOff)
	c.oracle.Parts(c.parts)
	c.oracle.Leavers(func(node string) bool { return c.Leaving(env.NodeID(node)) })
	c.oracle.ConfigTimes(c.newestTime, c.keptTime)
	c.oracle.UnfinishedMoves(c.unfinishedMove)
	c.oracle.WholeChanges(c.isWholeChange)
	c.oracle.Undefined(c.undefined)
	if !protocolOf(s).CoordinatesMigrations() {
		c.showRecordsOf42()
	}
	c.timed = timed.New(c.valuesOfSettings, c.clockOf, timed.Facts{
		Members: func(set string) int { return len(c.Members(set)) },
		Log:     c.datesOf,
		Changed: c.changesHeartbeats(),
		Partial: protocolOf(s).BlocksWithChangesLeft(),
	})
	c.signals, c.warnings = signals.New(c.logOf), warnings.New(c.deleterOf)
	c.admission = admission.New(c.lastOf, c.takesPart)
	c.expectLayouts()
	zones := make(map[env.NodeID]time.Duration)
	for _, v := range setup.Settings {
		if err := configure(v, &c.settings, zones); err != nil {
			return nil, err
		}
	}
	c.oracle.Batches(c.batches())
	c.oracle.Concerns(c.lacksConcern, c.lacksMajority)
	var err error
	c.Cluster, err = system.Assemble(setup.World, topology(s), &c.settings, collections(s)...)
	if err != nil {
		return nil, err
	}
	for _, id := range c.Members(configsvr.Name) {
		if east, located := zones[id]; located {
			c.Locate(id, east)
		}
	}
	return c, nil
}

// limits are the shortest that the settings make, with those that operators change while it runs:
// a server may have the new value or the old one, and what has begun goes by the one it began with.
func (c *cluster) limits() oracle.Limits {
	all := c.valuesOfSettings()
	least := c.limitsOf(&all[0])
	for i := range all {
		other := c.limitsOf(&all[i])
		least.Cursor = min(least.Cursor, other.Cursor)
		least.Migration = min(least.Migration, other.Migration)
		least.History = min(least.History, other.History)
		least.Deletion = min(least.Deletion, other.Deletion)
	}
	return least
}

// longestHistory is the longest that chunks keep their history by any of the settings.
func (c *cluster) longestHistory() (most time.Duration) {
	for _, s := range c.valuesOfSettings() {
		most = max(most, c.limitsOf(&s).History)
	}
	return most
}

// valuesOfSettings are the settings at the start, and with each change that operators make.
func (c *cluster) valuesOfSettings() []settings.Settings {
	all := []settings.Settings{c.settings}
	for i := range c.scenario.Commands {
		changed := c.settings
		if o := &c.scenario.Commands[i]; o.Do == commandkind.SetParameter &&
			changed.Set(o.Name, o.Value) == nil {
			all = append(all, changed)
		}
	}
	if c.impatient != nil {
		all = append(all, *c.impatient)
	}
	return all
}

// batches are how much servers may do in one go by any of the settings.
func (c *cluster) batches() batches.Limits {
	of := func(s *settings.Settings) batches.Limits {
		return batches.Limits{
			Deleted: s.RangeDeleterBatch, Inserted: s.CloneBatchDocs,
			Cloned: s.CloneBatchBytes, Changed: s.ModsBatchBytes, Pause: s.RangeDeleterDelay,
			Rest: s.CloneBatchDelay,
		}
	}
	all := c.valuesOfSettings()
	widest := of(&all[0])
	for i := range all {
		widest = widest.Or(of(&all[i]))
	}
	return widest
}

func (c *cluster) limitsOf(s *settings.Settings) oracle.Limits {
	history := s.ShortestHistory
	if modelOf(c.scenario) == migrationmodel.V80 {
		history = max(history, s.HistoryWindow, s.TransactionLifetime)
	}
	return oracle.Limits{
		History:  history,
		Cursor:   s.CursorTimeout,
		Deletion: s.OrphanCleanupDelay,
		Migration: min(s.OverlapWait, s.CatchUpWait, s.StaleWait, s.WriteConcernTimeout,
			s.CommandTimeout),
	}
}

// expectLayouts informs the oracle of how the scenario's collections are made.
func (c *cluster) expectLayouts() {
	for i := range c.scenario.Collections {
		one := &c.scenario.Collections[i]
		if one.Unsharded {
			c.oracle.Plain(one.NS)
			if !shardedBy(*one).SameOrder(byID) {
				c.oracle.Rekeyed(one.NS)
			}
			continue
		}
		var bounds []string
		for _, b := range founded(*one).Bounds {
			bounds = append(bounds, string(b))
		}
		shards := ownersOf(c.scenario, one)
		if one.Absent && one.Made != "" {
			shards = nil // it begins as it is made
		}
		c.oracle.Founds(one.NS, oracle.Layout{
			Bounds: bounds, Shards: shards, Again: makingOf(one), Chunks: one.Initial,
		})
	}
}

func makingOf(c *scenario.Collection) oracle.Making {
	switch {
	case c.Made == "":
		return oracle.AsBegun
	case c.Made == scenario.MadeDealt && len(c.Bounds) > 0:
		return oracle.Dealt
	case c.Hashed:
		return oracle.PlacedByHash
	}
	return oracle.Placed
}

func topology(s *scenario.Scenario) system.Topology {
	t := s.Topology
	return system.Topology{
		Shards:        t.Shards,
		Spare:         t.Spare,
		Members:       t.Members,
		ConfigMembers: t.ConfigMembers,
		Routers:       t.Routers,
		Clients:       t.Clients,
		Profile:       protocolOf(s),
		BalancerOff:   !s.Balancer,
	}
}

// Observe follows the balancer and judges the event.
func (c *cluster) Observe(e *trace.Event) {
	c.oracle.Observe(e)
	c.merges.Judge.Observe(e)
	c.timed.Observe(e)
	c.signals.Observe(e)
	c.warned(e)
	c.admission.Observe(e)
	c.balancing.follow(e)
	c.tookOver(e)
	c.learnsPlacement(e)
	c.commits(e)
	if e.Kind == trace.RolledBack || e.Kind == trace.NodeDown {
		c.scans.Undone(env.NodeID(e.Node), c.world.Now())
	}
	if e.Kind == trace.RangeDeletion { // at the end there is nothing outstanding
		c.countsOnRecord(env.NodeID(e.Node))
	}
}

// Verdicts are those of the step oracle, of the judges of what the config server and donors send
// and of what shards answer, and of who judges times.
func (c *cluster) Verdicts() []checkers.Verdict {
	all := append(c.oracle.Verdicts(), c.merges.Judge.Verdict(), c.signals.Verdict(),
		c.warnings.Verdict(), c.admission.Verdict())
	return slices.Concat(all, c.omissions.Verdicts(), c.timed.Verdicts(),
		c.committed.Records.Verdicts())
}

// logOf is the log of a node, nil while it is down.
func (c *cluster) logOf(node string) signals.Log {
	if m := c.Member(env.NodeID(node)); m != nil {
		return logs.Donor{Member: m}
	}
	return nil
}

// clockOf is what a node measures limits by; 0 while it is down.
func (c *cluster) clockOf(node string) time.Duration {
	if n := c.world.Node(env.NodeID(node)); n != nil {
		return time.Duration(n.Mono())
	}
	return 0
}

// changesHeartbeats: operators change in the run by what members know that their primary lives.
func (c *cluster) changesHeartbeats() bool {
	return slices.ContainsFunc(c.scenario.Commands, func(o scenario.Command) bool {
		return o.Do == commandkind.SetParameter &&
			(o.Name == "electionTimeoutMillis" || o.Name == "heartbeatIntervalMillis")
	})
}

// Linger is how long a router goes on with what a client has given up.
func (c *cluster) Linger() time.Duration { return 2 * c.settings.AttemptTimeout }

// ClusterTime is the newest cluster time that a replica set has given to an entry.
func (c *cluster) ClusterTime() uint64 { return uint64(c.Time()) }

// Loaded gives a document the newest time that the primary of its shard has given to an entry.
func (c *cluster) Loaded(ns string) map[int64]uint64 {
	by := map[int64]uint64{}
	for _, set := range c.Topology().ShardNames() {
		m := c.Member(c.Primary(set))
		if m == nil {
			continue
		}
		m.Store().Scan(ns, m.Store().Applied(), func(_ string, doc bson.Raw) bool {
			by[numberOf(doc)] = uint64(m.AppliedTS())
			return true
		})
	}
	return by
}

// operatorConnection is from where operators give commands: the config server, the shards and a
// router.
type operatorConnection struct {
	*cluster
	ep   *rpc.Endpoint
	sets map[string]*rpc.Set
}

// operator makes the node one of an operator. It is called from the node's boot.
func (c *cluster) operator(node env.Node) operatorConnection {
	ep, sets := c.Operator(node)
	return operatorConnection{c, ep, sets}
}

// Disturbed tells the oracle which replica sets a fault of chance hits: that of a node and, if it
// is a message, that of the other end.
func (c *cluster) Disturbed(node, to env.NodeID) {
	c.oracle.Disturbed(setOf(node))
	if to != "" {
		c.oracle.Disturbed(setOf(to))
	}
	c.timed.Disturbed(node, to, c.world.Now())
}
