package shardstore

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/batches"
	"github.com/shardproof/shardproof/checkers/omissions"
	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/harness/shardstore/held"
	"github.com/shardproof/shardproof/harness/shardstore/logs"
	"github.com/shardproof/shardproof/harness/shardstore/preference"
	"github.com/shardproof/shardproof/harness/shardstore/reach"
	"github.com/shardproof/shardproof/harness/shardstore/replies"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
)

// Exchanged has the oracle judge whose documents an answer to a query has, and whether what a shard
// says that it has done will last. Routers return what shards have returned to them.
func (c *cluster) Exchanged(x *env.Exchange) {
	if x.Served {
		c.timed.Served(x, c.world.Now())
	}
	asked, _ := x.Request.(*rpc.Envelope)
	said, _ := x.Reply.(*rpc.Envelope)
	if asked == nil {
		return
	}
	if x.Served && said != nil {
		c.knowsTime(x.To, said)
	}
	err := refusal(x.Err, said)
	if !x.Served {
		c.callEnded(x, asked.Body, said, err)
		return
	}
	c.doubted(x, asked.Body, said, err)
	if err != nil || said == nil {
		c.refusedWrite(x, asked.Body, err)
		if err != nil {
			c.refusedIdly(x, asked.Body, err)
			c.refusedPast(x, asked, err)
		}
		return
	}
	c.recordedAnswer(x, asked.Body, said.Body)
	c.grantedAnswer(x, asked.Body)
	c.lastingAnswer(x, asked)
	c.deposedAnswer(x, asked.Body, said.Body)
	c.servedAnswer(x, asked.Body, said.Body)
	c.writtenAnswer(x, asked.Body, said.Body)
	c.foundNothing(x, asked.Body, said.Body)
	switch req := asked.Body.(type) {
	case *command.ShardsvrParticipate:
		c.oracle.StepTaken(setOf(x.To), stepOf(req))
	case *command.CollectionOptions:
		c.oracle.LetBegin(string(x.To), req.Session)
	case *command.CloneCatalogData:
		c.oracle.Arrived(req.Move, c.committed.Arrived(setOf(x.To), req.Move))
	}
	c.catalogAnswer(x, asked, said.Body)
	c.flushedAnswer(x, asked.Body, said.Body)
	batch, ok := said.Body.(*command.Batch)
	if !ok || strings.HasPrefix(string(x.To), "router") {
		return
	}
	c.snapshotAnswer(x, asked.Body, batch)
	c.placedAnswer(x, asked.Body)
	q, unknown := c.admitted(x.To, asked.Body, batch)
	c.wholeAnswer(x, asked.Body, batch, &q)
	c.nextBatch(x, asked.Body)
	if unknown != "" {
		c.oracle.NotJudged(unknown, len(batch.Docs))
		return
	}
	c.oracle.Returned(&q, c.keysOf(q.NS, batch.Docs)...)
}

// wholeAnswer has it judged what a shard leaves out of its answer to a query, once it is complete.
// Of an unsharded collection everything belongs to the shard that lets the query in; what shards
// had of it at an earlier time may be somewhere else.
func (c *cluster) wholeAnswer(
	x *env.Exchange, asked env.Message, batch *command.Batch, q *oracle.Admitted,
) {
	m := c.Member(x.To)
	if m != nil {
		if ns, entry := c.scans.Outlived(m, m.IsPrimary(), x, asked, batch); entry != 0 {
			c.omissions.Outlived(string(x.To), ns, entry)
		}
	}
	scan := c.scans.Answered(x, asked, batch)
	if m == nil || scan == nil || !scan.Find.Place.Versioned ||
		scan.Find.Concern == command.Available ||
		scan.Find.Concern == command.Snapshot && scan.Find.Place.Database {
		return
	}
	place := scan.Find.Place
	left, known := scan.LeftOut(m, !m.IsPrimary() && c.mayLose(), func(index uint64) bool {
		return m.IsPrimary() || place.Database ||
			held.CopyShows(m.Store(), scan.Find.NS, index, place.Shard)
	})
	if !known {
		return
	}
	a := omissions.Answer{
		Node: string(x.To), NS: scan.Find.NS, Returned: scan.Returned(),
		Version: placementText(scan.Find.Place),
	}
	for _, k := range c.keysOf(a.NS, left) {
		if scan.Find.Place.Database || c.oracle.Owns(q, k) {
			a.Left = append(a.Left, key.Key(k).String())
		}
	}
	c.omissions.Answered(&a)
}

// flushedAnswer has the copy of a routing table judged, as it was when a primary had brought it up
// to date.
func (c *cluster) flushedAnswer(x *env.Exchange, asked, said env.Message) {
	req, flushes := asked.(*command.FlushRoutingTableCacheUpdates)
	done, flushed := said.(*command.Flushed)
	m := c.Member(x.To)
	if !flushes || !flushed || m == nil || done.At.Index < m.Store().Oldest() {
		return
	}
	c.omissions.Flushed(string(x.To), req.NS, held.LacksCopy(m.Store(), req.NS, done.At.Index))
}

// writtenAnswer has the oracle judge on which disks a write is that is acknowledged.
func (c *cluster) writtenAnswer(x *env.Exchange, asked, said env.Message) {
	m := c.Member(x.To)
	w, writes := said.(*command.Written)
	if m == nil || !writes || w.ConcernError != "" || x.Wrote == 0 {
		return
	}
	_, wants := writeOf(asked)
	lacking := logs.Undone(m, x.WroteIn, x.Wrote)
	if _, term, there := m.Entry(x.Wrote); there && lacking == "" {
		lacking = c.disks.Written(oplog.Time{Term: term, Index: x.Wrote}, wants, c.Members(m.Name()))
	}
	if lacking != "" {
		c.oracle.WrittenUnkept(string(x.To), nameOf(asked), subject(asked), lacking)
	}
}

// routerOf is the process of a router that sends a request to a shard.
func (c *cluster) routerOf(x *env.Exchange) (of preference.Router, routes bool) {
	node := c.world.Node(x.From)
	if node == nil || !isRouter(x.From) {
		return of, false
	}
	return preference.Router{
		Node: x.From, Incarnation: node.Incarnation(), Set: setOf(x.To),
	}, true
}

// routed has the oracle judge to which member a router sends a read, and from when on it reads what
// change streams deliver.
func (c *cluster) routed(x *env.Exchange, asked env.Message) {
	of, routes := c.routerOf(x)
	if !routes {
		return
	}
	if req, reads := asked.(*command.ReadChanges); reads {
		if skips := c.tails.Sent(x, of.Set, req); skips != "" {
			c.oracle.SkipsChanges(string(x.From), of.Set, req.NS, skips)
		}
	}
	if wrong := c.primaries.Sent(of, x.To, len(c.Members(of.Set)), asked); wrong != "" {
		c.oracle.NotPreferred(string(x.From), string(x.To), subject(asked), wrong)
	}
}

// snapshotAnswer has the oracle judge the time as of which a shard answers a read: of a snapshot,
// that which its router has picked for all shards, or has been given; of a causal session, none
// before what it has seen.
func (c *cluster) snapshotAnswer(x *env.Exchange, asked env.Message, said *command.Batch) {
	req, opens := asked.(*command.Find)
	if !opens {
		return
	}
	a := client.Answer{Certainty: client.OK, Time: said.Time, Since: said.Since}
	wrong := append(replies.Snapshot(req, &a), replies.Early(req, said.Time)...)
	if m := c.Member(x.To); m != nil {
		wrong = append(wrong, replies.Uncommitted(req, said.Time, m.CommittedTS())...)
	}
	c.oracle.AnsweredRead(string(x.To), req.NS, wrong)
}

// asking is a query that a shard has let in, or why it says nothing about owners.
type asking struct {
	query   oracle.Admitted
	unknown string
}

// admitted is the query that an answer is of, or why it may return what its shard does not own.
func (c *cluster) admitted(
	node env.NodeID, asked env.Message, batch *command.Batch,
) (q oracle.Admitted, unknown string) {
	a := asking{unknown: oracle.OtherRead}
	switch req := asked.(type) {
	case *command.Find:
		a = askingOf(node, req)
		if batch.Cursor != "" {
			c.queries[batch.Cursor] = a
		}
	case *command.GetMore:
		if of, ok := c.queries[req.Cursor]; ok {
			a = of
		}
		if batch.Cursor == "" {
			delete(c.queries, req.Cursor)
		}
	}
	return a.query, a.unknown
}

func askingOf(node env.NodeID, req *command.Find) asking {
	switch {
	case req.Concern == command.Available:
		return asking{unknown: oracle.AvailableRead}
	case !req.Place.Versioned || req.Place.Database:
		return asking{unknown: oracle.UnshardedRead}
	}
	shard, _, _ := strings.Cut(string(node), ".")
	v := req.Place.Shard
	q := oracle.Admitted{
		Node: string(node), Shard: shard, NS: req.NS,
		Version: trace.Chunk{Epoch: v.Epoch, Major: v.Major},
	}
	if req.Concern == command.Snapshot {
		q.At = uint64(req.At)
	}
	return asking{query: q}
}

// refusedPast has the oracle judge a refusal for which a time would have to be too long ago: for a
// shard's log or its store, or for the history of chunks.
func (c *cluster) refusedPast(x *env.Exchange, asked *rpc.Envelope, err error) {
	r := oracle.Refusal{
		Node: string(x.To), Request: nameOf(asked.Body), NS: subject(asked.Body), Why: err.Error(),
		Since: int64(x.Began),
	}
	if m := c.Member(x.To); m != nil {
		c.refusedByShard(m, asked.Body, r, errcode.Of(err))
	} else if isRouter(x.To) {
		c.refusedByRouter(asked, r, errcode.Of(err))
	}
}

func (c *cluster) refusedByShard(
	m *replset.Member, asked env.Message, r oracle.Refusal, code errcode.Code,
) {
	switch req := asked.(type) {
	case *command.Find:
		a := askingOf(env.NodeID(r.Node), req)
		switch {
		case a.unknown != "" || a.query.At == 0:
		case code == errcode.SnapshotTooOld:
			c.oracle.RefusedIdly(r, reach.State(m, req.NS, req.At))
		case code == errcode.StaleChunkHistory:
			c.oracle.RefusedOwners(r, a.query.Version, a.query.Shard, a.query.At)
		}
	case *command.GetMore:
		of, known := c.queries[req.Cursor]
		if known && of.query.At != 0 && code == errcode.SnapshotTooOld {
			c.oracle.RefusedIdly(r, reach.State(m, of.query.NS, hlc.Timestamp(of.query.At)))
		}
	case *command.ReadChanges:
		if code == errcode.ChangeStreamHistoryLost {
			c.oracle.RefusedIdly(r, reach.Changes(m, req.NS, req.Unsharded, req.After))
		}
	}
}

// refusedByRouter: where the request names no time, the router picks its own, which is not before
// the one that came with the request.
func (c *cluster) refusedByRouter(asked *rpc.Envelope, r oracle.Refusal, code errcode.Code) {
	from := asked.Clock.Cluster
	switch req := asked.Body.(type) {
	case *command.Find:
		if req.At != 0 {
			from = req.At
		}
		if code == errcode.StaleChunkHistory && req.Concern == command.Snapshot {
			c.oracle.RefusedRouting(r, "Find", uint64(from))
		}
	case *command.Watch:
		if req.Resume {
			from = req.After.TS
		}
		if code == errcode.ChangeStreamHistoryLost {
			c.oracle.RefusedRouting(r, "ReadChanges", uint64(from-min(from, 1)))
		}
		c.refusedByTable(r, code == errcode.NamespaceNotFound)
	case *command.Update, *command.Delete, *command.FindAndModify, *command.Insert:
		c.refusedByTable(r, code == errcode.ShardKeyNotFound)
	}
}

// lesson is what a router has read of the catalog: of a collection, or of any database.
type lesson struct {
	router env.NodeID
	ns     string
}

// refusedByTable has the oracle judge a refusal for which the router asks nobody: who tells it that
// what it knows is out of date?
func (c *cluster) refusedByTable(r oracle.Refusal, about bool) {
	last := max(c.learned[lesson{env.NodeID(r.Node), r.NS}],
		c.learned[lesson{router: env.NodeID(r.Node)}])
	if about && int64(last) < r.Since {
		c.oracle.RefusedUnasked(r, int64(last))
	}
}

// keysOf are the documents' shard keys, encoded.
func (c *cluster) keysOf(ns string, docs []bson.Raw) []string {
	i := slices.IndexFunc(c.scenario.Collections, func(one scenario.Collection) bool {
		return one.NS == ns
	})
	if i < 0 {
		return nil
	}
	pattern, keys := shardKey(c.scenario.Collections[i]), make([]string, len(docs))
	if pattern.IsZero() {
		pattern = shardedBy(c.scenario.Collections[i])
	}
	for j, doc := range docs {
		k, err := pattern.Of(doc)
		if err != nil {
			panic(fmt.Sprintf("shardstore: the document %s has no key: %v", doc, err))
		}
		keys[j] = string(k)
	}
	return keys
}

// recordedAnswer has the oracle judge how much a donor hands over, and what the config server has
// recorded.
func (c *cluster) recordedAnswer(x *env.Exchange, asked, said env.Message) {
	switch req := asked.(type) {
	case *command.MigrateClone:
		if mods, ok := said.(*command.Mods); ok {
			c.handed(&batches.Answer{
				Node: string(x.To), Session: req.Session, Number: req.Number, Clone: true,
			}, mods)
		}
	case *command.TransferMods:
		if mods, ok := said.(*command.Mods); ok {
			c.handed(&batches.Answer{
				Node: string(x.To), Session: req.Session, Number: req.Number,
			}, mods)
		}
	case *command.LogChange:
		c.oracle.ChangeAnswered(logs.Asked(x.From, req))
	}
}

func (c *cluster) handed(a *batches.Answer, mods *command.Mods) {
	a.Elements = len(mods.Deletes) + len(mods.Reloads)
	for _, id := range mods.Deletes {
		a.Bytes += len(id)
	}
	shared := slices.ContainsFunc(c.scenario.Collections,
		func(one scenario.Collection) bool { return one.IDs > 0 })
	for _, doc := range mods.Reloads {
		a.Bytes += len(doc)
		if id, err := byID.Of(doc); err == nil && !shared {
			a.Documents = append(a.Documents, id.String())
		}
	}
	c.oracle.Handed(a)
}
