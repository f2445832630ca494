package runner

import (
	"errors"
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/endstate"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
)

// streamReaders read the change streams of the scenario, each from a node of its own. Once drained
// is set, they end when they were delivered everything up to it.
type streamReaders struct {
	*stage
	reading []int // the numbers of the streams that are being read
	drained uint64
}

// streamIDs is where the numbers of watches start, above those of all other operations.
const streamIDs = 100 * finalIDs

// start gives every stream of the scenario a reader.
func (r *streamReaders) start() {
	for _, plan := range r.scenario.Streams {
		r.reading = append(r.reading, plan.ID)
		w := &watcher{streamReaders: r, plan: plan, next: streamIDs + plan.ID*finalIDs}
		r.world.AddNode(readerNode(plan.ID), w.boot)
	}
}

// drain has every reader go on until it was delivered everything that is written now, and says
// which were not.
func (r *streamReaders) drain() (left []endstate.Unfinished) {
	if len(r.reading) == 0 || r.world.Err() != nil {
		return nil
	}
	r.drained = r.system.(target.Clock).ClusterTime()
	r.world.Run(func() bool { return len(r.reading) == 0 }, r.deadline)
	if r.world.Err() != nil {
		return nil
	}
	for _, plan := range r.scenario.Streams {
		if slices.Contains(r.reading, plan.ID) {
			left = append(left, endstate.Unfinished{
				What: fmt.Sprintf("stream %d of %s has not delivered all changes", plan.ID, plan.NS),
				NS:   plan.NS,
				Node: string(readerNode(plan.ID)), Stream: true,
			})
		}
	}
	return left
}

// watcher reads one stream of the scenario to its end, opening it again as planned and after
// failures.
type watcher struct {
	*streamReaders
	plan   scenario.Stream
	reader target.Reader
	// start is the token at which the first opening began, nil before; delivered are those of the
	// changes since.
	start     *histories.Token
	delivered []histories.Token
	// upto is where the reader is, furthest where it ever was.
	upto, furthest histories.Token
	// invalid: the stream has ended with its collection.
	invalid bool
	// replaying: everything was delivered once, and is being read again from the start.
	replaying bool
	next      int // the number of its next watch
}

func (w *watcher) boot(t env.Task) {
	w.reader = w.system.(target.ChangeStreams).NewReader(t.Node(), w.plan.NS)
	defer func() {
		w.reading = slices.DeleteFunc(w.reading, func(id int) bool { return id == w.plan.ID })
	}()
	if t.Sleep(w.base.Add(w.plan.At).Sub(w.world.Now())) != nil {
		return
	}
	for w.pause(t) == nil && !w.watch(t) {
	}
}

// watch is the life of one opening; true when the stream was read to its end.
func (w *watcher) watch(t env.Task) (over bool) {
	after := w.opening()
	call, callAt := w.history.tick(), int64(w.world.Now())
	upto, err := w.reader.Open(t, w.plan.Batch, after)
	if err != nil {
		return w.lost(err)
	}
	if after == nil {
		w.start = &upto
	}
	w.upto = upto
	i := w.begin(after == nil, upto, call, callAt)
	for answers := 1; err == nil && !w.delivery() && !w.invalid && w.goesOn(answers); answers++ {
		var batch histories.ChangeBatch
		if err = w.pause(t); err == nil {
			batch, err = w.reader.Next(t, w.plan.Batch)
		}
		if err == nil {
			w.take(i, batch)
		}
	}
	w.end(i, err)
	switch {
	case w.invalid:
		return w.again()
	case err != nil:
		return w.lost(err)
	}
	return w.over()
}

// goesOn reports whether the opening is used for another answer.
func (w *watcher) goesOn(answers int) bool {
	return answers <= w.plan.Resume || w.plan.Resume == 0 || w.drained != 0
}

// delivery reports whether the reader was delivered everything that was written in the run.
func (w *watcher) delivery() bool { return w.drained != 0 && w.reader.Reached(w.upto, w.drained) }

// over ends the reader, after one more pass from the start if it goes back at all.
func (w *watcher) over() bool {
	if !w.delivery() || w.replaying || w.plan.Back == 0 {
		return w.delivery()
	}
	w.replaying, w.delivered, w.upto = true, nil, *w.start
	return false
}

// pause waits for the next poll. While no client is at work no reader polls either: a stream that
// is read keeps idle shards writing, and the system from becoming quiescent.
func (w *watcher) pause(t env.Task) error {
	for {
		if err := t.Sleep(w.plan.Poll); err != nil {
			return err
		}
		w.reader.Advance(w.drained)
		if !w.idle() || w.drained != 0 {
			return nil
		}
	}
}

// opening is where the stream is opened next: where the reader is, or somewhat before when it has
// got further than ever; nil for the first time.
func (w *watcher) opening() *histories.Token {
	if w.start == nil {
		return nil
	}
	after := w.upto
	if n := len(w.delivered); w.plan.Back > 0 && n > 0 && w.upto.Compare(w.furthest) > 0 {
		w.furthest = w.upto
		w.delivered = w.delivered[:max(1, n-w.plan.Back)]
		after = w.delivered[len(w.delivered)-1]
	}
	return &after
}

// lost has the reader begin from now on when no stream can go on from where it was; it is over when
// that was the last pass.
func (w *watcher) lost(err error) (over bool) {
	if !errors.Is(err, target.ErrHistoryLost) {
		return false
	}
	return w.again()
}

// again has the reader begin from now on; it is over when this was its last pass.
func (w *watcher) again() (over bool) {
	w.start, w.delivered, w.upto, w.invalid = nil, nil, histories.Token{}, false
	return w.replaying
}

func (w *watcher) begin(fresh bool, after histories.Token, call uint64, callAt int64) int {
	record := &w.history
	record.ops = append(record.ops, histories.Op{
		ID:      w.next,
		Client:  -1 - w.plan.ID,
		NS:      w.plan.NS,
		Kind:    scenario.Watch,
		Call:    call,
		CallAt:  callAt,
		Outcome: histories.OK,
		Stream: &histories.Stream{
			ID:     w.plan.ID,
			Fresh:  fresh,
			After:  after,
			Opened: record.tick(),
		},
	})
	w.next++
	return len(record.ops) - 1
}

// take records an answer.
func (w *watcher) take(i int, batch histories.ChangeBatch) {
	for _, c := range batch.Changes {
		w.delivered = append(w.delivered, c.Token)
		w.invalid = w.invalid || c.Kind == "invalidate"
	}
	s := w.history.ops[i].Stream
	s.Batches = append(s.Batches, batch)
	w.upto = batch.Upto
}

func (w *watcher) end(i int, err error) {
	w.history.end(i, target.Answer{Outcome: histories.OK})
	op := &w.history.ops[i]
	op.Stream.Drained = w.delivery()
	if err != nil {
		op.Error = err.Error()
	}
}
