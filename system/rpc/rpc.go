// Package rpc sends typed commands between nodes and lets every message carry the vector clock
// (gossip). Set finds the primary of a replica set for nodes that are not members of it.
//
// Promise: a handler sees a command only after the node's clock has taken over the sender's, and a
// caller sees the response, or the error, only after its own clock has taken over the responder's.
//
// Refusal: it repeats nothing: a caller decides whether to send a request again.
package rpc

import (
	"errors"
	"reflect"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
)

// Envelope is what travels: a command, a response or an error, and the sender's clock.
type Envelope struct {
	Clock hlc.Vector
	Body  env.Message
	Err   *errcode.Error
}

// Endpoint is a node's end of all conversations.
type Endpoint struct {
	node     env.Node
	clock    *hlc.Clock
	handlers map[reflect.Type]handler
	// complete: a command without a handler is a mistake of the cluster's.
	complete bool
}

type handler func(t env.Task, from env.NodeID, req env.Message) (env.Message, error)

// Listen starts to serve. Handlers may be added later; a command without one is answered with
// CommandNotFound.
func Listen(node env.Node, c *hlc.Clock) *Endpoint {
	e := &Endpoint{node: node, clock: c, handlers: make(map[reflect.Type]handler)}
	node.Serve(e.serve)
	return e
}

// Clock is the node's clock.
func (e *Endpoint) Clock() *hlc.Clock { return e.clock }

// Complete says that only parties that know what this node serves will send to it: from now on a
// command without a handler fails an assertion.
func (e *Endpoint) Complete() { e.complete = true }

// Node is the node the endpoint belongs to.
func (e *Endpoint) Node() env.Node { return e.node }

// Handle sets the handler of one command type.
func Handle[Req, Resp any](
	e *Endpoint, fn func(t env.Task, from env.NodeID, req *Req) (*Resp, error),
) {
	e.handlers[reflect.TypeFor[*Req]()] = func(
		t env.Task, from env.NodeID, req env.Message,
	) (env.Message, error) {
		resp, err := fn(t, from, req.(*Req))
		if err != nil {
			return nil, err
		}
		return resp, nil
	}
}

func (e *Endpoint) serve(t env.Task, from env.NodeID, m env.Message) (env.Message, error) {
	in, ok := m.(*Envelope)
	if !ok {
		return nil, errcode.New(errcode.BadValue,
			"a request from %s is not an envelope but %T", from, m)
	}
	e.clock.Advance(in.Clock)
	out := &Envelope{}
	h := e.handlers[reflect.TypeOf(in.Body)]
	if h == nil {
		e.node.Assert(!e.complete, "node %s has no command %T, which %s has sent",
			e.node.ID(), in.Body, from)
		out.Err = errcode.New(errcode.CommandNotFound, "node %s has no command %T",
			e.node.ID(), in.Body)
	} else if body, err := h(t, from, in.Body); err != nil {
		out.Err = toErrcode(err)
	} else {
		out.Body = body
	}
	out.Clock = e.clock.Now()
	return out, nil
}

func toErrcode(err error) *errcode.Error {
	if e, ok := errors.AsType[*errcode.Error](err); ok {
		return e
	}
	return errcode.New(errcode.Internal, "%v", err)
}

// Call sends req and waits for the response, for at most timeout; zero or less means no limit.
// Errors are *errcode.Error.
func Call[Resp any](
	t env.Task, e *Endpoint, to env.NodeID, req env.Message, timeout time.Duration,
) (*Resp, error) {
	m, err := t.Call(to, &Envelope{Clock: e.clock.Now(), Body: req}, timeout)
	if err != nil {
		return nil, err
	}
	in := m.(*Envelope)
	e.clock.Advance(in.Clock)
	if in.Err != nil {
		return nil, in.Err
	}
	resp, ok := in.Body.(*Resp)
	if !ok {
		return nil, errcode.New(errcode.Internal, "%s answered %T with %T", to, req, in.Body)
	}
	return resp, nil
}
