package live

import (
	"errors"
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/packed"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/live/tcp"
)

// Send implements env.Node.
func (n *node) Send(to env.NodeID, m env.Message) {
	if n.dead {
		return
	}
	if to == n.opts.ID {
		n.loop.next(func() { n.receive(to, m) })
		return
	}
	n.wire.Send(string(to), n.encode(m))
}

// encode makes bytes of a message on the loop, where nobody changes what it may share.
func (n *node) encode(m env.Message) []byte {
	b, err := n.opts.Codec.Encode(m)
	if err != nil {
		n.fail(fmt.Sprintf("message %T cannot be encoded: %v", m, err))
	}
	return b
}

// Call implements env.Task.
func (t *task) Call(to env.NodeID, req env.Message, timeout time.Duration) (env.Message, error) {
	if err := t.enter(); err != nil {
		return nil, err
	}
	n := t.node
	n.called++
	id, then := n.called, t.waits
	if timeout > 0 {
		t.arm(timeout, func() error {
			return errcode.New(errcode.NetworkTimeout, "task %s got no reply from %s in %s",
				t.Name(), to, timeout)
		})
	}
	n.calls[id] = t
	if to == n.opts.ID {
		n.loop.next(func() {
			n.serve(to, req, func(m env.Message, err error) { t.answered(then, m, coded(err)) })
		})
	} else {
		n.wire.Request(string(to), id, n.encode(req))
	}
	err := t.wait(calling)
	delete(n.calls, id)
	n.wire.Forget(string(to), id)
	m := t.answer
	t.answer = nil
	return m, err
}

// answered ends the call that was the wait of that number.
func (t *task) answered(then uint64, m env.Message, err error) {
	if t.waitsFor(calling, then) {
		t.answer = m
		t.wake(err)
	}
}

// coded is err as it crosses the network.
func coded(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*errcode.Error](err); ok {
		return e
	}
	return errcode.New(errcode.Internal, "%v", err)
}

// serve answers a request in a task of its own.
func (n *node) serve(from env.NodeID, req env.Message, answer func(env.Message, error)) {
	if n.handler == nil {
		answer(nil, errcode.New(errcode.HostUnreachable,
			"node %s does not serve requests yet", n.opts.ID))
		return
	}
	n.Spawn(nil, n.opts.Classify(req), func(t env.Task) {
		m, err := n.handler(t, from, req)
		if !n.dead {
			answer(m, err)
		}
	})
}

func (n *node) receive(from env.NodeID, m env.Message) {
	if n.receiver != nil && !n.dead {
		n.receiver(from, m)
	}
}

// mostInbound is how many bytes may have arrived that the loop has not taken yet; a message counts
// as leastWeight bytes at least.
const (
	mostInbound = 512 << 20
	leastWeight = 4 << 10
)

// arrivals brings what the network hands out to the loop. Messages are decoded before, on the
// goroutine of their connection.
type arrivals struct{ n *node }

// take has fn run on the loop, once there is room.
func (a arrivals) take(bytes int, fn func()) {
	weight := min(max(int64(bytes), leastWeight), mostInbound)
	if a.n.inbound.Acquire(a.n.arriving, weight) != nil {
		return
	}
	taken := a.n.loop.post(func() {
		a.n.inbound.Release(weight)
		fn()
	})
	if !taken {
		a.n.inbound.Release(weight)
	}
}

// OneWay implements tcp.Handler.
func (a arrivals) OneWay(from string, body []byte) {
	m, err := a.n.opts.Codec.Decode(body)
	if err != nil {
		a.n.opts.Log.Warn("a message cannot be read", "from", from, "why", err)
		return
	}
	a.take(len(body), func() { a.n.receive(env.NodeID(from), m) })
}

// Request implements tcp.Handler.
func (a arrivals) Request(from string, body []byte, answer *tcp.Answer) {
	m, err := a.n.opts.Codec.Decode(body)
	if err != nil {
		a.n.opts.Log.Warn("a request cannot be read", "from", from, "why", err)
		answer.Fail(a.n.encodeError(errcode.New(errcode.BadValue, "the request cannot be read")))
		return
	}
	a.take(len(body), func() {
		if a.n.handler == nil {
			answer.Refuse()
			return
		}
		a.n.serve(env.NodeID(from), m, func(m env.Message, err error) {
			if err != nil {
				answer.Fail(a.n.encodeError(err))
				return
			}
			answer.Reply(a.n.encode(m))
		})
	})
}

// Answered implements tcp.Handler.
func (a arrivals) Answered(id uint64, outcome tcp.Outcome, body []byte) {
	var m env.Message
	var err error
	switch outcome {
	case tcp.Replied:
		if m, err = a.n.opts.Codec.Decode(body); err != nil {
			err = errcode.New(errcode.Internal, "the reply cannot be read: %v", err)
		}
	case tcp.Failed:
		err = a.n.decodeError(body)
	default:
		err = errcode.New(errcode.HostUnreachable, "the node does not serve requests")
	}
	a.take(len(body), func() { a.n.end(id, m, err) })
}

// Lost implements tcp.Handler.
func (a arrivals) Lost(id uint64) {
	a.n.loop.post(func() {
		a.n.end(id, nil, errcode.New(errcode.HostUnreachable, "there is no connection"))
	})
}

// end ends the call that waits under a number.
func (n *node) end(id uint64, m env.Message, err error) {
	if t := n.calls[id]; t != nil {
		delete(n.calls, id)
		t.answered(t.waits, m, err)
	}
}

// encodeError writes an error's code and reason, each after its length, and its detail in the
// codec's bytes, if it has one.
func (n *node) encodeError(err error) []byte {
	e := coded(err).(*errcode.Error)
	b := packed.AppendText(nil, string(e.Code), e.Reason)
	if e.Detail != nil {
		b = append(b, n.encode(e.Detail)...)
	}
	return b
}

// decodeError undoes encodeError; what it cannot read is an errcode.Internal.
func (n *node) decodeError(b []byte) error {
	r := packed.Read(b)
	e := &errcode.Error{Code: errcode.Code(r.Text()), Reason: r.Text()}
	rest, whole := r.Rest()
	if !whole {
		return errcode.New(errcode.Internal, "the error cannot be read")
	}
	if len(rest) > 0 {
		detail, err := n.opts.Codec.Decode(rest)
		if err != nil {
			return errcode.New(errcode.Internal, "the detail of %v cannot be read: %v", e, err)
		}
		e.Detail = detail
	}
	return e
}
