package live

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/timeline"
)

// recorder keeps what clients asked and were answered, and counts what operators and faults did.
type recorder struct {
	clock atomic.Uint64
	began time.Time

	mu     sync.Mutex
	ops    []histories.Op
	counts map[string]int
	faults []timeline.Fault
}

// newRecorder begins with the operations that were there before the run.
func newRecorder(preload []histories.Op) *recorder {
	r := &recorder{began: time.Now(), ops: preload, counts: make(map[string]int)}
	r.clock.Store(uint64(2 * len(preload)))
	return r
}

// tick is the next number of the order of calls and answers.
func (r *recorder) tick() uint64 { return r.clock.Add(1) }

func (r *recorder) count(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[what]++
}

func (r *recorder) add(op histories.Op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, op)
	r.counts["operations "+string(op.Outcome)]++
}

// inForce notes a fault that has been in force since a time.
func (r *recorder) inForce(name string, since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, timeline.Fault{
		Name: name, From: since.Sub(r.began).Seconds(), To: time.Since(r.began).Seconds(),
	})
}

// taken is everything so far, in the order of the calls.
func (r *recorder) taken() ([]histories.Op, map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	attack.Order(r.ops)
	return r.ops, r.counts
}

// feeder gives each client its next operation. They are drawn in batches for all clients together.
type feeder struct {
	mu       sync.Mutex
	schedule *scenario.Scenario
	next     int
	waiting  [][]scenario.Op // by client
}

// batch is how many operations a client is drawn at a time, about.
const batch = 50

func (f *feeder) take(client int) scenario.Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.schedule.Topology.Clients
	if f.waiting == nil {
		f.waiting = make([][]scenario.Op, n)
	}
	for len(f.waiting[client]) == 0 {
		for _, op := range attack.Operations(f.schedule, f.next, batch*n) {
			f.waiting[op.Client] = append(f.waiting[op.Client], op)
		}
		f.next += batch * n
	}
	op := f.waiting[client][0]
	f.waiting[client] = f.waiting[client][1:]
	return op
}

// work is the life of a client.
func (r *run) work(id int, client Client, feed *feeder) {
	var every time.Duration
	if rate := attack.Rate(r.Schedule); rate > 0 {
		every = time.Second * time.Duration(r.Schedule.Topology.Clients) / time.Duration(rate)
	}
	for next := time.Duration(0); r.until(next); {
		op := feed.take(id)
		r.do(context.WithoutCancel(r.ctx), client, &op)
		next = max(next, time.Since(r.began)-every) + every
	}
}

// do carries out an operation and records it.
func (r *run) do(ctx context.Context, client Client, op *scenario.Op) histories.Outcome {
	ctx, cancel := context.WithTimeout(ctx, mostOperation)
	defer cancel()
	h := histories.Op{
		ID: op.ID, Client: op.Client, NS: op.NS, Kind: op.Kind, Key: op.Key, To: op.To,
		Value: op.Value, Expect: op.Expect, Concern: op.Concern, Prefer: op.Prefer,
		Call: r.record.tick(), CallAt: int64(time.Since(r.record.began)),
	}
	a := client.Do(ctx, op, r.record.tick)
	h.Return, h.ReturnAt = r.record.tick(), int64(time.Since(r.record.began))
	h.Outcome, h.Retries = a.Outcome, a.Retries
	if a.Outcome == histories.OK {
		h.Result = a.Result
	}
	if a.Err != nil {
		h.Error = a.Err.Error()
	}
	r.record.add(h)
	return h.Outcome
}
