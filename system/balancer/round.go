package balancer

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
)

// round is one round of a term.
type round struct {
	clusterView
	number int64
	began  env.Time
	chosen []policy.Migration
	// ended are the requests that have ended since the last round took note: in 8.0 perhaps those
	// of earlier rounds.
	ended []*moveRequest
}

// round makes a round (protocol 14.1, 14.2) and returns how much it got done.
func (m *term) round(t env.Task, o roundOptions) int {
	m.inRound = true
	r := &round{clusterView: clusterView{m, o}, number: m.rounds + 1, began: m.node.Mono()}
	r.tell(trace.RoundBegun)
	err := r.carryOut(t)
	_ = t.Point(failpoint.BalancerRoundEnd, r.note())
	r.tell(trace.RoundEnded)
	r.record(t, err)
	m.rounds++
	m.inRound = false
	m.changed.Broadcast()
	return r.processed()
}

func (r *round) carryOut(t env.Task) (err error) {
	if err := t.Point(failpoint.BalancerRoundBegin, r.note()); err != nil {
		return err
	}
	if err := r.split(t); err != nil {
		return err
	}
	if err := r.defragment(t); err != nil {
		return err
	}
	r.ended = r.scheduler.take()
	choice, err := r.choose(t)
	if err != nil {
		return err
	}
	r.chosen = choice.Migrations()
	r.warn(t, choice.OnlyJumbo())
	if len(r.chosen) > 0 {
		if _, open := r.open(t); open { // it may have been switched off meanwhile
			r.enqueue(t)
		}
	}
	if err := r.await(t); err != nil {
		return err
	}
	r.ended = append(r.ended, r.scheduler.take()...)
	return nil
}

func (r *round) enqueue(t env.Task) {
	for i, m := range r.chosen {
		table, err := r.server.Table(m.NS)
		if err != nil {
			continue
		}
		q := &moveRequest{
			Migration:    m,
			roundOptions: r.of(table.Collection()),
			name:         fmt.Sprintf("balancer/%d/%d/%d", r.term.number, r.number, i+1),
		}
		if t.Point(failpoint.BalancerEnqueue, q.note()) == nil {
			r.scheduler.enqueue(t, q)
		}
	}
}

// await waits for the end of all requests in 4.2. Later it is enough that one ends, so that a slow
// collection does not delay others: its shards stay busy, and the next round chooses for the rest.
func (r *round) await(t env.Task) error {
	q := &r.scheduler
	if !r.server.Profile().BalancesBySize() {
		return r.changed.WaitFor(t, 0, q.idle)
	}
	_ = r.changed.WaitFor(t, r.settings.BalancerInterval, func() bool {
		return q.idle() || len(q.ended) > 0
	})
	return t.Err()
}

// processed counts what moved, and what turned out to be too big, which is handled as well (errata
// E1).
func (r *round) processed() (n int) {
	for _, q := range r.ended {
		if q.err == nil || q.tooBig() {
			n++
		}
	}
	return n
}

func (r *round) note() env.Note { return env.Note{N: int(r.number)} }

func (r *round) tell(phase trace.RoundPhase) {
	r.emit(trace.BalancerRoundEvent{Round: int(r.number), Phase: phase}.Event())
}

// record writes what became of a round, unless there was nothing to do.
func (r *round) record(t env.Task, err error) {
	took := r.node.Mono().Sub(r.began).Milliseconds()
	switch {
	case err != nil:
		r.logAction(t, "balancer.round", bson.D{
			{Key: "executionTimeMillis", Value: took}, {Key: "errorOccured", Value: true},
			{Key: "errmsg", Value: err.Error()},
		})
	case len(r.chosen) > 0:
		r.logAction(t, "balancer.round", bson.D{
			{Key: "executionTimeMillis", Value: took}, {Key: "errorOccured", Value: false},
			{Key: "candidateChunks", Value: len(r.chosen)},
			{Key: "chunksMoved", Value: r.processed()},
		})
	}
}
