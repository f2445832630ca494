package sim

import (
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// deliver hands the packet over.
func (w *World) deliver(p *packet) {
	ch := p.channel
	switch {
	case ch.link.cuts > 0, p.late && w.gate.calm:
		w.lose(p) // in a network that has healed, nothing comes late
	case p.kind == reply:
		w.deliverReply(p)
	case p.kind == request:
		w.deliverRequest(p)
	default:
		w.deliverOneWay(p)
	}
}

func (w *World) deliverOneWay(p *packet) {
	n := p.channel.link.to.life
	if n == nil || n.receiver == nil {
		w.lose(p)
		return
	}
	w.note(stepDeliver, n.machine, p.channel.site, p.nth, p.channel.hash)
	from, m := p.channel.link.from.id, w.decode(p)
	w.network.release(p)
	n.receiver(from, m)
}

func (w *World) deliverRequest(p *packet) {
	l := p.channel.link
	n := l.to.life
	if n == nil || n != p.to || n.handler == nil {
		w.refuse(p)
		return
	}
	w.note(stepDeliver, n.machine, p.channel.site, p.nth, p.channel.hash)
	t := n.newTask(&n.scope, p.channel.class.name)
	t.request = p
	w.resume(t)
}

// refuse fails the call: no process of the node runs.
func (w *World) refuse(p *packet) {
	l := p.channel.link
	w.note(stepRefuse, l.to, p.channel.site, p.nth, p.channel.hash)
	w.hangUpOn(p)
}

// hangUpOn fails the call of a request that will not be answered, unless the way back is cut.
func (w *World) hangUpOn(p *packet) {
	l := p.channel.link
	back := w.link(l.to, l.from)
	if back.cuts > 0 || !p.awaited() {
		w.lose(p)
		return
	}
	w.failCall(p, back.latency.Base, errcode.New(errcode.HostUnreachable,
		"node %s is not reachable from %s", l.to.id, l.from.id))
}

// hangUp fails the calls that an incarnation leaves unanswered when it crashes.
func (w *World) hangUp(n *node) {
	for t := n.first; t != nil; t = t.next {
		if t.request != nil {
			p := w.network.packet()
			*p = *t.request
			w.hangUpOn(p)
		}
	}
}

// serve is the body of a handler's task.
func (w *World) serve(t *task) {
	p := t.request
	l := p.channel.link
	received, arrived := w.decode(p), w.now
	mark := t.witness(env.Exchange{
		From: l.from.id, To: l.to.id, Task: t.id, Request: received, Began: arrived, Arrived: true,
	})
	m, err := t.node.handler(t, l.from.id, received)
	term, index := t.Written()
	t.witness(env.Exchange{
		From: l.from.id, To: l.to.id, Task: t.id, Request: received, Reply: m, Err: err,
		Began: arrived, Served: true, Mark: mark, Wrote: index, WroteIn: term,
	})
	if t.node.inert() {
		return
	}
	w.compare(p, received)
	t.request = nil
	if p.mute {
		w.lose(p)
		return
	}
	w.respond(p, m, err)
}

// respond sends the reply to the request p, whose packet it reuses.
func (w *World) respond(p *packet, m env.Message, err error) {
	l := p.channel.link
	ch := w.link(l.to, l.from).channel(p.channel.class, true)
	p.kind, p.message, p.bytes, p.err, p.to, p.mute = reply, m, nil, nil, p.caller.node, false
	if err != nil {
		p.message, p.err = nil, w.coded(err)
	}
	w.post(p, ch)
}

func (w *World) deliverReply(p *packet) {
	t := p.caller
	if !p.awaited() {
		w.lose(p)
		return
	}
	w.note(stepDeliver, t.node.machine, p.channel.site, p.nth, p.channel.hash)
	t.reply, t.result = w.decode(p), p.err
	w.network.release(p)
	t.calls++
	t.disarm()
	w.resume(t)
}
