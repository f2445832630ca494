package main

import (
	"math/rand/v2"
	"time"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

// clients is how many clients use the store at a time, each for one operation.
const clients = 50

// unknownPercent is in how many percent of writes the client never learns what became of it.
const unknownPercent = 1

// store is a perfect one: every operation takes effect at one instant between its call and its
// answer. Nothing of a history is kept beyond what is in progress, so that it can have any length.
type store struct {
	*rand.Rand
	plan  *planner
	docs  map[int64]string
	clock uint64
	// timed: answers name cluster times, as those of shardproof's own servers do.
	timed bool
	busy  [clients]*running
	heard [clients]uint64
	// open are the operations in the order of their calls, from the first without an answer on.
	open []*running
}

// running is an operation that was called.
type running struct {
	op            histories.Op
	applied, done bool
}

// play calls write for each of so many operations, in the order of their calls.
func (s *store) play(count int, write func(*histories.Op) error) error {
	for called := 0; called < count || len(s.open) > 0; {
		client := s.IntN(clients)
		switch r := s.busy[client]; {
		case r == nil && called < count:
			s.call(client)
			called++
		case r == nil:
		case !r.applied:
			s.apply(&r.op)
			r.applied = true
		default:
			s.answer(client)
		}
		for len(s.open) > 0 && s.open[0].done {
			if err := write(&s.open[0].op); err != nil {
				return err
			}
			s.open = s.open[1:]
		}
	}
	return nil
}

func (s *store) tick() uint64 { s.clock++; return s.clock }

// now is the virtual time in nanoseconds; clusterTime is what servers call it.
func (s *store) now() int64 { return int64(s.clock) * int64(100*time.Microsecond) }

func (s *store) clusterTime() uint64 {
	return uint64(s.now()/int64(time.Millisecond))<<histories.TimeBits | s.clock%10
}

func (s *store) call(client int) {
	p := s.plan.next()
	r := &running{op: histories.Op{
		ID:      p.ID,
		Client:  client,
		NS:      p.NS,
		Kind:    p.Kind,
		Key:     p.Key,
		Value:   p.Value,
		Expect:  p.Expect,
		Concern: p.Concern,
		Call:    s.tick(),
		Outcome: histories.OK,
	}}
	r.op.CallAt = s.now()
	if s.timed {
		r.op.After = s.heard[client]
	}
	if !p.Kind.Of().Reads() && s.IntN(100) < unknownPercent {
		r.op.Outcome = histories.Unknown
	}
	s.busy[client], s.open = r, append(s.open, r)
}

func (s *store) answer(client int) {
	op := &s.busy[client].op
	op.Return, op.ReturnAt = s.tick(), s.now()
	if op.Outcome == histories.Unknown {
		op.Result, op.Time, op.Exact = histories.Result{}, 0, false
	}
	s.heard[client] = max(s.heard[client], op.Time)
	s.busy[client].done, s.busy[client] = true, nil
}

// apply is the moment at which the operation takes effect, if it does.
func (s *store) apply(op *histories.Op) {
	s.tick()
	if op.Outcome == histories.Unknown && s.IntN(2) == 0 {
		return
	}
	value, found := s.docs[op.Key]
	kind, r := op.Kind.Of(), &op.Result
	r.Applied = !kind.Reads() && holds(kind.Condition, op, value, found) &&
		(found || kind.Effect != opkind.Remove)
	if kind.Returns || kind.Tells && found {
		r.Found = found
	}
	if kind.Returns {
		r.Value = value
	}
	r.Upserted = kind.Tells && !found
	if r.Applied && kind.Effect == opkind.Remove {
		delete(s.docs, op.Key)
	} else if r.Applied {
		s.docs[op.Key] = op.Value
	}
	if s.timed {
		s.stamp(op)
	}
}

// stamp has the answer name the time: a write that of its entry, a read since when it looked.
func (s *store) stamp(op *histories.Op) {
	switch {
	case op.Result.Applied:
		op.Time, op.Exact = s.clusterTime(), true
	case op.Kind.Of().Reads():
		op.Time, op.Since = s.clusterTime(), s.clusterTime()
	}
}

func holds(c opkind.Condition, op *histories.Op, value string, found bool) bool {
	switch c {
	case opkind.DocumentPresent:
		return found
	case opkind.DocumentMissing:
		return !found
	case opkind.DocumentExpected:
		return found == (op.Expect != "") && value == op.Expect
	}
	return true
}

// planner draws what clients do, a batch at a time. Lists and scans are left out: their results
// would be the larger part of the history.
type planner struct {
	source workloads.Source
	keys   int
	drawn  int
	batch  []scenario.Op
}

func (p *planner) next() (op scenario.Op) {
	const most = 10_000
	if len(p.batch) == 0 {
		p.batch = workloads.Draw(p.source, workloads.Params{
			NS: "test.docs", Keys: p.keys, Clients: clients, Count: most, Span: time.Second,
			FirstID: p.drawn + 1,
		}, []workloads.Share{
			{Name: "registers", Weight: 50},
			{Name: "inserts", Weight: 25},
			{Name: "upserts", Weight: 25},
		})
		p.drawn += most
	}
	op, p.batch = p.batch[0], p.batch[1:]
	return op
}

func newStore(keys int, timed bool) *store {
	r := rand.New(rand.NewPCG(1, 2))
	return &store{
		Rand:  r,
		plan:  &planner{source: func(_ string, n int) int { return r.IntN(n) }, keys: keys},
		docs:  map[int64]string{},
		timed: timed,
	}
}
