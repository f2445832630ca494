package shardstore

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness/shardstore/held"
	"github.com/shardproof/shardproof/harness/shardstore/leading"
	"github.com/shardproof/shardproof/harness/shardstore/logs"
	"github.com/shardproof/shardproof/harness/shardstore/scans"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/rpc"
)

// Rule: what a server answers to another server or to an operator rests on what a majority of its
// set has, and on a leadership that was real at some moment of the request. Everything that was in
// the server's log when the request arrived may have been read for the answer; what was written for
// it is part of it. And what a new primary has others do rests on what it has taken over, so it
// asks for nothing before a majority has the beginning of its term; nor does any primary ask for
// the next step of what it has on record before a majority has the record. Judged from outside, so
// no server needs to say what it has read.

// Sent has the oracle judge when a primary asks.
func (c *cluster) Sent(x *env.Exchange) {
	asked, ok := x.Request.(*rpc.Envelope)
	if !ok {
		return
	}
	if isConfig(x.From) {
		c.configAsks(x)
	}
	c.routed(x, asked.Body)
	c.knowsTime(x.From, asked)
	c.asksPlacement(x, asked.Body)
	if !primariesAsk(asked.Body) {
		return
	}
	m := c.Member(x.From)
	if m == nil || !m.Leading() {
		return
	}
	about, ns := nameOf(asked.Body), subject(asked.Body)
	if m.Committed().Term < m.Term() {
		c.oracle.AskedEarly(string(x.From), about, ns, m.Term())
	}
	h := &held.Log{Committed: m.Committed().Index}
	if lacking := h.LacksEntry("it wrote", x.Wrote); lacking != "" && c.restsOnRecord(asked.Body) {
		c.oracle.AskedUnkept(string(x.From), about, ns, lacking)
	}
	if lacking := c.lacksForSuccessor(m, asked.Body); lacking != "" {
		c.oracle.AskedUnkept(string(x.From), about, ns, lacking)
	}
	switch req := asked.Body.(type) {
	case *command.ShardsvrMoveRange:
		c.oracle.PassesOn(req.MigrationOf)
		c.disks.Wanted(req.MigrationOf, req.Throttle)
		c.admission.Asked(req.MigrationOf, req.ForceJumbo != command.RefuseJumbo, req.ChunkBytes)
	case *command.RecvChunkStart:
		c.startsToReceive(m, req)
		c.oracle.Starts(req.Migration, req.Session, req.Lsid, req.Txn)
	case *command.AdvanceTxn:
		c.oracle.Fences(string(x.From), req.Lsid, req.Txn)
	case *command.ShardsvrParticipate:
		c.oracle.StepAsked(string(x.From), stepOf(req))
	}
}

// configAsks shows what a member of the config server asks for to those who judge why.
func (c *cluster) configAsks(x *env.Exchange) {
	m, node, own := c.Member(x.From), c.world.Node(x.From), c.SettingsOf(x.From)
	if m != nil && node != nil && own != nil {
		c.merges.Sent(x, setOf(x.To), m, time.Duration(node.Now())+own.LocalTimeOffset)
	}
}

// restsOnRecord reports whether a request is a step of what its sender has on record, so that its
// successor can go on with it or take it back. The steps of a migration between its critical
// section and its end are none, nor is the commit of a database's move in 4.2: what is on record
// before them is a signal to secondaries, which nothing waits for, or rests on the decision, which
// any successor finds. But what the recipient is told to delete, nobody else has any more, such as
// its count of orphans (protocol 9.1).
func (c *cluster) restsOnRecord(asked env.Message) bool {
	switch req := asked.(type) {
	case *command.RangeTaskOp:
		return req.Op == "delete"
	case *command.CommitMovePrimary:
		return protocolOf(c.scenario).CoordinatesMovePrimary()
	case *command.ShardsvrParticipate, *command.ShardsvrDescribe, *command.ShardsvrJoinCluster,
		*command.ShardsvrLeaveCluster, *command.ShardsvrMovePrimary, *command.AssertNoCollections,
		*command.CloneCatalogData, *command.DropClonedData, *command.ImportSessions,
		*command.RecvChunkStart, *command.RecvChunkAbort, *command.RecvChunkReleaseCritSec:
		return true
	}
	return false
}

// Arrived notes what the server of a request has whose answer is to last, and when it came.
func (c *cluster) Arrived(x *env.Exchange) {
	c.timed.Arrived(x)
	asked, ok := x.Request.(*rpc.Envelope)
	if !ok {
		return
	}
	if change, is := asked.Body.(*command.LogChange); is {
		c.oracle.ChangeAsked(logs.Asked(x.From, change))
	}
	m, lasting := c.Member(x.To), lasts(asked.Body)
	if m != nil {
		x.Mark.Applied, x.Mark.Newest = scans.OldestFor(m, asked.Body), m.Applied().Index
	}
	c.leading.Arrived(x, asked.Body, c.world.Now())
	if m != nil && (lasting || leading.ByUsers(asked.Body)) && m.Leading() &&
		c.deposed(m.Name(), m.Term()) {
		x.Mark.Deposed = m.Term()
	}
	if !lasting {
		return
	}
	c.seeFirst(x, asked.Body)
	if m != nil {
		if move, moves := asked.Body.(*command.MoveRange); moves && m.Leading() {
			c.oracle.Requests(move.Name)
		}
		x.Mark.Applied = m.Applied().Index
	}
}

// deposed reports whether a majority of a set is in a later term than one of its leaders: so it
// will stay.
func (c *cluster) deposed(set string, term uint64) bool {
	later, members := 0, c.Members(set)
	for _, id := range members {
		if m := c.Member(id); m != nil && m.Term() > term {
			later++
		}
	}
	return later > len(members)/2
}

// lastingAnswer has the oracle judge an answer that is to last.
func (c *cluster) lastingAnswer(x *env.Exchange, request *rpc.Envelope) {
	m, asked := c.Member(x.To), request.Body
	if m == nil || !lasts(asked) {
		return
	}
	h := &held.Log{
		Store: m.Store(), Committed: m.Committed().Index, Entry: m.Entry, Tables: c.Tables(),
	}
	about, lacking := h.Lacks(asked)
	if about == "" {
		about = nameOf(asked)
	}
	ns := subject(asked)
	if _, cached := asked.(*command.FlushRoutingTableCacheUpdates); lacking == "" && !cached {
		lacking = cmp.Or(h.LacksEntry("it wrote", x.Wrote), logs.Undone(m, x.WroteIn, x.Wrote))
	}
	if lacking == "" && (m.Leading() || !reshapes(asked)) {
		lacking = cmp.Or(h.LacksEntry("when the request arrived it had", x.Mark.Applied),
			c.untimed(x, request))
	}
	if lacking != "" {
		c.oracle.Kept(string(x.To), about, ns, lacking, c.logsOf(x.To, h.Committed))
	}
}

// deposedAnswer has the oracle judge an answer of a member that had been deposed when the request
// arrived, and should have found out before it answered; and one without proof that it was not.
func (c *cluster) deposedAnswer(x *env.Exchange, asked, said env.Message) {
	m := c.Member(x.To)
	if w, writes := said.(*command.Written); writes && w.ConcernError != "" {
		return
	}
	if m != nil && x.Mark.Deposed != 0 && m.Term() == x.Mark.Deposed {
		c.oracle.AnsweredDeposed(string(x.To), nameOf(asked), subject(asked), x.Mark.Deposed,
			c.newest(m.Name()))
	}
	proves := lasts(asked) || leading.ByUsers(asked) ||
		leading.ByServers(x.To, asked, protocolOf(c.scenario).CoordinatesMigrations())
	if proves && m != nil && m.Leading() &&
		c.leading.Lacks(x, asked, m.Term(), c.Members(m.Name())) {
		c.oracle.AnsweredUnproven(string(x.To), nameOf(asked), subject(asked), m.Term())
	}
}

// reshapes reports whether a request changes chunks without their documents. A shard that was
// deposed meanwhile answers it by the routing table of the config server, and by nothing in its own
// log, which may have been rolled back.
func reshapes(asked env.Message) bool {
	switch asked.(type) {
	case *command.ShardsvrSplitChunk, *command.ShardsvrMergeChunks, *command.ShardsvrMergeAllChunks:
		return true
	}
	return false
}

// servedAnswer has the oracle judge a primary that has served a user.
func (c *cluster) servedAnswer(x *env.Exchange, asked, said env.Message) {
	switch asked.(type) {
	case *command.Find, *command.GetMore, *command.Insert, *command.Update, *command.Delete,
		*command.FindAndModify, *command.ReadChanges:
	default:
		return
	}
	m := c.Member(x.To)
	if m != nil && m.IsPrimary() && m.Committed().Term < m.Term() {
		c.oracle.ServedEarly(string(x.To), nameOf(asked), subject(asked), m.Term())
	}
	if m != nil && m.IsPrimary() && goesByTable(asked, said) {
		c.oracle.ServedOwner(string(x.To), nameOf(asked), subject(asked), int64(x.Began))
	}
}

// goesByTable reports whether a shard has answered by what it takes for its ranges, and not by the
// record of what it executed before.
func goesByTable(asked, said env.Message) bool {
	if find, is := asked.(*command.Find); is && find.Concern == command.Available {
		return false
	}
	w, wrote := said.(*command.Written)
	p := placeOf(asked)
	return p.Versioned && !p.Database && !(wrote && w.Retried)
}

// foundNothing tells the oracle of a statement that its shard had no record of, and that changed
// nothing there.
func (c *cluster) foundNothing(x *env.Exchange, asked, said env.Message) {
	w, writes := said.(*command.Written)
	if !writes || w.Retried || x.Wrote != 0 || isRouter(x.To) {
		return
	}
	if of, _ := writeOf(asked); of.ID != "" {
		c.oracle.FoundNothing(string(x.To), subject(asked), of.ID, of.Txn, int(of.Stmt))
	}
}

// writeOf is the statement of a write, and the write concern that it asks for.
func writeOf(asked env.Message) (of command.Session, wants command.WriteConcern) {
	switch req := asked.(type) {
	case *command.Insert:
		return req.Session, req.Concern
	case *command.Update:
		return req.Session, req.Concern
	case *command.Delete:
		return req.Session, req.Concern
	case *command.FindAndModify:
		return req.Session, req.Concern
	}
	return of, wants
}

// catalogAnswer has the oracle judge what a member of the config server says of the catalog:
// whatever it keeps in memory, it answers by its log, and as of what was asked for.
func (c *cluster) catalogAnswer(x *env.Exchange, asked *rpc.Envelope, said env.Message) {
	after, reads := held.AsOf(asked.Body)
	m := c.Member(x.To)
	if !reads || m == nil {
		return
	}
	h := &held.Log{Store: m.Store(), Committed: m.Committed().Index, Tables: c.Tables()}
	differs := cmp.Or(h.Differs(asked.Body, said), held.TooOld(after, m.CommittedTS()))
	if differs != "" {
		c.oracle.ToldOther(string(x.To), nameOf(asked.Body), subject(asked.Body), differs)
	}
}

// untimed says what config time a shard should have on record when it answers, and no majority of
// it has: its next primary might read a catalog from before what the answer rests on.
func (c *cluster) untimed(x *env.Exchange, asked *rpc.Envelope) string {
	switch asked.Body.(type) {
	case *command.ShardsvrParticipate, *command.ShardsvrJoinCluster, *command.JoinMigrations:
	default:
		return ""
	}
	kept := hlc.Timestamp(c.keptTime(string(x.To)))
	if kept >= asked.Clock.Config {
		return ""
	}
	return fmt.Sprintf("it was asked at config time %v, and a majority has %v on record",
		asked.Clock.Config, kept)
}

// newest says who leads a set by now; empty when nobody does.
func (c *cluster) newest(set string) string {
	m := c.Member(c.Primary(set))
	if m == nil {
		return ""
	}
	return fmt.Sprintf(", of which %s is primary of term %d by now", c.Primary(set), m.Term())
}

// primariesAsk reports whether only primaries send a request that others go by. Any member asks who
// is the primary, or what the catalog has, and may have begun to before it was elected. A clean-up
// of 4.2 that began in an earlier term may still wait for migrations, which changes nothing, and
// add its line to the changelog, which nobody goes by; then it finds that the term is over. A
// change of chunks is what the request said, whenever that began, and the config server judges it.
func primariesAsk(asked env.Message) bool {
	switch asked.(type) {
	case *command.FlushRoutingTableCacheUpdates, *command.JoinMigrations, *command.LogChange,
		*command.CommitChunkSplit, *command.CommitChunksMerge, *command.CommitMergeAllChunks:
		return false
	case *command.RecvChunkStart, *command.RecvChunkAbort, *command.RecvChunkCommit,
		*command.CloneCatalogData, *command.ShardsvrMovePrimary, *command.ShardsvrMoveRange:
		return true
	}
	return lasts(asked)
}

// lasts reports whether the answer to a request is one that servers or operators go by later. The
// others are answered from memory, are asked again before anything depends on them, have a read or
// write concern of their own, or wait for the end of what an earlier request has begun, which knows
// nothing of what was there when they arrived.
func lasts(asked env.Message) bool {
	switch asked.(type) {
	case *command.ShardsvrParticipate, *command.ShardsvrDescribe, *command.ShardsvrJoinCluster,
		*command.ShardsvrLeaveCluster, *command.ShardsvrMergeChunks, *command.ShardsvrSplitChunk,
		*command.ShardsvrMergeAllChunks,
		*command.AdvanceTxn, *command.AssertNoCollections, *command.AwaitRangeDeletion,
		*command.CleanupOrphaned, *command.DropClonedData,
		*command.ImportSessions, *command.JoinMigrations, *command.RangeTaskOp,
		*command.RecvChunkReleaseCritSec,
		*command.FlushRoutingTableCacheUpdates:
		return true
	case *command.AddShard, *command.AddShardToZone, *command.BalancerCollectionStatus,
		*command.BalancerStart, *command.BalancerStatus, *command.BalancerStop,
		*command.ClearJumboFlag, *command.CommitChunkMigration, *command.CommitChunkSplit,
		*command.CommitChunksMerge, *command.CommitMergeAllChunks, *command.CommitMovePrimary,
		*command.ConfigureCollectionBalancing, *command.CreateDatabase, *command.CreateIndex,
		*command.DropCollection, *command.DropIndex, *command.EnsureChunkVersionIsGreaterThan,
		*command.GetSplitPolicy, *command.LimitShard, *command.LogChange, *command.MovePrimary,
		*command.MoveRange, *command.PutSetting, *command.RemoveShard,
		*command.RemoveShardFromZone, *command.RenameCollection, *command.ShardCollection,
		*command.UpdateZoneKeyRange:
		return true
	}
	return false
}

// logsOf is up to which index the members of a set have written, and up to which one of them knows
// that a majority has: what it has beyond that may be lost.
func (c *cluster) logsOf(id env.NodeID, committed uint64) string {
	set, _, _ := strings.Cut(string(id), ".")
	var logs []string
	for _, other := range c.Servers() {
		if of, _, _ := strings.Cut(string(other), "."); of != set {
			continue
		}
		if m := c.Member(other); m != nil {
			logs = append(logs, fmt.Sprintf("%s to index %d", other, m.Applied().Index))
		}
	}
	return fmt.Sprintf("the log reaches on %s; %s knows that a majority has it to index %d",
		strings.Join(logs, ", on "), id, committed)
}
