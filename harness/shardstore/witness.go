package shardstore

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
)

// witness has an event emitted for what oracles go by: failures, as their server answers and as
// their caller learns of them; routing tables, as they arrive; and what answers tell of cursors. No
// server takes part in it, so that none can leave it out.
func witness(n env.Node, x *env.Exchange) {
	asked, ok := x.Request.(*rpc.Envelope)
	if !ok {
		return
	}
	said, _ := x.Reply.(*rpc.Envelope)
	code := failure(x.Err, said)
	if x.Served {
		witnessAnswer(n, x, asked.Body, code)
		witnessCursor(n, x, asked.Body, said)
		witnessRequest(n, asked.Body)
		witnessSplits(n, x, asked.Body, said, code)
		return
	}
	witnessSplitter(n, x, asked.Body, said)
	if code == "" && said != nil {
		witnessWeights(n, x, asked.Body, said.Body)
	}
	if _, table := asked.Body.(*command.GetRoutingTable); !table && code == "" {
		return
	}
	n.Emit(trace.CallEndedEvent{
		Peer: string(x.To), NS: subject(asked.Body), Request: nameOf(asked.Body),
		Code: string(code), Sent: int64(x.Began),
	}.Event())
	if req, scan := asked.Body.(*command.GetMore); scan && isLoss(code) {
		n.Emit(trace.CursorAnsweredEvent{
			Peer: string(x.To), Cursor: req.Cursor, State: trace.CursorLost,
			Arrived: int64(x.Began),
		}.Event())
	}
}

func isLoss(c errcode.Code) bool {
	return c == errcode.CursorNotFound || c == errcode.QueryPlanKilled
}

// witnessAnswer tells of refusals, and of what is answered when a migration or a deletion is over.
// That there is such a document already is no refusal.
func witnessAnswer(n env.Node, x *env.Exchange, body env.Message, code errcode.Code) {
	if code == "" && !concludes(body) || code == errcode.DuplicateKey {
		return
	}
	n.Emit(trace.AnsweredEvent{
		Peer: string(x.From), NS: subject(body), Chunks: attached(body), Request: nameOf(body),
		Code: string(code), Arrived: int64(x.Began),
	}.Event())
}

// concludes says whether the answer to a request tells that something is over: a migration, a
// deletion, or that a shard takes anything.
func concludes(body env.Message) bool {
	switch body.(type) {
	case *command.ShardsvrMoveRange, *command.JoinMigrations, *command.AwaitRangeDeletion,
		*command.ShardsvrLeaveCluster:
		return true
	}
	return false
}

// failure is the code of what has failed; a recipient that tells that it has failed is such.
func failure(err error, said *rpc.Envelope) errcode.Code {
	switch {
	case err != nil:
		return errcode.Of(err)
	case said == nil:
		return ""
	case said.Err != nil:
		return said.Err.Code
	}
	if st, ok := said.Body.(*command.RecvStatus); ok && st.Error != "" {
		code, _, _ := strings.Cut(st.Error, ":")
		return errcode.Code(code)
	}
	return ""
}

// refusal is the error of an answer, nil when it is none.
func refusal(err error, said *rpc.Envelope) error {
	if err == nil && said != nil && said.Err != nil {
		return said.Err
	}
	return err
}

func nameOf(body env.Message) string { return reflect.TypeOf(body).Elem().Name() }

// subject is the collection that a command is about, if any.
func subject(body env.Message) string {
	f := reflect.ValueOf(body).Elem().FieldByName("NS")
	if f.IsValid() && f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}

// attached is the placement that a command comes with, as a chunk without bounds; none when it is
// not versioned.
func attached(body env.Message) []trace.Chunk {
	p := placeOf(body)
	if !p.Versioned {
		return nil
	}
	return []trace.Chunk{{Major: p.Shard.Major, Minor: p.Shard.Minor, Epoch: p.Shard.Epoch}}
}

// placeOf is the placement that a command comes with, if any.
func placeOf(body env.Message) (p command.Placement) {
	if f := reflect.ValueOf(body).Elem().FieldByName("Place"); f.IsValid() {
		p, _ = f.Interface().(command.Placement)
	}
	return p
}

// witnessCursor tells what an answer of a shard about a query tells. Routers have cursors, too,
// but no documents.
func witnessCursor(n env.Node, x *env.Exchange, body env.Message, said *rpc.Envelope) {
	e := trace.CursorAnsweredEvent{Peer: string(x.From), Arrived: int64(x.Began)}
	switch req := body.(type) {
	case *command.KillCursors:
		if isRouter(x.To) {
			return
		}
		e.State = trace.CursorKilled
		for _, e.Cursor = range req.Cursors {
			n.Emit(e.Event())
		}
		return
	case *command.GetMore:
		e.Cursor = req.Cursor
		if said != nil && said.Err != nil && said.Err.Code != errcode.CursorInUse {
			e.State = trace.CursorEnds
		}
	case *command.Find:
		e.NS = req.NS
		if keeps(req) {
			e.Chunks = attached(req)
		}
	default:
		return
	}
	if said != nil && said.Err == nil {
		batch, _ := said.Body.(*command.Batch)
		e.State = trace.CursorEnds
		if batch.Cursor != "" {
			e.Cursor, e.State = cmp.Or(e.Cursor, batch.Cursor), trace.CursorLives
		}
	}
	if e.State != 0 && e.Cursor != "" && !isRouter(x.To) {
		n.Emit(e.Event())
	}
}

func isRouter(id env.NodeID) bool { return strings.HasPrefix(string(id), "router") }

// keeps says whether a query keeps what it may see from deletion (protocol 10.1): others see what
// they find, or the state of a time.
func keeps(req *command.Find) bool {
	return req.Place.Versioned && req.Concern != command.Available &&
		req.Concern != command.Snapshot
}

// Overheard judges a message between members of a replica set.
func (c *cluster) Overheard(from env.NodeID, message env.Message) {
	r, ok := message.(*replset.Raft)
	m := c.Member(from)
	if !ok || m == nil {
		return
	}
	c.leading.Sent(from, r, c.world.Now())
	if lacking := c.disks.Acknowledged(from, m, r); lacking != "" {
		c.oracle.AcknowledgedUnkept(string(from), lacking)
	}
	if lacking := c.disks.Announced(m, r, c.Members(m.Name())); lacking != "" {
		c.oracle.AnnouncedUnkept(string(from), lacking)
	}
}

// callEnded notes what the end of a call tells the caller; err is why there is no answer, or the
// error in it.
func (c *cluster) callEnded(x *env.Exchange, asked env.Message, said *rpc.Envelope, err error) {
	switch asked := asked.(type) {
	case *command.CommitChunkMigration:
		c.oracle.CommitReturned(string(x.From), asked.Migration, err == nil)
	case *command.RecvChunkReleaseCritSec:
		if err == nil || errcode.Is(err, errcode.ShardNotFound) {
			c.oracle.Released(asked.Migration)
		}
	case *command.LogChange:
		if err == nil {
			c.oracle.ConfigWrote(string(x.From))
		}
	case *command.FlushRoutingTableCacheUpdates:
		if err == nil {
			c.flushAnswered(x.From, asked.NS, said)
		}
	case *command.JoinMigrations:
		if err == nil || errcode.Is(err, errcode.NamespaceNotFound) {
			c.oracle.JoinAnswered(string(x.From), setOf(x.To), asked.NS, int64(x.Began))
		}
	}
	of, routes := c.routerOf(x)
	switch {
	case routes && err != nil:
		c.doubts.Ended(x, asked, err)
		c.primaries.Failed(of, x.To)
	case routes && isConfig(x.To):
		c.learned[lesson{x.From, subject(asked)}] = c.world.Now()
	case routes && said != nil:
		c.doubts.Ended(x, asked, nil)
		c.sums.Ended(x, said.Body)
		c.tails.Ended(x, of.Set, asked, said.Body)
	}
}

// doubted has the oracle judge the answer of a router by what its calls have brought: it may not
// rule out an execution, and says of several statements what shards have said of each.
func (c *cluster) doubted(x *env.Exchange, asked env.Message, said *rpc.Envelope, err error) {
	if !isRouter(x.To) {
		return
	}
	var answer env.Message
	if said != nil && err == nil {
		answer = said.Body
	}
	c.oracle.AnsweredSum(string(x.To), nameOf(asked), subject(asked), c.sums.Answered(x, answer))
	if a, wrong := c.doubts.Answered(x, err); wrong {
		c.oracle.RefusedInDoubt(string(x.To), nameOf(asked), subject(asked),
			string(errcode.Of(err)), string(a.To), string(a.Code))
	}
}

// refusedWrite has the oracle judge a refusal by which a router or a client takes a statement not
// to have been executed, and sends it again.
func (c *cluster) refusedWrite(x *env.Exchange, asked env.Message, err error) {
	switch asked.(type) {
	case *command.Insert, *command.Update, *command.Delete, *command.FindAndModify:
		if x.Wrote > 0 && client.IsCertainRefusal(err) {
			c.oracle.RefusedWritten(string(x.To), nameOf(asked), subject(asked),
				string(errcode.Of(err)), x.Wrote)
		}
	}
}
