package runner

import (
	"cmp"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// recorder is the history in the making. Its counter orders calls, returns and batches of all
// clients.
type recorder struct {
	counter uint64
	now     func() env.Time
	ops     []histories.Op
}

func (r *recorder) tick() uint64 {
	r.counter++
	return r.counter
}

// begin notes a call; the operation counts as unknown until end.
func (r *recorder) begin(op *scenario.Op) int {
	r.ops = append(r.ops, histories.Op{
		ID:      op.ID,
		Client:  op.Client,
		NS:      op.NS,
		Kind:    op.Kind,
		Key:     op.Key,
		To:      op.To,
		Value:   op.Value,
		Expect:  op.Expect,
		Concern: op.Concern,
		Prefer:  op.Prefer,
		Causal:  op.Causal,
		Into:    op.Into,
		Call:    r.tick(),
		CallAt:  int64(r.now()),
		Outcome: histories.Unknown,
	})
	return len(r.ops) - 1
}

func (r *recorder) end(i int, a target.Answer) {
	op := &r.ops[i]
	op.Return, op.ReturnAt = r.tick(), int64(r.now())
	op.Outcome, op.Retries = cmp.Or(a.Outcome, histories.Unknown), a.Retries
	op.After, op.Time, op.Since = a.After, a.Time, a.Since
	op.Exact, op.Lossy = a.Exact, a.Lossy
	if a.Err != nil {
		op.Error = a.Err.Error()
	}
	if op.Outcome != histories.Unknown {
		op.Result = a.Result
	}
}

// close gives operations that have not ended a return, so that a history is complete whenever the
// run ends.
func (r *recorder) close() {
	for i := range r.ops {
		if r.ops[i].Return == 0 {
			r.end(i, target.Answer{Err: errcode.New(errcode.Interrupted,
				"the run ended before the operation")})
		}
	}
}

// leftOpen says whether an operation on a whole collection has an unknown outcome.
func (r *recorder) leftOpen() bool {
	for i := range r.ops {
		if r.ops[i].Kind.Whole() && r.ops[i].Outcome == histories.Unknown {
			return true
		}
	}
	return false
}
