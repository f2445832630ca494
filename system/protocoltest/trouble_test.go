package protocoltest_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/sim"
	"github.com/shardproof/shardproof/system/store"
)

// trouble is what is to go wrong, what has gone wrong, and what was sent.
type trouble struct {
	faults  []*fault
	down    map[env.NodeID]bool
	cuts    []sim.RuleID
	waiting []stopped
	sent    map[string][]sent // by kind
}

// fault happens when a node whose name begins with node passes the site for the nth time.
type fault struct {
	site      failpoint.Site
	nth, seen int
	node, do  string
}

// stopped is who waits at a site.
type stopped struct {
	site  failpoint.Site
	latch *sim.Latch
}

// sent is a request that was sent.
type sent struct {
	to   env.NodeID
	body env.Message
}

func (r *rig) plan(l line) error {
	site, ok := failpoint.Parse(l.word(0))
	if !ok {
		return fmt.Errorf("there is no site %s", l.word(0))
	}
	r.faults = append(r.faults, &fault{site: site, nth: int(l.number("nth", 1)), node: l.arg("node", ""), do: l.arg("do", "crash")})
	return nil
}

func (r *rig) onPoint(p *sim.PointHit) sim.Action {
	if r.passed != nil {
		r.passed(p)
	}
	if r.act != nil {
		return r.act(p)
	}
	for _, f := range r.faults {
		if f.site != p.Site || !strings.HasPrefix(string(p.Node), f.node) {
			continue
		}
		if f.seen++; f.seen == f.nth {
			return r.happen(f, p)
		}
	}
	return sim.Action{}
}

func (r *rig) happen(f *fault, p *sim.PointHit) sim.Action {
	what, param, _ := strings.Cut(f.do, ":")
	if what == "pass" {
		r.say("-- %s passes %v", p.Node, p.Site)
		return sim.Action{}
	}
	r.say("-- %s: %s at %v", p.Node, f.do, p.Site)
	switch what {
	case "crash":
		r.down[p.Node] = true
		return sim.Action{Crash: true}
	case "error":
		if param == "" {
			param = string(errcode.FailPointEnabled)
		}
		return sim.Action{Err: errcode.New(errcode.Code(param), "on purpose")}
	case "pause":
		return sim.Action{Pause: duration(param)}
	case "kill":
		r.world.At(r.world.Now(), func() { r.kill(p.Node, p.Task) })
		return sim.Action{Pause: time.Millisecond}
	case "stepdown":
		r.world.At(r.world.Now(), func() { r.stepDown(p.Node) })
		return sim.Action{}
	case "cut":
		r.isolate(p.Node, p.Node)
		return sim.Action{}
	case "wait":
		latch := &sim.Latch{}
		r.waiting = append(r.waiting, stopped{p.Site, latch})
		return sim.Action{Until: latch}
	}
	panic("nothing is called " + f.do)
}

func (r *rig) kill(node env.NodeID, task string) {
	r.world.Interrupt(node, func(t string) bool { return t == task }, errcode.New(errcode.Interrupted, "killed on purpose"))
}

func (r *rig) goOn(l line) error {
	var stay []stopped
	for _, w := range r.waiting {
		if sites := l.words(); len(sites) == 0 || slices.Contains(sites, w.site.String()) {
			w.latch.Open()
		} else {
			stay = append(stay, w)
		}
	}
	r.waiting = stay
	return nil
}

func (r *rig) cut(l line) error {
	all := r.nodes(l.word(0))
	for _, id := range all {
		r.isolate(id, all...)
	}
	return nil
}

// isolate loses what goes between a node and everybody who is not among its friends.
func (r *rig) isolate(id env.NodeID, friends ...env.NodeID) {
	outside := func(m *sim.Message) bool { return !slices.Contains(friends, m.From) || !slices.Contains(friends, m.To) }
	for _, rule := range []sim.Rule{{From: string(id), Match: outside}, {To: string(id), Match: outside}} {
		rule.Fate.Drop = true
		r.cuts = append(r.cuts, r.world.AddRule(rule))
	}
}

func (r *rig) heal(line) error {
	for _, id := range r.cuts {
		r.world.RemoveRule(id)
	}
	r.cuts = nil
	return nil
}

// mend ends the trouble that there is.
func (r *rig) mend() {
	for _, w := range r.waiting {
		w.latch.Open()
	}
	r.waiting = nil
	_, _ = r.heal(line{}), r.restart(line{})
}

func (r *rig) troubled() bool { return len(r.waiting)+len(r.cuts)+len(r.down) > 0 }

// happened fails when a fault of the script was never seen: then the script tells of something else than it believes.
func (r *rig) happened() error {
	for _, f := range r.faults {
		if f.seen < f.nth {
			return fmt.Errorf("%v was passed %d times, not %d", f.site, f.seen, f.nth)
		}
	}
	r.faults = nil
	return nil
}

func (r *rig) crash(l line) error {
	id := r.primaryOf(l.word(0))
	r.down[id] = true
	r.world.Crash(id)
	return r.pass(time.Second)
}

func (r *rig) handOver(l line) error {
	r.stepDown(r.primaryOf(l.word(0)))
	return r.pass(time.Second)
}

func (r *rig) primaryOf(word string) env.NodeID {
	if all := r.nodes(word); len(all) == 1 {
		return all[0]
	}
	return r.cluster.Primary(word)
}

func (r *rig) stepDown(id env.NodeID) {
	if m := r.cluster.Member(id); m != nil {
		r.world.Node(id).Spawn(nil, "stepdown", func(t env.Task) { _ = m.StepDown(t) })
	}
}

func (r *rig) restart(line) error {
	for id := range r.down {
		r.world.Restart(id)
	}
	clear(r.down)
	return nil
}

// kindOf is the name of the command that a message is, and empty for answers.
func kindOf(m *sim.Message) string {
	if e, ok := m.Body.(*rpc.Envelope); ok && m.Call {
		return strings.TrimPrefix(fmt.Sprintf("%T", e.Body), "*command.")
	}
	return ""
}

// record keeps every request that is sent from now on, for late.
func (r *rig) record() {
	r.world.AddRule(sim.Rule{Match: func(m *sim.Message) bool {
		if kind := kindOf(m); kind != "" {
			r.sent[kind] = append(r.sent[kind], sent{m.To, m.Body.(*rpc.Envelope).Body})
		}
		return false
	}})
}

func (r *rig) hold(l line) error {
	kind := l.word(0)
	rule := sim.Rule{Count: 1, Hold: true, Match: func(m *sim.Message) bool { return kindOf(m) == kind }}
	if l.has("reply") {
		rule.Hold, rule.Fate = false, sim.Fate{LoseReply: true}
	}
	r.world.AddRule(rule)
	return nil
}

// late sends a request once more, as if it had been under way all the time, to whoever is primary there now.
func (r *rig) late(l line) error {
	kind, nth := l.word(0), int(l.number("nth", 1))
	if len(r.sent[kind]) < nth {
		return fmt.Errorf("%s was sent %d times, not %d", kind, len(r.sent[kind]), nth)
	}
	old := r.sent[kind][nth-1]
	set, _, _ := strings.Cut(string(old.to), ".")
	to := r.cluster.Primary(set)
	r.send(r.operator(), func(t env.Task) {
		m, err := t.Call(to, &rpc.Envelope{Clock: r.operator().ep.Clock().Now(), Body: old.body}, time.Minute)
		answer := "done"
		if err != nil {
			answer = err.Error()
		} else if e := m.(*rpc.Envelope); e.Err != nil {
			answer = e.Err.Error()
		}
		r.say("%s is late, and %s answers: %s", kind, to, answer)
	})
	return nil
}

// recreate drops a collection of a shard and makes it again, with another identity.
func (r *rig) recreate(l line) error {
	id := r.cluster.Primary(l.word(0))
	m := r.cluster.Member(id)
	r.world.Node(id).Spawn(nil, "recreate", func(t env.Task) {
		_, err := m.Write(t, oplog.Op{Kind: oplog.Drop, NS: plain}, oplog.Op{Kind: oplog.Create, NS: plain, Doc: store.EncodeOptions("other", key.Pattern{Field: "_id"})})
		if err == nil {
			_, err = m.Write(t, oplog.Op{Kind: oplog.Insert, NS: plain, ID: string(key.Int(99)), Doc: doc(99, "other")})
		}
		if err != nil {
			r.say("recreate: %v", err)
		}
	})
	return r.pass(20 * time.Millisecond)
}
