// Package sums remembers what shards have answered to the statements of a router's request: its own
// answer is the sum of these.
//
// Promise: a statement that a shard has answered is not sent again, so each answer counts once. The
// answer to several statements is as old as the newest of them, whichever that is: one that
// comes later may have been found on record by a shard that has written nothing for long.
//
// Refusal: it knows nothing of what the answers should be, nor of requests that fail.
package sums

import (
	"fmt"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

// Routers are the open requests of all routers. The zero value has none.
type Routers struct{ open map[asker]*sum }

// asker is the task of a node that carries a request out.
type asker struct {
	node env.NodeID
	task uint64
}

// sum is what shards have answered to one request, and which of them as of the latest time.
type sum struct {
	command.Written
	latest env.NodeID
	parts  int
	// doubtful says that an answer came without its write concern.
	doubtful bool
}

// Ended notes the answer to a call of a router.
func (r *Routers) Ended(x *env.Exchange, said env.Message) {
	one, written := said.(*command.Written)
	if !written {
		return
	}
	who := asker{x.From, x.Task}
	all := r.open[who]
	if all == nil {
		if r.open == nil {
			r.open = map[asker]*sum{}
		}
		all = &sum{}
		all.Retried = true
		r.open[who] = all
	}
	all.parts++
	all.N += one.N
	all.Modified += one.Modified
	all.Upserted = all.Upserted || one.Upserted
	all.Retried = all.Retried && one.Retried
	all.doubtful = all.doubtful || one.ConcernError != ""
	if one.Time > all.Time {
		all.Time, all.latest = one.Time, x.To
	}
}

// Answered is the answer of a router, nil for a failure. It says what is wrong with it, as clauses.
func (r *Routers) Answered(x *env.Exchange, said env.Message) (wrong []string) {
	who := asker{x.To, x.Task}
	all := r.open[who]
	delete(r.open, who)
	got, written := said.(*command.Written)
	if all == nil || !written {
		return nil
	}
	if got.Time < all.Time {
		wrong = append(wrong, fmt.Sprintf("it is dated %s, and %s has answered a part of it as of %s",
			got.Time, all.latest, all.Time))
	}
	if got.N != all.N || got.Modified != all.Modified || got.Upserted != all.Upserted ||
		got.Retried != all.Retried {
		wrong = append(wrong, fmt.Sprintf("it counts n=%d nModified=%d upserted=%t retried=%t, and "+
			"the %d answers of shards together n=%d nModified=%d upserted=%t retried=%t", got.N,
			got.Modified, got.Upserted, got.Retried, all.parts, all.N, all.Modified, all.Upserted,
			all.Retried))
	}
	if doubtful := got.ConcernError != ""; doubtful != all.doubtful {
		wrong = append(wrong, fmt.Sprintf("it says that a write concern was not satisfied: %t; "+
			"shards have said so: %t", doubtful, all.doubtful))
	}
	return wrong
}
