package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/timeline"
)

// Options are what a run is made of.
type Options struct {
	// Schedule is one that attack.Check accepts.
	Schedule *scenario.Scenario
	System   System
	// Servers are touched by faults; nil: nothing is.
	Servers Servers
	// Log is for people. Nil: nothing is logged.
	Log *slog.Logger
}

// Result is what came of a run.
type Result struct {
	attack.Record
	// Counts are by name: operations by outcome, movements, commands and faults.
	Counts map[string]int
	// Faults are those that were done, with their times.
	Faults []timeline.Fault
	// Began is when the times of the history begin.
	Began time.Time
	// Took is how long the clients worked.
	Took time.Duration
	// Interrupted is set when the context ended the run early.
	Interrupted bool
}

const (
	// mostOperation is how long a client tries an operation.
	mostOperation = 15 * time.Second
	// mostMove is how long an operator waits for a movement, mostRepair how long a repair may take.
	mostMove   = 45 * time.Second
	mostRepair = 20 * time.Second
	// movesAtOnce are in progress at most.
	movesAtOnce = 3
)

// run is one in progress.
type run struct {
	Options
	ctx      context.Context // of the phase in which there are faults
	began    time.Time
	record   *recorder
	movement movements
	others   sync.WaitGroup // operators and faults
}

// Run carries out a schedule. The error says why it could not begin; what happens later is part of
// the result.
func Run(ctx context.Context, o Options) (*Result, error) {
	if err := attack.Check(o.Schedule); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Schedule = attack.InOrder(o.Schedule)
	c := o.Schedule.Collections[0]
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := o.System.Create(starting, c); err != nil {
		return nil, fmt.Errorf("the collection %s could not be made: %w", c.NS, err)
	}
	r := &run{Options: o, record: newRecorder(histories.Preload(o.Schedule, nil))}
	r.attack(ctx)
	took := time.Since(r.began)
	result := &Result{Began: r.record.began, Took: took, Interrupted: ctx.Err() != nil}
	if !result.Interrupted {
		result.Unsettled = r.settle(ctx)
		r.readAll(ctx)
	}
	result.History, result.Counts = r.record.taken()
	result.Faults = r.record.faults
	result.Keys, result.Final = c.Keys, o.Schedule.Topology.Clients
	if o.Servers != nil {
		result.Ended = o.Servers.Ended()
	}
	return result, nil
}

// attack is the phase with clients, movements and faults; it returns when all have ended and
// everything is repaired.
func (r *run) attack(ctx context.Context) {
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithTimeout(ctx, r.Schedule.FaultsEnd)
	defer cancel()
	r.began = time.Now()
	var clients sync.WaitGroup
	feed := &feeder{schedule: r.Schedule, next: 1}
	for id := range r.Schedule.Topology.Clients {
		client := r.System.NewClient(id)
		clients.Go(func() { r.work(id, client, feed) })
	}
	r.others.Go(r.move)
	r.others.Go(r.command)
	if r.Servers != nil {
		r.others.Go(r.attackServers)
	}
	<-r.ctx.Done()
	r.others.Wait()
	clients.Wait()
}

// until waits for a time of the schedule; false means that the phase is over.
func (r *run) until(at time.Duration) bool {
	timer := time.NewTimer(at - time.Since(r.began))
	defer timer.Stop()
	select {
	case <-timer.C:
		return r.ctx.Err() == nil
	case <-r.ctx.Done():
		return false
	}
}

// settle has the system come to rest after the faults. It returns what is wrong, empty for nothing.
func (r *run) settle(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, r.Schedule.Limit)
	defer cancel()
	if r.Servers == nil {
		return ""
	}
	if err := r.Servers.Settle(ctx); err != nil {
		return err.Error()
	}
	return ""
}

// readAll reads every key, each until it was read or the time is up, and then scans them all.
func (r *run) readAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.Schedule.Limit)
	defer cancel()
	c, id := r.Schedule.Collections[0], r.Schedule.Topology.Clients
	client := r.System.NewClient(id)
	next := finalFirst
	again := func(op scenario.Op) {
		for ctx.Err() == nil {
			op.ID = next
			next++
			if r.do(ctx, client, &op) == histories.OK {
				return
			}
			pause(ctx, 200*time.Millisecond)
		}
	}
	for k := range int64(c.Keys) {
		again(scenario.Op{Client: id, NS: c.NS, Kind: scenario.Read, Key: k})
	}
	again(scenario.Op{
		Client: id, NS: c.NS, Kind: scenario.Scan, Key: 0, To: int64(c.Keys), Batch: 10,
	})
}

// finalFirst is the number of the first operation of the final reads.
const finalFirst = 1_000_000_000

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// shown is an error for a log: what everybody expects when a run ends is none.
func shown(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	}
	return err.Error()
}
