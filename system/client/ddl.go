package client

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/rpc"
)

// ShardCollection makes a sharded collection.
func (c *Client) ShardCollection(t env.Task, op command.ShardCollection) Answer {
	op.Session = c.operation()
	return c.change(t, &op)
}

// DropCollection removes a sharded collection, if it exists; with must it has to.
func (c *Client) DropCollection(t env.Task, ns string, must bool) Answer {
	return c.change(t, &command.DropCollection{NS: ns, Sharded: must, Session: c.operation()})
}

// RenameCollection gives a sharded collection another name, which with dropTarget another one may
// have had.
func (c *Client) RenameCollection(t env.Task, ns, to string, dropTarget bool) Answer {
	return c.change(t, &command.RenameCollection{
		NS:         ns,
		To:         to,
		DropTarget: dropTarget,
		Session:    c.operation(),
	})
}

// CreateIndex makes an index on a field of a sharded collection.
func (c *Client) CreateIndex(t env.Task, ns, field string) Answer {
	return c.change(t, &command.CreateIndex{NS: ns, Field: field, Session: c.operation()})
}

// DropIndex removes the index on a field.
func (c *Client) DropIndex(t env.Task, ns, field string) Answer {
	return c.change(t, &command.DropIndex{NS: ns, Field: field, Session: c.operation()})
}

// operation is the statement of an operation on a whole collection; none when writes are sent once:
// then its router gives it a number of its own, and repeats it until it is over.
func (c *Client) operation() command.Session {
	if c.sendsOnce() {
		return command.Session{}
	}
	return c.statement()
}

// change sends an operation on a whole collection until it is known to be over, or once if it is no
// statement. The request is executed at most once, so a success is that of this request; everything
// else than a refusal of the first attempt leaves the outcome open.
func (c *Client) change(t env.Task, op env.Message) Answer {
	retries := c.newRetries()
	var doubt uncertainty
	for {
		_, err := rpc.Call[command.Done](t, c.ep, retries.router(), op, retries.timeout())
		if err == nil {
			return Answer{Certainty: OK, Retries: retries.done}
		}
		doubt.executed = doubt.executed ||
			!errcode.Is(err, errcode.NamespaceNotFound, errcode.NamespaceExists, errcode.BadValue)
		if c.sendsOnce() || !isRetryableWrite(err) || !retries.again(t, err) {
			return doubt.failure(err, retries.done)
		}
	}
}

// CreateUnsharded makes an unsharded collection with these options, nil for none, unless it exists.
func (c *Client) CreateUnsharded(t env.Task, ns string, options bson.Raw) Answer {
	return c.write(t, &command.CreateUnsharded{
		NS: ns, Options: options, Session: c.statement(), Concern: command.Majority,
	})
}

// DropUnsharded removes an unsharded collection, if it exists.
func (c *Client) DropUnsharded(t env.Task, ns string) Answer {
	return c.write(t, &command.DropUnsharded{
		NS: ns, Session: c.statement(), Concern: command.Majority,
	})
}

// RenameUnsharded gives an unsharded collection another name in its database; with dropTarget a
// collection of that name is dropped.
func (c *Client) RenameUnsharded(t env.Task, ns, to string, dropTarget bool) Answer {
	return c.write(t, &command.RenameUnsharded{
		NS: ns, To: to, DropTarget: dropTarget, Session: c.statement(), Concern: command.Majority,
	})
}

// IndexUnsharded makes an index of an unsharded collection, which is made if there is none; one
// without a description is removed.
func (c *Client) IndexUnsharded(t env.Task, ns, name string, spec bson.Raw) Answer {
	return c.write(t, &command.IndexUnsharded{
		NS: ns, Name: name, Spec: spec, Implicit: spec != nil, Session: c.statement(),
		Concern: command.Majority,
	})
}
