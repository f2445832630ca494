package shardstore

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/harness/shardstore/replies"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
)

// NewClient makes the node an application that sends its operations to routers.
func (c *cluster) NewClient(node env.Node) target.Client {
	s := &session{
		node:        node,
		client:      c.Cluster.NewClient(node),
		collections: byName(c.scenario),
		creations:   creations(c.scenario),
		lossy:       c.settings.TerminateReads == 0,
		retries:     c.settings.RetryWrites > 0,
		oracle:      c.oracle,
	}
	c.sessions = append(c.sessions, s)
	return s
}

// session carries out operations one after the other for one client.
type session struct {
	node   env.Node
	client *client.Client
	// newest is the newest statement that was sent.
	newest statement
	// collections are the scenario's by name: scans of hashed ones do not come in the order of the
	// key. creations says how to make each again.
	collections map[string]scenario.Collection
	creations   map[string]command.ShardCollection
	// lossy: range deletion overtakes the reads of secondaries. retries: writes can be sent again.
	lossy, retries bool
	// asksAgain is set in the final pass when routers have little time for a request.
	asksAgain bool
	oracle    *oracle.Oracle
}

// statement is an operation that was sent as one, and what it was answered; recorded is set when it
// is known to have changed something, in that incarnation of the collection. The zero statement is
// none.
type statement struct {
	op          *scenario.Op
	keys        []int64 // of all documents that it is about
	recorded    bool
	incarnation uint64
	answered    command.Written
}

// final reports whether an operation is one of the final pass, which the scenario does not name.
func final(s *scenario.Scenario, op *scenario.Op) bool {
	return !slices.ContainsFunc(s.Ops, func(o scenario.Op) bool { return o.ID == op.ID })
}

// Do carries out one operation.
func (s *session) Do(t env.Task, op *scenario.Op, tick func() uint64) target.Answer {
	if op.Batched {
		s.client.Join()
	}
	a, r := executions[op.Kind](s, t, op, tick)
	for n := 0; s.asksAgain && n < mostAsked && wasOvertaken(&a); n++ {
		a, r = executions[op.Kind](s, t, op, tick)
	}
	if !op.Kind.Of().Reads() {
		s.newest = statement{
			op: op, keys: []int64{op.Key}, answered: a.Written,
			recorded: s.retries && !op.Kind.Whole() && a.Certainty == client.OK &&
				a.Written.N > 0,
			incarnation: s.oracle.Incarnation(op.NS),
		}
	}
	return s.answer(op, &a, r)
}

// InsertMany carries out several inserts with one command. Of none of them it is known which part
// of its time it took.
func (s *session) InsertMany(t env.Task, ops []scenario.Op) (answers []target.Answer) {
	if ops[0].Batched {
		s.client.Join()
	}
	s.newest = statement{op: &ops[0], recorded: s.retries,
		incarnation: s.oracle.Incarnation(ops[0].NS)}
	request := s.insertion(ops...)
	for i, a := range s.client.InsertMany(t, request) {
		inserted := a.Certainty == client.OK && a.Written.N == 1
		s.newest.keys = append(s.newest.keys, ops[i].Key)
		s.newest.recorded = s.newest.recorded && inserted
		s.newest.answered = a.Written
		s.newest.answered.N = len(ops)
		a, r := s.inserted(&ops[i], a)
		answer := s.answer(&ops[i], &a, r)
		answer.Exact = false
		answers = append(answers, answer)
	}
	return answers
}

// mostAsked is how many times an operation of the final pass is tried again at most: splits of so
// many chunks follow on one another nowhere.
const mostAsked = 8

// wasOvertaken reports whether a router gave up, with no effect, as the table that it had got was
// outdated again when the shard saw it.
func wasOvertaken(a *client.Answer) bool {
	return a.Certainty == client.Failed &&
		errcode.Is(a.Err, errcode.StaleConfig, errcode.StaleDbVersion, errcode.StaleEpoch)
}

// answer is what the client learned, in the terms of histories.
func (s *session) answer(op *scenario.Op, a *client.Answer, r histories.Result) target.Answer {
	outcome := histories.Outcome(a.Certainty.String())
	return target.Answer{
		Outcome: outcome,
		Result:  r,
		Err:     a.Err,
		Retries: a.Retries,
		After:   uint64(a.After),
		Time:    uint64(a.Time),
		Since:   uint64(a.Since),
		Exact:   outcome == histories.OK && r.Applied && !a.Written.Retried && a.Time != 0,
		Lossy:   s.lossy && op.Prefer == scenario.Secondary,
	}
}

func (s *session) read(t env.Task, op *scenario.Op) (client.Answer, histories.Result) {
	asked := s.find(op, s.filter(op))
	a := s.client.Find(t, asked)
	s.judge(op, replies.Read(op, s.collections[op.NS], &a))
	s.judge(op, replies.Snapshot(&asked, &a))
	if len(a.Docs) == 0 {
		return a, histories.Result{}
	}
	r := found(a.Docs[0])
	r.N = len(a.Docs)
	return a, r
}

// filter is that of a read: by the shard key alone, if only one document has it and that is k.
func (s *session) filter(op *scenario.Op) bson.Raw {
	if c := s.collections[op.NS]; c.Share > 1 || c.IDs > 0 || c.Unsharded {
		return only(s.named(op))
	}
	return ofKey(op.Key)
}

// named is the document of the operation's key.
func (s *session) named(op *scenario.Op) docName { return s.at(op, op.Key) }

func (s *session) at(op *scenario.Op, number int64) docName {
	return nameOfKey(s.collections[op.NS], number)
}

// find is a read as it is sent.
func (s *session) find(op *scenario.Op, filter bson.Raw) command.Find {
	f := command.Find{
		NS:        op.NS,
		Filter:    filter,
		BatchSize: op.Batch,
		Concern:   concern(op),
		Secondary: op.Prefer == scenario.Secondary,
	}
	if op.Causal {
		f.After = s.client.Operated()
	}
	if op.Age > 0 { // zero, and with it the router's choice, if nothing is so old
		f.At = hlc.At(s.client.Time().Millis() - op.Age.Milliseconds())
	}
	return f
}

// A scan of a few keys asks for them one by one in a third of all cases, which is another way to
// select and to find their shards.
const (
	listedKeys  = 8
	listedShare = 3
)

// selects is the filter of a scan.
func (s *session) selects(op *scenario.Op) bson.Raw {
	if op.To-op.Key > listedKeys || op.ID%listedShare != 0 {
		return between(s.named(op).k, op.To)
	}
	var keys []int64
	for number := op.Key; number < op.To; number++ {
		keys = append(keys, s.at(op, number).k)
	}
	return among(slices.Compact(keys))
}

// scan keeps what arrived also when the scan breaks off: each batch stands for itself.
func (s *session) scan(
	t env.Task, op *scenario.Op, tick func() uint64,
) (client.Answer, histories.Result) {
	var r histories.Result
	judged := replies.NewScan(op, s.collections[op.NS])
	asked := s.find(op, s.selects(op))
	a := s.client.Scan(t, asked, op.Rest, func(batch []bson.Raw) {
		at := tick()
		s.judge(op, judged.Batch(batch))
		for _, doc := range batch {
			one, number := found(doc), numberOf(doc)
			if number < op.Key || number >= op.To {
				continue // another one with a shard key in the range
			}
			r.Items = append(r.Items,
				histories.Item{Key: number, Value: one.Value, List: one.List, Return: at})
		}
	})
	s.judge(op, judged.End(&a))
	s.judge(op, replies.Snapshot(&asked, &a))
	r.Complete = a.Certainty == client.OK
	switch {
	case s.collections[op.NS].Hashed:
		// Such a scan comes in the order of the hash, of which a history knows nothing.
		slices.SortStableFunc(r.Items, func(x, y histories.Item) int {
			return cmp.Compare(x.Key, y.Key)
		})
	case !r.Complete && len(r.Items) > 0:
		// What it returned before it broke off was read, and is held against the store.
		a.Certainty = client.OK
	}
	return a, r
}

func (s *session) update(
	t env.Task, op *scenario.Op, change bson.Raw, upsert bool,
) (client.Answer, histories.Result) {
	a := s.client.Update(t, command.Update{
		NS:      op.NS,
		Filter:  only(s.named(op)),
		Change:  change,
		Upsert:  upsert,
		Concern: writeConcern(op),
		// As drivers' writes do, of whom nobody expects a shard key.
		Implicit: s.collections[op.NS].Unsharded,
	})
	s.judge(op, replies.Write(op, s.collections[op.NS], &a))
	a = doubted(op, a)
	r := histories.Result{
		Applied: a.Written.N > 0, N: a.Written.N, Upserted: upsert && a.Written.Upserted,
	}
	r.Found = upsert && r.Applied && !r.Upserted
	return a, r
}

// findAndModify changes the document of the operation's key, fills in f what is the same for all.
func (s *session) findAndModify(
	t env.Task, op *scenario.Op, f command.FindAndModify,
) (client.Answer, histories.Result) {
	f.NS, f.Concern, f.Implicit = op.NS, writeConcern(op), s.collections[op.NS].Unsharded
	if f.Filter == nil {
		f.Filter = only(s.named(op))
	}
	a := s.client.FindAndModify(t, f)
	s.judge(op, replies.Write(op, s.collections[op.NS], &a))
	a = doubted(op, a)
	r := histories.Result{Applied: a.Written.N > 0, N: a.Written.N}
	if a.Written.Image != nil {
		image := found(a.Written.Image)
		r.Found, r.Value, r.List = image.Found, image.Value, image.List
	}
	return a, r
}

func (s *session) deleteOne(t env.Task, op *scenario.Op) (client.Answer, histories.Result) {
	a := s.client.Delete(t, command.Delete{
		NS: op.NS, Filter: only(s.named(op)), Concern: writeConcern(op),
	})
	s.judge(op, replies.Write(op, s.collections[op.NS], &a))
	a = doubted(op, a)
	return a, histories.Result{Applied: a.Written.N > 0, N: a.Written.N}
}

func (s *session) insert(t env.Task, op *scenario.Op) (client.Answer, histories.Result) {
	return s.inserted(op, s.client.Insert(t, s.insertion(*op)))
}

// insertion is the command that inserts the documents of operations on one collection.
func (s *session) insertion(ops ...scenario.Op) command.Insert {
	op := &ops[0]
	request := command.Insert{
		NS: op.NS, Concern: writeConcern(op), Implicit: s.collections[op.NS].Unsharded,
	}
	for i := range ops {
		request.Docs = append(request.Docs, documentOf(s.named(&ops[i]), ops[i].Value))
	}
	return request
}

// inserted is what the answer to an insert says.
func (s *session) inserted(op *scenario.Op, a client.Answer) (client.Answer, histories.Result) {
	s.judge(op, replies.Write(op, s.collections[op.NS], &a))
	if s.collections[op.NS].IDs == 0 && op.W == 0 {
		a = observed(a)
	}
	return a, histories.Result{Applied: a.Written.N > 0}
}

// doubted is the answer to a write that waits for a number of members and has found nothing. It
// waited until so many have what it rests on, and not for a proof that it was answered by the
// primary: one that was deposed and does not know it may have missed what others wrote.
func doubted(op *scenario.Op, a client.Answer) client.Answer {
	if op.W > 0 && a.Certainty == client.OK && a.Written.N == 0 {
		a.Certainty, a.Err = client.Unknown, errcode.New(errcode.NotWritablePrimary,
			"a primary of the past may have found nothing")
	}
	return a
}

// observed is the answer to an insert. That there was a document is an observation like that of a
// read: the answer waited until a majority had what it rests on. Where several keys share an _id,
// it may have been that of another key.
func observed(a client.Answer) client.Answer {
	if a.Certainty == client.Failed && errcode.Is(a.Err, errcode.DuplicateKey) {
		a.Certainty = client.OK
	}
	return a
}

// judge has an answer that is wrong in itself reported.
func (s *session) judge(op *scenario.Op, wrong []string) {
	s.oracle.Answered(op.ID, string(op.Kind), op.NS, op.Key, wrong)
}

// ownersOf are the shards among which a collection's chunks are at the start.
func ownersOf(s *scenario.Scenario, c *scenario.Collection) (names []string) {
	for i := range min(len(c.Bounds)+1, cmp.Or(c.Owners, s.Topology.Founders())) {
		names = append(names, system.ShardName(i))
	}
	return names
}

// creations are the requests that make the scenario's collections again, with the chunks that they
// had at the start unless it is left to the config server.
func creations(s *scenario.Scenario) map[string]command.ShardCollection {
	all := make(map[string]command.ShardCollection)
	for _, one := range s.Collections {
		if one.Unsharded { // there is one to make if an operation has sharded it
			all[one.NS] = command.ShardCollection{NS: one.NS, Key: shardedBy(one)}
			continue
		}
		c := founded(one)
		req := command.ShardCollection{NS: c.NS, Key: c.Key}
		if one.Made != scenario.MadePlaced {
			req.Bounds = c.Bounds
		}
		if one.Made == "" {
			req.Shards = ownersOf(s, &one)
		}
		req.InitialChunks = one.Initial
		all[c.NS] = req
	}
	return all
}
