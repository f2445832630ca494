package sim

import (
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
)

// network is what all links share.
type network struct {
	world   *World
	classes map[string]*messageClass
	rules   []*installedRule
	lastID  RuleID
	// matching is the message that rules look at now; Match must not keep it.
	matching Message
	free     []*packet
	// lost are the requests and replies of calls that still wait in vain.
	lost []*packet
}

func newNetwork(w *World) network {
	return network{world: w, classes: make(map[string]*messageClass)}
}

// messageClass is an interned class of messages.
type messageClass struct {
	name, reply string
	index       int
}

func (n *network) class(m env.Message) *messageClass {
	name := n.world.opts.Classify(m)
	c := n.classes[name]
	if c == nil {
		c = &messageClass{name: name, reply: name + ".reply", index: len(n.classes)}
		n.classes[name] = c
	}
	return c
}

// link is one direction between two nodes.
type link struct {
	from, to *machine
	latency  Latency
	cuts     int
	channels []*channel
	rules    []*installedRule
	// last is when the latest message arrives, for FIFO links.
	last env.Time
}

func (w *World) link(from, to *machine) *link {
	for to.index >= len(from.links) {
		from.links = append(from.links, nil)
	}
	l := from.links[to.index]
	if l == nil {
		l = &link{from: from, to: to, latency: w.opts.Network.Latency(from.id, to.id)}
		from.links[to.index] = l
		l.rules = w.network.rulesOf(l)
	}
	return l
}

// channel is all messages of one class on one link, in one of the two roles. Its sequence numbers
// are the occurrences of the questions about them.
type channel struct {
	questionSite
	link    *link
	class   *messageClass
	sent    uint64
	latency question
	// faults are the questions that most channels are never asked; nil until then.
	faults *linkFaults
}

type linkFaults struct {
	copied, lateness, loss, duplicate, reply, tail, chain, demotion question
	// placed is set once the chain has its place among the others, and lag is what its messages
	// take longer.
	placed bool
	lag    int64
}

func (ch *channel) fault() *linkFaults {
	if ch.faults == nil {
		ch.faults = &linkFaults{
			copied:    ch.ask(copyLatencyKind),
			lateness:  ch.ask(latenessKind),
			loss:      ch.ask(Loss),
			duplicate: ch.ask(Duplicate),
			reply:     ch.ask(LoseReply),
			tail:      ch.ask(Tail),
			chain:     ch.ask(Chain),
			demotion:  ch.ask(Demotion),
		}
	}
	return ch.faults
}

func (l *link) channel(c *messageClass, reply bool) *channel {
	i := 2 * c.index
	name := c.name
	if reply {
		i++
		name = c.reply
	}
	if i >= len(l.channels) {
		all := make([]*channel, max(i+1, 2*len(l.from.world.network.classes)))
		copy(all, l.channels)
		l.channels = all
	}
	ch := l.channels[i]
	if ch == nil {
		p := l.from.world.gate.about(string(l.from.id) + ">" + string(l.to.id) + "/" + name)
		ch = &channel{questionSite: p, link: l, class: c, latency: p.ask(latencyKind)}
		l.channels[i] = ch
	}
	return ch
}

type packetKind uint8

const (
	oneWay packetKind = iota
	request
	reply
)

// packet is a message in transit.
type packet struct {
	kind    packetKind
	channel *channel
	nth     uint64
	message env.Message
	// err is the reply of a failed request.
	err error
	// bytes is the message as it was when sent, in a world with a codec.
	bytes []byte
	// to is the incarnation to which the sender of a request, or of a reply, is connected.
	to *node
	// caller and call say who waits for the reply.
	caller *task
	call   uint64
	// late marks a copy that set out when its message had arrived.
	late bool
	// mute has the reply to this request lost.
	mute bool
	// noLimit: the call has no timeout of its own.
	noLimit bool
}

func (n *network) packet() *packet {
	if k := len(n.free); k > 0 {
		p := n.free[k-1]
		n.free = n.free[:k-1]
		return p
	}
	return &packet{}
}

func (n *network) release(p *packet) {
	*p = packet{}
	n.free = append(n.free, p)
}

func (w *World) oneWay(from *machine, to env.NodeID, m env.Message) {
	target := w.byID[to]
	if target == nil {
		return
	}
	if w.opts.OnOneWay != nil {
		w.opts.OnOneWay(from.id, m)
	}
	p := w.network.packet()
	p.kind, p.message = oneWay, m
	w.post(p, w.link(from, target).channel(w.network.class(m), false))
}

// request sends the request of a call that t is about to wait for.
func (w *World) request(t *task, to env.NodeID, m env.Message) {
	p := w.network.packet()
	p.kind, p.message, p.caller, p.call, p.noLimit = request, m, t, t.calls, t.timer == noSlot
	target := w.byID[to]
	if target == nil {
		w.failCall(p, 0, errcode.New(errcode.HostUnreachable, "there is no node %s", to))
		return
	}
	p.to = target.life
	t.last.class = w.network.class(m)
	w.post(p, w.link(t.node.machine, target).channel(t.last.class, false))
}

// post sends a packet on its way, through everything that may happen to it there.
func (w *World) post(p *packet, ch *channel) {
	ch.sent++
	p.channel, p.nth = ch, ch.sent
	if w.opts.OnInjectionPoint != nil {
		w.opts.OnInjectionPoint(InjectionPoint{
			Site:  ch.site,
			Nth:   p.nth,
			Node:  ch.link.from.id,
			Class: ch.class.name,
			Call:  p.kind == request,
			Reply: p.kind == reply,
		})
	}
	w.encode(p)
	f := w.fate(p)
	p.mute = f.LoseReply
	switch {
	case f.Drop || ch.link.cuts > 0:
		w.lose(p)
	case f.hold != nil && f.hold.Copy:
		w.keepCopy(p, f.hold)
		w.carry(p, w.travel(p, &ch.latency)+f.Delay, f)
	case f.hold != nil:
		w.note(stepHold, ch.link.from, ch.site, p.nth, ch.hash)
		f.hold.held = append(f.hold.held, p)
		p.met("held back by a fault", w.now)
	default:
		w.carry(p, w.travel(p, &ch.latency)+f.Delay, f)
	}
}

// carry delivers the packet after d, and a copy of it at a time of its own.
func (w *World) carry(p *packet, d time.Duration, f Fate) {
	l := p.channel.link
	at := w.now.Add(d + l.to.service())
	if w.opts.Network.FIFO {
		at = max(at, l.last)
		l.last = at
	}
	w.agenda.add(at, eventSlot{packet: p})
	if f.Duplicate && p.kind != reply {
		again := w.network.packet()
		*again = *p
		again.late = f.Spread > 0
		d += f.Later + w.lateness(p, f.Spread) + w.travel(p, &p.channel.fault().copied)
		w.agenda.add(w.now.Add(d+l.to.service()), eventSlot{packet: again})
	}
}

// halvings is how often the lateness of a copy is halved at most.
const halvings = 10

// lateness is how much later the copy of a packet sets out, of a spread.
func (w *World) lateness(p *packet, spread time.Duration) time.Duration {
	if spread == 0 {
		return 0
	}
	const steps = 1 << halvings
	n := w.gate.pick(&p.channel.fault().lateness, p.nth, halvings*steps)
	most := spread >> (n / steps)
	return most/2 + most/2*time.Duration(n%steps)/steps
}

// keepCopy has the rule hold a copy of the packet.
func (w *World) keepCopy(p *packet, r *installedRule) {
	if p.kind == reply {
		return
	}
	ch := p.channel
	w.note(stepHold, ch.link.from, ch.site, p.nth, ch.hash)
	again := w.network.packet()
	*again = *p
	r.held = append(r.held, again)
}

// travel is the packet's latency.
func (w *World) travel(p *packet, q *question) time.Duration {
	l := p.channel.link.latency
	return l.Base + time.Duration(w.gate.pick(q, p.nth, int64(l.Jitter)+1))
}

// lose drops the packet. A call without a limit of its own then ends by the connection's, any other
// at its limit, or when the network heals.
func (w *World) lose(p *packet) {
	w.note(stepLose, p.channel.link.from, p.channel.site, p.nth, p.channel.hash)
	p.met("lost", w.now)
	switch {
	case !p.awaited():
		w.network.release(p)
	case p.noLimit:
		w.disconnect(p, w.opts.Network.Keepalive)
	default:
		w.network.lost = append(w.network.lost, p)
	}
}

// disconnect ends a call that can have no answer any more.
func (w *World) disconnect(p *packet, after time.Duration) {
	w.failCall(p, after,
		errcode.New(errcode.NetworkTimeout, "task %s lost its connection", p.caller.Name()))
}

// reconnect ends the calls that lost their request or their reply.
func (w *World) reconnect() {
	lost := w.network.lost
	w.network.lost = nil
	for _, p := range lost {
		if p.awaited() {
			w.disconnect(p, 0)
		} else {
			w.network.release(p)
		}
	}
}

// awaited reports whether the caller still waits for the reply.
func (p *packet) awaited() bool {
	t := p.caller
	return t != nil && t.state == taskCalling && t.calls == p.call && !t.node.dead
}

// failCall ends the call that the packet belongs to with err, unless it has ended otherwise by
// then.
func (w *World) failCall(p *packet, after time.Duration, err error) {
	node := p.caller.node
	w.agenda.add(w.now.Add(after+node.machine.service()), eventSlot{node: node, fn: func() {
		if p.awaited() {
			p.caller.calls++
			p.caller.wake(err)
		}
		w.network.release(p)
	}})
}
