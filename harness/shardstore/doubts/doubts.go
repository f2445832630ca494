// Package doubts remembers attempts of writes that ended in a way that leaves open, to the router,
// whether they were executed: its answer to the client must not say for certain that they were not.
// It judges only that, and forgets an attempt when its request is answered; of requests that are
// never answered it keeps what it has.
package doubts

import (
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// Routers are the doubts of all routers. The zero value has none.
type Routers struct{ open map[asker]Attempt }

// asker is the task of a node that carries a request out.
type asker struct {
	node env.NodeID
	task uint64
}

// Attempt is one that ended with an error that does not exclude that it was executed.
type Attempt struct {
	To   env.NodeID
	Code errcode.Code
}

// Ended notes how a call of a router has ended. A nil err leaves nothing open, and nothing of
// earlier attempts: of several documents, the router sends the next only when the one before is
// written.
func (r *Routers) Ended(x *env.Exchange, asked env.Message, err error) {
	if !writes(asked) || client.IsCertainRefusal(err) {
		return
	}
	if err == nil {
		delete(r.open, asker{x.From, x.Task})
		return
	}
	if r.open == nil {
		r.open = map[asker]Attempt{}
	}
	r.open[asker{x.From, x.Task}] = Attempt{x.To, errcode.Of(err)}
}

// Answered is the answer of a router. It returns the attempt of a write that makes it wrong.
func (r *Routers) Answered(x *env.Exchange, err error) (a Attempt, wrong bool) {
	who := asker{x.To, x.Task}
	a, open := r.open[who]
	delete(r.open, who)
	return a, open && client.IsCertainRefusal(err)
}

// writes reports whether a request of a router to a shard changes something for a client.
func writes(asked env.Message) bool {
	switch asked.(type) {
	case *command.Insert, *command.Update, *command.Delete, *command.FindAndModify,
		*command.DropUnsharded, *command.RenameUnsharded, *command.IndexUnsharded:
		return true
	}
	return false
}
