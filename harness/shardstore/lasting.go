package shardstore

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// Rule: what a server answers to another server or to an operator rests on what a majority of its
// set has, and on a leadership that was real at some moment of the request. Everything that was in
// the server's log when the request arrived may have been read for the answer; what was written for
// it is part of it. And what a new primary has others do rests on what it has taken over, so it
// asks for nothing before a majority has the beginning of its term. Judged from outside, so no
// server needs to say what it has read.

// Sent has the oracle judge when a primary asks.
func (c *cluster) Sent(x *env.Exchange) {
	asked, ok := x.Request.(*rpc.Envelope)
	if !ok || !primariesAsk(asked.Body) {
		return
	}
	if m := c.Member(x.From); m != nil && m.Leading() && m.Committed().Term < m.Term() {
		c.oracle.AskedEarly(string(x.From), nameOf(asked.Body), subject(asked.Body), m.Term())
	}
}

// Arrived notes what the server of a request has whose answer is to last.
func (c *cluster) Arrived(x *env.Exchange) {
	asked, ok := x.Request.(*rpc.Envelope)
	if !ok || !lasts(asked.Body) {
		return
	}
	if m := c.Member(x.To); m != nil {
		x.Mark.Applied = m.Applied().Index
		if m.Leading() && c.deposed(m.Name(), m.Term()) {
			x.Mark.Deposed = m.Term()
		}
	}
}

// deposed reports whether a majority of a set is in a later term than one of its leaders: so it
// will stay.
func (c *cluster) deposed(set string, term uint64) bool {
	later, members := 0, c.Topology().MembersOf(set)
	for _, id := range members {
		if m := c.Member(id); m != nil && m.Term() > term {
			later++
		}
	}
	return later > len(members)/2
}

// lastingAnswer has the oracle judge an answer that is to last.
func (c *cluster) lastingAnswer(x *env.Exchange, asked env.Message) {
	m := c.Member(x.To)
	if m == nil || !lasts(asked) {
		return
	}
	h := &held{m.Store(), m.Committed().Index}
	about, ns, lacking := lackedOf(asked, h)
	if _, cached := asked.(*command.FlushRoutingTableCacheUpdates); lacking == "" && !cached {
		lacking = h.lacksEntry("it wrote", x.Wrote)
	}
	if lacking == "" {
		lacking = h.lacksEntry("when the request arrived it had", x.Mark.Applied)
	}
	if lacking != "" {
		c.oracle.Kept(string(x.To), about, ns, lacking, c.logsOf(x.To, h.committed))
	}
	if x.Mark.Deposed != 0 && m.Term() == x.Mark.Deposed {
		c.oracle.AnsweredDeposed(string(x.To), about, ns, x.Mark.Deposed, c.newest(m.Name()))
	}
}

// newest says who leads a set by now; empty when nobody does.
func (c *cluster) newest(set string) string {
	m := c.Member(c.Primary(set))
	if m == nil {
		return ""
	}
	return fmt.Sprintf(", of which %s is primary of term %d by now", c.Primary(set), m.Term())
}

// primariesAsk reports whether only primaries send a request. Any member asks who is the primary,
// or what the catalog has, and may have begun to before it was elected.
func primariesAsk(asked env.Message) bool {
	switch asked.(type) {
	case *command.FlushRoutingTableCacheUpdates:
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

// held is what a member has on disk, and the newest entry of it that a majority has.
type held struct {
	store     *store.Store
	committed uint64
}

// lackedOf says what a request was about, and what no majority has of what it asked for and was
// answered to be done; lacking is empty when it has all, or when that cannot be told by documents.
func lackedOf(asked env.Message, h *held) (about, ns, lacking string) {
	switch req := asked.(type) {
	case *command.ShardsvrParticipate:
		return "the step " + string(req.Step), req.Collection.NS, h.lacksStep(req)
	case *command.ShardsvrJoinCluster:
		return "that it joins", "", h.lacksOrder(int64(req.At))
	case *command.ShardsvrLeaveCluster:
		return "that it may leave", "", h.lacksConsent(int64(req.At))
	}
	return nameOf(asked), subject(asked), ""
}

// lacksEntry is for an entry that was there, or was written, before the answer.
func (h *held) lacksEntry(how string, index uint64) string {
	if index <= h.committed {
		return ""
	}
	return fmt.Sprintf("%s entry %d in its log, and a majority has what comes up to entry %d",
		how, index, h.committed)
}

// lacksStep: while the operation is not over, nobody else blocks its collection, or makes or ends
// one of that name. A step that found nothing to do changes nothing, so what is compared is what
// the member has with what a majority has.
func (h *held) lacksStep(req *command.ShardsvrParticipate) string {
	ns := req.Collection.NS
	if h.released(ns) >= req.Operation {
		return ""
	}
	switch req.Step {
	case command.ParticipantRelease:
		return fmt.Sprintf("a majority knows of no operation on %s after number %d that is over",
			ns, h.released(ns))
	case command.ParticipantBlock:
		if h.document(shard.SectionsNS, ns) == nil {
			return "a majority knows of nobody that blocks " + ns
		}
	case command.ParticipantCreate, command.ParticipantDrop, command.ParticipantRename:
		now, kept := h.has(ns, store.Latest), h.has(ns, h.committed)
		if now != kept && now == (req.Step == command.ParticipantCreate) {
			return fmt.Sprintf("%s exists: %t; by what a majority has: %t", ns, now, kept)
		}
	}
	return ""
}

// lacksConsent: an order to leave that is repeated while the shard drains finds its consent there,
// as no order to join is younger than the first of them.
func (h *held) lacksConsent(at int64) string {
	if leaving, _ := h.membership().Lookup("leaving").BooleanOK(); leaving {
		return ""
	}
	return h.lacksOrder(at)
}

// lacksOrder: a later order stands for an earlier one.
func (h *held) lacksOrder(at int64) string {
	kept, _ := h.membership().Lookup("at").Int64OK()
	if kept >= at {
		return ""
	}
	return fmt.Sprintf("the newest order to join or to leave that a majority knows is of %s, not %s",
		hlc.Timestamp(kept), hlc.Timestamp(at))
}

func (h *held) membership() bson.Raw { return h.document(shard.VersionNS, shard.MembershipID) }

// released is the newest operation on a collection that a majority knows to be over.
func (h *held) released(ns string) int64 {
	n, _ := h.document(shard.ParticipationsNS, ns).Lookup("released").Int64OK()
	return n
}

func (h *held) document(ns, id string) bson.Raw {
	return h.store.Get(ns, string(key.String(id)), h.committed)
}

func (h *held) has(ns string, at uint64) bool {
	_, exists := h.store.Pattern(ns, at)
	return exists
}
