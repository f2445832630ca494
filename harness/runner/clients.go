package runner

import (
	"cmp"
	"slices"
	"sort"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// recorder is the history in the making. Its counter orders calls, returns and batches of all clients.
type recorder struct {
	counter uint64
	now     func() env.Time
	ops     []histories.Op
	pending int
}

func (r *recorder) tick() uint64 {
	r.counter++
	return r.counter
}

// begin notes a call; the operation counts as unknown until end.
func (r *recorder) begin(op *scenario.Op) int {
	r.pending++
	r.ops = append(r.ops, histories.Op{
		ID: op.ID, Client: op.Client, NS: op.NS, Kind: op.Kind, Key: op.Key, To: op.To, Value: op.Value,
		Expect: op.Expect, Concern: op.Concern, Prefer: op.Prefer, Causal: op.Causal, Into: op.Into, Call: r.tick(), CallAt: int64(r.now()), Outcome: histories.Unknown,
	})
	return len(r.ops) - 1
}

func (r *recorder) end(i int, a client.Answer) {
	r.pending--
	op := &r.ops[i]
	op.Return, op.ReturnAt = r.tick(), int64(r.now())
	op.Outcome, op.Retries = histories.Outcome(a.Certainty.String()), a.Retries
	op.After, op.Time = uint64(a.After), uint64(a.Time)
	op.Exact = op.Outcome == histories.OK && op.Result.Applied && !a.Written.Retried
	if a.Err != nil {
		op.Error = a.Err.Error()
	}
	if op.Outcome == histories.Unknown {
		op.Result = histories.Result{}
	}
}

// close gives operations that are still under way a return, so that a history is complete whenever the run ends.
func (r *recorder) close() {
	for i := range r.ops {
		if r.ops[i].Return == 0 {
			r.end(i, client.Answer{Err: errcode.New(errcode.Interrupted, "the run ended before the operation")})
		}
	}
}

// session carries out operations one after the other for one client.
type session struct {
	client *client.Client
	record *recorder
	start  env.Time
	// hashed names the collections whose scans do not come in the order of the key; creations says how to make each anew.
	hashed    map[string]bool
	creations map[string]command.ShardCollection
	// lossy: range deletion overtakes the reads of secondaries.
	lossy bool
}

// run carries out the operations of one client at their times.
func (s *session) run(t env.Task, ops []scenario.Op) {
	sort.SliceStable(ops, func(i, j int) bool { return ops[i].At < ops[j].At })
	for i := range ops {
		if wait := s.start.Add(ops[i].At).Sub(s.record.now()); wait > 0 && t.Sleep(wait) != nil {
			return
		}
		s.do(t, &ops[i])
	}
}

// do carries out one operation and records what the client learned.
func (s *session) do(t env.Task, op *scenario.Op) {
	i := s.record.begin(op)
	var a client.Answer
	switch op.Kind {
	case scenario.Read:
		a = s.read(t, op, i)
	case scenario.Scan:
		a = s.scan(t, op, i)
	case scenario.Insert:
		a = s.client.Insert(t, command.Insert{NS: op.NS, Docs: []bson.Raw{document(op.Key, op.Value)}, Concern: command.Majority})
		s.record.ops[i].Result = histories.Result{Applied: a.Written.N > 0}
	case scenario.Update, scenario.Upsert, scenario.Push:
		a = s.client.Update(t, update(op))
		s.record.ops[i].Result = histories.Result{Applied: a.Written.N > 0, N: a.Written.N}
	case scenario.Write, scenario.CAS, scenario.Delete:
		a = s.findAndModify(t, op, i)
	default:
		a = s.whole(t, op)
	}
	s.record.end(i, a)
}

func (s *session) read(t env.Task, op *scenario.Op, i int) client.Answer {
	a := s.client.Find(t, s.find(op, i, raw(bson.D{{Key: "k", Value: op.Key}})))
	if len(a.Docs) > 0 {
		s.record.ops[i].Result = found(a.Docs[0])
		s.record.ops[i].Result.N = len(a.Docs)
	}
	return a
}

// find is a read as it is sent.
func (s *session) find(op *scenario.Op, i int, filter bson.Raw) command.Find {
	f := command.Find{NS: op.NS, Filter: filter, BatchSize: op.Batch, Concern: concern(op), Secondary: op.Prefer == scenario.Secondary}
	if op.Causal {
		f.After = s.client.Operated()
	}
	s.record.ops[i].Lossy = f.Secondary && s.lossy
	return f
}

// scan keeps what arrived also when the scan breaks off: each batch stands for itself.
func (s *session) scan(t env.Task, op *scenario.Op, i int) client.Answer {
	a := s.client.Scan(t, s.find(op, i, between(op.Key, op.To)),
		func(batch []bson.Raw) {
			at := s.record.tick()
			for _, doc := range batch {
				r := found(doc)
				item := histories.Item{Key: numberOf(doc), Value: r.Value, List: r.List, Return: at}
				s.record.ops[i].Result.Items = append(s.record.ops[i].Result.Items, item)
			}
		})
	r := &s.record.ops[i].Result
	r.Complete = a.Certainty == client.OK
	switch {
	case s.hashed[op.NS]:
		// Such a scan comes in the order of the hash, of which a history knows nothing.
		slices.SortStableFunc(r.Items, func(x, y histories.Item) int { return cmp.Compare(x.Key, y.Key) })
	case !r.Complete && len(r.Items) > 0:
		// What it returned before it broke off was read, and is held against the store.
		a.Certainty = client.OK
	}
	return a
}

func (s *session) findAndModify(t env.Task, op *scenario.Op, i int) client.Answer {
	if op.Kind == scenario.CAS && op.Expect == "" {
		return s.insertIfAbsent(t, op, i)
	}
	a := s.client.FindAndModify(t, modify(op))
	r := histories.Result{Applied: a.Written.N > 0, N: a.Written.N}
	if a.Written.Image != nil {
		image := found(a.Written.Image)
		r.Found, r.Value, r.List = image.Found, image.Value, image.List
	}
	s.record.ops[i].Result = r
	return a
}

// insertIfAbsent is the CAS that expects no document. That there was one is a result, not a failure.
func (s *session) insertIfAbsent(t env.Task, op *scenario.Op, i int) client.Answer {
	a := s.client.Insert(t, command.Insert{NS: op.NS, Docs: []bson.Raw{document(op.Key, op.Value)}, Concern: command.Majority})
	s.record.ops[i].Result = histories.Result{Applied: a.Written.N > 0}
	return a
}

// whole carries out an operation on a whole collection.
func (s *session) whole(t env.Task, op *scenario.Op) client.Answer {
	switch op.Kind {
	case scenario.Drop:
		return s.client.DropCollection(t, op.NS)
	case scenario.Rename:
		return s.client.RenameCollection(t, op.NS, op.Into, op.DropTarget)
	case scenario.CreateIndex:
		return s.client.CreateIndex(t, op.NS, "v")
	case scenario.DropIndex:
		return s.client.DropIndex(t, op.NS, "v")
	}
	return s.client.ShardCollection(t, s.creations[op.NS])
}
