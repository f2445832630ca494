package runner

import (
	"fmt"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// streamIDs is where the numbers of watches start, above those of all other operations.
const streamIDs = 100 * finalIDs

// startStreams gives every stream of the scenario a reader on a node of its own.
func (r *run) startStreams() {
	for _, plan := range r.scenario.Streams {
		r.watching++
		w := &watcher{run: r, plan: plan, next: streamIDs + plan.ID*finalIDs}
		r.world.AddNode(env.NodeID(fmt.Sprintf("stream-reader.%d", plan.ID)), w.boot)
	}
}

// drain has every reader go on until it was delivered everything that is written now.
func (r *run) drain() {
	if r.watching == 0 || r.world.Err() != nil {
		return
	}
	r.drained = r.cluster.Time()
	r.world.Run(func() bool { return r.watching == 0 }, r.deadline)
	if r.watching > 0 && r.world.Err() == nil {
		r.unfinished = append(r.unfinished, fmt.Sprintf("%d change streams have not delivered all changes", r.watching))
	}
}

// watcher reads one stream of the scenario to its end, opening it anew as planned and after failures.
type watcher struct {
	run    *run
	plan   scenario.Stream
	client *client.Client
	// start is the token at which the first opening began, nil before; delivered are those of the changes since.
	start     *command.Token
	delivered []command.Token
	// upto is where the reader is, furthest where it ever was.
	upto, furthest command.Token
	// invalid: the stream has ended with its collection.
	invalid bool
	// replaying: everything was delivered once, and is being read again from the start.
	replaying bool
	next      int // the number of its next watch
}

func (w *watcher) boot(t env.Task) {
	w.client = w.run.cluster.NewClient(t.Node())
	defer func() { w.run.watching-- }()
	if t.Sleep(w.run.base.Add(w.plan.At).Sub(w.run.world.Now())) != nil {
		return
	}
	for w.pause(t) == nil && !w.watch(t) {
	}
}

// watch is the life of one opening; true when the stream was read to its end.
func (w *watcher) watch(t env.Task) (over bool) {
	op := w.opening()
	call, callAt := w.run.record.tick(), int64(w.run.world.Now())
	stream, batch, err := w.client.Watch(t, op)
	if err != nil {
		return w.lost(err)
	}
	if !op.Resume {
		w.start = &batch.Upto
	}
	w.upto = batch.Upto
	i := w.begin(!op.Resume, batch.Upto, call, callAt)
	for answers := 1; err == nil && !w.drained() && !w.invalid && (answers <= w.plan.Resume || w.plan.Resume == 0 || w.run.drained != 0); answers++ {
		if err = w.pause(t); err == nil {
			batch, err = stream.Next(t, w.plan.Batch)
		}
		if err == nil {
			w.take(i, batch)
		}
	}
	w.end(i, err)
	switch {
	case w.invalid:
		return w.anew()
	case err != nil:
		return w.lost(err)
	}
	return w.over()
}

// drained reports whether the reader was delivered everything that was written in the run.
func (w *watcher) drained() bool {
	return w.run.drained != 0 && w.upto.Compare(command.Mark(w.run.drained)) >= 0
}

// over ends the reader, after one more pass from the start if it goes back at all.
func (w *watcher) over() bool {
	if !w.drained() || w.replaying || w.plan.Back == 0 {
		return w.drained()
	}
	w.replaying, w.delivered, w.upto = true, nil, *w.start
	return false
}

// pause waits for the next poll. While no client is at work nobody polls either: a stream that is read keeps idle shards
// writing, and the cluster from coming to rest.
func (w *watcher) pause(t env.Task) error {
	for {
		if err := t.Sleep(w.plan.Poll); err != nil {
			return err
		}
		w.client.AdvanceClusterTime(w.run.drained)
		if !w.run.idle() || w.run.drained != 0 {
			return nil
		}
	}
}

// opening is how the stream is opened next: where the reader is, or somewhat before when it has got further than ever.
func (w *watcher) opening() command.Watch {
	op := command.Watch{NS: w.plan.NS, BatchSize: w.plan.Batch}
	if w.start == nil {
		return op
	}
	op.Resume, op.After = true, w.upto
	if n := len(w.delivered); w.plan.Back > 0 && n > 0 && w.upto.Compare(w.furthest) > 0 {
		w.furthest = w.upto
		w.delivered = w.delivered[:max(1, n-w.plan.Back)]
		op.After = w.delivered[len(w.delivered)-1]
	}
	return op
}

// lost has the reader begin from now on when nobody can go on from where it was; it is over when that was the last pass.
func (w *watcher) lost(err error) (over bool) {
	if !errcode.Is(err, errcode.ChangeStreamHistoryLost) {
		return false
	}
	return w.anew()
}

// anew has the reader begin from now on; it is over when this was its last pass.
func (w *watcher) anew() (over bool) {
	w.start, w.delivered, w.upto, w.invalid = nil, nil, command.Token{}, false
	return w.replaying
}

func (w *watcher) begin(fresh bool, after command.Token, call uint64, callAt int64) int {
	record := &w.run.record
	record.ops = append(record.ops, histories.Op{
		ID: w.next, Client: -1 - w.plan.ID, NS: w.plan.NS, Kind: scenario.Watch, Call: call, CallAt: callAt, Outcome: histories.OK,
		Stream: &histories.Stream{ID: w.plan.ID, Fresh: fresh, After: token(after), Opened: record.tick()},
	})
	record.pending++
	w.next++
	return len(record.ops) - 1
}

// take records an answer.
func (w *watcher) take(i int, batch *command.ChangeBatch) {
	b := histories.ChangeBatch{Upto: token(batch.Upto)}
	for _, c := range batch.Changes {
		w.delivered = append(w.delivered, c.Token)
		w.invalid = w.invalid || c.Kind == command.ChangeInvalidate
		b.Changes = append(b.Changes, change(&c))
	}
	s := w.run.record.ops[i].Stream
	s.Batches = append(s.Batches, b)
	w.upto = batch.Upto
}

func (w *watcher) end(i int, err error) {
	w.run.record.end(i, client.Answer{Certainty: client.OK})
	op := &w.run.record.ops[i]
	op.Stream.Drained = w.drained()
	if err != nil {
		op.Error = err.Error()
	}
}

func token(t command.Token) histories.Token {
	return histories.Token{Time: uint64(t.TS), Shard: t.Shard, N: t.N}
}

func change(c *command.Change) histories.Change {
	r := histories.Result{}
	if c.Doc != nil {
		r = found(c.Doc)
	}
	var key int64
	if c.Key != nil {
		key, _ = c.Key.Lookup("_id").AsInt64OK()
	}
	return histories.Change{Token: token(c.Token), Kind: string(c.Kind), Key: key, Value: r.Value, List: r.List}
}
