package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/system/env"
)

// Message is a message in transit, as rules see it.
type Message struct {
	From, To env.NodeID
	Class    string
	// Reply is true for the answer to a request of the class, Call for the request.
	Reply, Call bool
	// Nth counts the messages of this class and direction on the link, from 1.
	Nth  uint64
	Body env.Message
}

// Fate is what happens to a message. LoseReply lets a request be executed and loses the answer;
// Duplicate of a request executes it twice.
type Fate struct {
	Drop, LoseReply, Duplicate bool
	Delay                      time.Duration
	// Later is how long after the first the copy of a duplicate sets out; Spread is by how much more
	// at most, each halving of that being as likely.
	Later, Spread time.Duration
	hold          *installedRule
}

// Rule is a fault on links. From and To are a node, a prefix followed by "*", or empty for any. It
// applies to the messages that Match accepts (nil: all), to the first Count of them only when Count
// is not 0.
type Rule struct {
	From, To string
	Match    func(*Message) bool
	Count    int
	// Fate happens always, and Hold keeps messages back until Release; with Copy they go their way,
	// and a copy of each is kept back instead. Nobody gets an answer twice, so replies are not
	// copied.
	Fate       Fate
	Hold, Copy bool
	// The rest happens by chance; in a planned world only by decision. A Tail adds up to
	// Network.TailDelay.
	Loss, Duplicate, LoseReply, Tail Probability
	// Chain is how many of the chains, which are all messages of a class on a link, are slower than
	// others while the rule holds, by up to Network.ChainDelay. Demotion is at how many messages
	// the chain becomes slower than all that were not demoted. This is probabilistic concurrency
	// testing of messages: chains have priorities, and few messages change them.
	Chain, PriorityChange Probability
}

// RuleID names an installed rule. The zero RuleID is none.
type RuleID int

type installedRule struct {
	Rule
	id      RuleID
	applied int
	held    []*packet
}

// AddRule installs a fault. Rules apply in the order in which they were added.
func (w *World) AddRule(r Rule) RuleID {
	n := &w.network
	n.lastID++
	added := &installedRule{Rule: r, id: n.lastID}
	n.rules = append(n.rules, added)
	w.eachLink(func(l *link) {
		if added.concerns(l) {
			l.rules = append(l.rules, added)
		}
	})
	return n.lastID
}

// RemoveRule ends a fault and releases what it held. It does nothing for a rule that was removed.
func (w *World) RemoveRule(id RuleID) {
	w.Release(id)
	is := func(r *installedRule) bool { return r.id == id }
	w.network.rules = slices.DeleteFunc(w.network.rules, is)
	w.eachLink(func(l *link) { l.rules = slices.DeleteFunc(l.rules, is) })
}

// Release lets everything go that the rule has held; it goes on holding what comes.
func (w *World) Release(id RuleID) {
	for _, r := range w.network.rules {
		if r.id != id {
			continue
		}
		freed := r.held
		r.held = nil
		for _, p := range freed {
			w.carry(p, w.travel(p, &p.channel.latency), Fate{})
		}
	}
}

// Held counts the messages a rule holds.
func (w *World) Held(id RuleID) int {
	for _, r := range w.network.rules {
		if r.id == id {
			return len(r.held)
		}
	}
	return 0
}

// eachLink calls fn for every link that was used.
func (w *World) eachLink(fn func(*link)) {
	for _, m := range w.machines {
		for _, l := range m.links {
			if l != nil {
				fn(l)
			}
		}
	}
}

// rulesOf are the rules that concern a link.
func (n *network) rulesOf(l *link) []*installedRule {
	var of []*installedRule
	for _, r := range n.rules {
		if r.concerns(l) {
			of = append(of, r)
		}
	}
	return of
}

func (r *installedRule) concerns(l *link) bool {
	return matchesNode(r.From, l.from.id) && matchesNode(r.To, l.to.id)
}

func matchesNode(pattern string, id env.NodeID) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(string(id), prefix)
	}
	return pattern == "" || pattern == string(id)
}

// messageOdds are the odds in force for one message.
type messageOdds struct{ loss, duplicate, reply, tail, chain, demotion Probability }

// fate decides what happens to a packet.
func (w *World) fate(p *packet) Fate {
	o := &w.opts.Network
	odds := messageOdds{loss: o.Loss, duplicate: o.Duplicate, reply: o.LoseReply, tail: o.Tail}
	var f Fate
	if len(p.channel.link.rules) > 0 {
		f = w.applyRules(p, &odds)
	}
	if odds != (messageOdds{}) || w.gate.explicit != nil {
		w.ask(p, &odds, &f)
	}
	f.Duplicate = f.Duplicate && p.kind != reply
	f.LoseReply = f.LoseReply && p.kind == request
	return f
}

// ask adds what chance decides to the packet's fate.
func (w *World) ask(p *packet, odds *messageOdds, f *Fate) {
	q, g := p.channel.fault(), w.gate
	f.Drop = f.Drop || g.decide(&q.loss, p.nth, odds.loss)
	if p.kind != reply {
		f.Duplicate = f.Duplicate || g.decide(&q.duplicate, p.nth, odds.duplicate)
	}
	if p.kind == request {
		f.LoseReply = f.LoseReply || g.decide(&q.reply, p.nth, odds.reply)
	}
	f.Delay += time.Duration(g.amount(&q.tail, p.nth, odds.tail, int64(w.opts.Network.TailDelay)))
	if odds.chain > 0 {
		f.Delay += w.lag(q, p.nth, odds)
	}
}

// lag is how much longer a message takes because its chain is slow.
func (w *World) lag(q *linkFaults, nth uint64, odds *messageOdds) time.Duration {
	most := int64(w.opts.Network.ChainDelay)
	if !q.placed {
		q.placed, q.lag = true, w.gate.amount(&q.chain, 1, odds.chain, most)
	}
	if w.gate.decide(&q.demotion, nth, odds.demotion) {
		q.lag += most
	}
	return time.Duration(q.lag)
}

func (w *World) applyRules(p *packet, odds *messageOdds) (f Fate) {
	l := p.channel.link
	m := &w.network.matching
	*m = Message{
		l.from.id, l.to.id, p.channel.class.name, p.kind == reply, p.kind == request,
		p.nth, p.message,
	}
	for _, r := range l.rules {
		if r.Count > 0 && r.applied >= r.Count || r.Match != nil && !r.Match(m) {
			continue
		}
		r.applied++
		f.Drop = f.Drop || r.Fate.Drop
		f.LoseReply = f.LoseReply || r.Fate.LoseReply
		f.Duplicate = f.Duplicate || r.Fate.Duplicate
		f.Delay += r.Fate.Delay
		f.Later, f.Spread = max(f.Later, r.Fate.Later), max(f.Spread, r.Fate.Spread)
		if r.Hold && f.hold == nil {
			f.hold = r
		}
		odds.raise(&r.Rule)
	}
	return f
}

func (c *messageOdds) raise(r *Rule) {
	c.loss, c.duplicate = max(c.loss, r.Loss), max(c.duplicate, r.Duplicate)
	c.reply, c.tail = max(c.reply, r.LoseReply), max(c.tail, r.Tail)
	c.chain, c.demotion = max(c.chain, r.Chain), max(c.demotion, r.PriorityChange)
}

// Partition loses every message from one node to the other, and unless oneWay back again.
// Partitions add up.
func (w *World) Partition(from, to env.NodeID, oneWay bool) { w.cut(from, to, oneWay, 1) }

// Heal takes back one Partition with the same arguments.
func (w *World) Heal(from, to env.NodeID, oneWay bool) { w.cut(from, to, oneWay, -1) }

func (w *World) cut(from, to env.NodeID, oneWay bool, by int) {
	a, b := w.machine(from), w.machine(to)
	there := w.link(a, b)
	there.cuts = max(0, there.cuts+by)
	if !oneWay {
		back := w.link(b, a)
		back.cuts = max(0, back.cuts+by)
	}
}

// HealNetwork ends every partition and rule, and releases every held message; copies that are late
// are lost. Calls whose request or reply was lost fail: once the two sides reach each other again,
// they find out that their connection is gone. From then on a plan's decisions about faults that
// have no odds are without effect: where chance decides there are none, either.
func (w *World) HealNetwork() {
	w.gate.calm = true
	w.eachLink(func(l *link) { l.cuts = 0 })
	for len(w.network.rules) > 0 {
		w.RemoveRule(w.network.rules[0].id)
	}
	w.reconnect()
}
