package shardstore

import (
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// balancing follows the balancer's rounds.
type balancing struct {
	// whole is true when the newest round began when nothing was in progress, and has chosen
	// nothing so far; settled when it has ended like that.
	whole, settled bool
	// underWay are the requests that have not ended, of the newest term.
	underWay map[string]bool
	term     uint64
}

// follow takes the next event.
func (b *balancing) follow(e *trace.Event) {
	switch e.Kind {
	case trace.BalancerRound, trace.BalancerChose, trace.BalancerDone:
	case trace.BalancerState, trace.ClusterChanged:
		b.whole, b.settled = false, false
		return
	default:
		return
	}
	if e.Term > b.term {
		*b = balancing{term: e.Term, underWay: map[string]bool{}}
	}
	switch {
	case e.Term < b.term:
	case e.Kind == trace.BalancerChose:
		b.underWay[e.Request()] = true
		b.whole, b.settled = false, false
	case e.Kind == trace.BalancerDone:
		delete(b.underWay, e.Request())
	case e.RoundPhase() == trace.RoundBegun:
		b.whole = len(b.underWay) == 0
	default:
		b.settled = b.whole
	}
}

// Quiesce lets the balancer finish: an operator makes it go by the policy and at all times, waits
// until everything that was begun is at its end, removals of shards too, and a whole round finds
// nothing to do, and stops it.
func (c *cluster) Quiesce() (name string, do func(env.Task)) {
	if !c.Chooses() {
		return "", nil
	}
	c.settling = true
	return "the balancer's last rounds", func(t env.Task) {
		o := c.operator(t.Node())
		o.lead(t)
		o.retryUntil(t, &command.BalancerStop{})
	}
}

// lead has the balancer run until a whole round has found nothing to do, when nothing else is under
// way.
func (o operatorConnection) lead(t env.Task) {
	o.regular(t)
	o.release(t)
	o.makeRoom(t)
	o.retryUntil(t, &command.PutSetting{ID: configsvr.BalancerSetting}) // nobody has set anything
	if o.scenario.Protocol == "4.2" {
		o.enlarge(t)
	}
	o.retryUntil(t, &command.BalancerStart{})
	for o.world.InProgress() > 1 && t.Sleep(pollEvery) == nil {
		o.lift(t)
	}
	o.lift(t)
	o.release(t)
	o.makeRoom(t) // for what clients have written since
	o.awaitDefragmented(t)
	o.awaitBalance(t)
	o.awaitMerges(t)
}

// endless gives up defragmentations where chunks are joined only when they have been on their
// shards for longer than a run can wait; nil leaves them as they are.
func (o operatorConnection) endless() *bool {
	const longestWait = 2 * time.Second
	if o.longestHistory() <= longestWait {
		return nil
	}
	off := false
	return &off
}

// awaitDefragmented waits until the balancer has ended what operators have begun.
func (o operatorConnection) awaitDefragmented(t env.Task) {
	fragmented := func(c scenario.Collection) bool {
		table, err := o.Catalog(c.NS)
		return err == nil && table.Collection().Defragment
	}
	for slices.ContainsFunc(o.scenario.Collections, fragmented) && t.Sleep(pollEvery) == nil {
	}
}

// release has every collection balanced, and those whose defragmentation has no end not
// defragmented any more, whatever commands have said until now. One with documents of the same _id
// stays as it is: the balancer might try for ever to bring such documents together, which no shard
// accepts.
func (o operatorConnection) release(t env.Task) {
	for i := range o.scenario.Collections {
		if c := &o.scenario.Collections[i]; !o.unsharded(c) {
			on := c.IDs == 0
			o.retryUntil(t, &command.ConfigureCollectionBalancing{
				NS: c.NS, Enabled: &on, Defragment: o.endless(),
			})
		}
	}
}

// makeRoom raises the sizes of chunks of collections that have documents larger than those. The
// balancer would move such a document back and forth for ever, as it takes what it moves for less
// than what shards differ by (errata E2).
func (o operatorConnection) makeRoom(t env.Task) {
	for i := range o.scenario.Collections {
		c := &o.scenario.Collections[i]
		if o.unsharded(c) {
			continue
		}
		if room := o.roomFor(c.NS); room != nil {
			o.retryUntil(t, &command.ConfigureCollectionBalancing{NS: c.NS, ChunkBytes: room})
		}
	}
}

// roomFor is a size of chunks for a collection that has documents larger than chunks; nil for any
// other.
func (o operatorConnection) roomFor(ns string) *int64 {
	table, missing := o.Catalog(ns)
	holdings, err := o.cluster.Cluster.Holdings(ns)
	if missing != nil || err != nil {
		return nil
	}
	var largest int64
	for _, h := range holdings {
		largest = max(largest, h.Largest)
	}
	sizes := o.chunkSizes()
	if own := table.Collection().ChunkBytes; own > 0 {
		sizes = []int64{own}
	}
	if largest <= slices.Min(sizes) {
		return nil
	}
	room := max(largest, slices.Max(sizes))
	return &room
}

// enlarge lets chunks of any size move: 4.2 has no other way to move one from a shard that drains
// when it cannot be split.
func (o operatorConnection) enlarge(t env.Task) {
	const bytes = 128 << 20
	o.retryUntil(t, &command.PutSetting{
		ID:  "chunksize",
		Doc: raw(bson.D{{Key: "value", Value: int64(bytes)}}),
	})
	for _, name := range o.Topology().ShardNames() {
		o.set(t, o.Members(name), "chunkSizeBytes", fmt.Sprint(bytes))
	}
}

// lift takes the limits of shards away, as one that has to be emptied may have nowhere else to go.
func (o operatorConnection) lift(t env.Task) {
	c := o.oracle.Cluster()
	if !c.Knows() {
		return
	}
	for _, name := range c.Shards() {
		if c.MaxBytes(name) > 0 {
			_ = o.once(t, &command.LimitShard{Name: name})
		}
	}
}

// patience is the shortest time of each setting with which a migration can be expected to succeed.
var patience = []struct {
	setting string
	least   time.Duration
}{
	{"moveChunkCatchUpMaxWaitMillis", 5 * time.Second},
	{"moveRangeMaxWaitMillis", 20 * time.Second},
	{"criticalSectionWaitMillis", 2 * time.Second},
	{"receiveChunkWaitForRangeDeleterTimeoutMS", 2 * time.Second},
	{"migrationLockAcquisitionMaxWaitMS", 500 * time.Millisecond},
	{"writeConcernTimeoutMillis", 2 * time.Second},
	{"socketTimeoutMS", 2 * time.Second},
	{"timeoutMS", 5 * time.Second},
	// What a donor has split, since it is too big to move, must not be merged again before the next
	// round asks for a part of it.
	{"autoMergerIntervalSecs", 5 * time.Second},
}

// regular ends the mode in which the balancer moves at random, and settings with which no migration
// can succeed: times that are too short, and one that waits for history as long as it may take to
// catch up altogether.
func (o operatorConnection) regular(t env.Task) {
	o.keepImpatient()
	o.set(t, o.Members(configsvr.Name), "balancerRandomMigrations", "0")
	for _, name := range o.Topology().ShardNames() {
		o.set(t, o.Members(name), "sessionModsWaitMillis", "20ms")
	}
	for _, p := range patience {
		if o.shorter(p.setting, p.least) {
			o.set(t, o.Servers(), p.setting, p.least.String())
		}
	}
}

// BePatient gives clients time, which servers have no part in: where every write splits a chunk,
// routers may need more than one try for it. What a router with little time gives up meanwhile is
// asked of it again.
func (c *cluster) BePatient() {
	c.keepImpatient()
	for _, p := range patience {
		if own := p.setting == "socketTimeoutMS" || p.setting == "timeoutMS"; own &&
			c.shorter(p.setting, p.least) {
			for _, s := range c.sessions {
				s.asksAgain = s.asksAgain || p.setting == "socketTimeoutMS"
			}
			if err := c.settings.Set(p.setting, p.least.String()); err != nil {
				panic("shardstore: " + err.Error())
			}
		}
	}
}

func (c *cluster) keepImpatient() {
	if before := c.settings; c.impatient == nil {
		c.impatient = &before
	}
}

func (c *cluster) shorter(setting string, least time.Duration) bool {
	now, _ := c.settings.Get(setting)
	wait, err := time.ParseDuration(now)
	if err != nil {
		panic(fmt.Sprintf("shardstore: setting %s is %q: %v", setting, now, err))
	}
	return wait < least
}

// set changes a setting of servers, now and for their processes that start later.
func (o operatorConnection) set(t env.Task, nodes []env.NodeID, name, value string) {
	if err := o.settings.Set(name, value); err != nil {
		panic("shardstore: " + err.Error())
	}
	for _, id := range nodes {
		for {
			_, err := rpc.Call[command.Done](t, o.ep, id,
				&command.SetParameter{Name: name, Value: value}, time.Second)
			if err == nil || t.Sleep(retryEvery) != nil {
				break
			}
		}
	}
}
