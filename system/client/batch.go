package client

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// batch is what the client has written under one transaction number: each write is a statement of
// its own, of which a shard remembers all while the number is its session's newest (protocol 7).
type batch struct {
	statements int
	// recorded are those that are known to have changed something, as they were sent, and all that
	// they were to. Of another a shard has no record, so that it would be carried out now.
	recorded []env.Message
}

// Join has the next write go into one batch with the one before. What is retried of a batch is all
// of it: who sends a statement again sends those before it again, too, and they are not carried out
// twice. Each is answered when it is done all the same, as those of a cursor over a bulk write are.
func (c *Client) Join() { c.joins = true }

// suspectEvery is how many statements of a batch go by until it is sent again without a failure, as
// when the answer to all of it is lost: much may have moved since the first.
const suspectEvery = 3

func (b *batch) suspect() bool { return b.statements > 1 && b.statements%suspectEvery == 0 }

// repeatBatch sends again what was written before under the same number, as often as a statement of
// it is retried. What that is answered says nothing new, and may be an error.
func (c *Client) repeatBatch(t env.Task, r *retries) {
	for _, op := range c.batch.recorded {
		_, _ = rpc.Call[command.Written](t, c.ep, r.router(), op, r.timeout())
	}
}

// batched is the next statement of the batch if it is to be one, or else the first of another.
func (c *Client) batched() command.Session {
	of := command.Session{ID: c.session, Txn: c.txn, Stmt: int32(c.batch.statements)}
	if !c.joins || c.batch.statements == 0 {
		of = c.statement()
	}
	c.joins = false
	c.batch.statements++
	return of
}
