package protocoltest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/sim"
)

// Fault is what happens when a node passes a failpoint.
type Fault struct {
	Site failpoint.Site
	// Nth is which passage it is, counted from 1.
	Nth int
	// Node is how the node's name begins; empty: any.
	Node string
	// Do is what happens, in the words of the verb "fault".
	Do string

	seen int
}

// faults is what is to go wrong on a stage, and what has gone wrong.
type faults struct {
	// Act decides at every failpoint in the place of the faults that were planned, unless it is
	// nil.
	Act func(*sim.PointHit) sim.Action
	// Reached is called at every failpoint, unless it is nil.
	Reached func(*sim.PointHit)

	planned []*Fault
	down    map[env.NodeID]bool
	cuts    []sim.RuleID
	held    []heldTask
}

// heldTask waits at a site until it is released, or until the node that outlast names loses the
// lead.
type heldTask struct {
	site    failpoint.Site
	latch   *sim.Latch
	outlast env.NodeID
}

// Plan adds a fault to those that are to happen.
func (s *Stage) Plan(f Fault) { s.planned = append(s.planned, &f) }

func (s *Stage) fault(l Line) error {
	site, ok := failpoint.Parse(l.Word(0))
	if !ok {
		return fmt.Errorf("there is no failpoint %s", l.Word(0))
	}
	s.Plan(Fault{
		Site: site, Nth: int(l.Number("nth", 1)), Node: l.Arg("node", ""), Do: l.Arg("do", "crash"),
	})
	return nil
}

func (s *Stage) onPoint(p *sim.PointHit) sim.Action {
	if s.Reached != nil {
		s.Reached(p)
	}
	if s.Act != nil {
		return s.Act(p)
	}
	for _, f := range s.planned {
		if f.Site != p.Site || !strings.HasPrefix(string(p.Node), f.Node) {
			continue
		}
		if f.seen++; f.seen == f.Nth {
			return s.strike(f.Do, p)
		}
	}
	return sim.Action{}
}

// strike has happen what a fault says.
func (s *Stage) strike(do string, p *sim.PointHit) sim.Action {
	what, param, _ := strings.Cut(do, ":")
	if what == "pass" {
		s.Say("-- %s passes %v", p.Node, p.Site)
		return sim.Action{}
	}
	s.Say("-- %s: %s at %v", p.Node, do, p.Site)
	switch what {
	case "crash":
		s.down[p.Node] = true
		return sim.Action{Crash: true}
	case "error":
		if param == "" {
			param = string(errcode.FailPointEnabled)
		}
		return sim.Action{Err: errcode.New(errcode.Code(param), "on purpose")}
	case "pause":
		return sim.Action{Pause: duration(param)}
	case "kill":
		node, task := p.Node, p.Task // the hit is that of another passage by then
		s.World.At(s.World.Now(), func() { s.Kill(node, task) })
		return sim.Action{Pause: time.Millisecond}
	case "stepdown":
		node := p.Node
		s.World.At(s.World.Now(), func() { s.StepDown(node) })
		return sim.Action{}
	case "cut":
		s.isolate(p.Node, p.Node)
		return sim.Action{}
	case "hold":
		latch := &sim.Latch{}
		s.held = append(s.held, heldTask{site: p.Site, latch: latch})
		return sim.Action{Until: latch}
	case "outlast":
		node, latch := p.Node, &sim.Latch{}
		s.held = append(s.held, heldTask{site: p.Site, latch: latch, outlast: node})
		s.World.At(s.World.Now(), func() { s.StepDown(node) })
		return sim.Action{Until: latch}
	}
	panic(fmt.Sprintf("no fault is called %q", do))
}

// Kill interrupts a task of a node.
func (s *Stage) Kill(node env.NodeID, task string) {
	killed := errcode.New(errcode.Interrupted, "killed on purpose")
	s.World.Interrupt(node, func(t string) bool { return t == task }, killed)
}

// StepDown has a member step down, if it is primary.
func (s *Stage) StepDown(id env.NodeID) {
	if m := s.Servers.Member(id); m != nil {
		s.World.Node(id).Spawn(nil, "stepdown", func(t env.Task) { _ = m.StepDown(t) })
	}
}

// TermEnds says that a node is about to lose the lead: a task that was to outlast the term is
// woken, and goes on when that is over.
func (s *Stage) TermEnds(node env.NodeID) {
	s.held = slices.DeleteFunc(s.held, func(w heldTask) bool {
		if w.outlast != node {
			return false
		}
		w.latch.Open()
		return true
	})
}

func (s *Stage) release(l Line) error {
	const await = "await"
	sites := slices.DeleteFunc(l.Words(), func(w string) bool { return w == await })
	var stay []heldTask
	for _, w := range s.held {
		if len(sites) == 0 || slices.Contains(sites, w.site.String()) {
			w.latch.Open()
		} else {
			stay = append(stay, w)
		}
	}
	s.held = stay
	if l.Has(await) {
		return s.Await()
	}
	return nil
}

func (s *Stage) cut(l Line) error {
	all := s.nodes(l.Word(0))
	if l.Has("peers") {
		set, _, _ := strings.Cut(l.Word(0), ".")
		peers := s.Servers.MembersOf(set)
		s.cutOff(all[0], func(m *sim.Message) bool {
			return slices.Contains(peers, m.From) && slices.Contains(peers, m.To)
		})
		return nil
	}
	for _, id := range all {
		s.isolate(id, all...)
	}
	return nil
}

// isolate loses what goes between a node and everybody who is not among its friends.
func (s *Stage) isolate(id env.NodeID, friends ...env.NodeID) {
	s.cutOff(id, func(m *sim.Message) bool {
		return !slices.Contains(friends, m.From) || !slices.Contains(friends, m.To)
	})
}

func (s *Stage) cutOff(id env.NodeID, lost func(*sim.Message) bool) {
	node := string(id)
	for _, rule := range []sim.Rule{{From: node, Match: lost}, {To: node, Match: lost}} {
		rule.Fate.Drop = true
		s.cuts = append(s.cuts, s.World.AddRule(rule))
	}
}

func (s *Stage) heal(Line) error {
	for _, id := range s.cuts {
		s.World.RemoveRule(id)
	}
	s.cuts = nil
	return nil
}

// Heal ends every fault that lasts: who is held goes on, links work, and what is down restarts.
func (s *Stage) Heal() {
	for _, w := range s.held {
		w.latch.Open()
	}
	s.held = nil
	_, _ = s.heal(Line{}), s.restart(Line{})
}

// Healthy reports whether no fault lasts.
func (s *Stage) Healthy() bool { return len(s.held)+len(s.cuts)+len(s.down) == 0 }

// AllHappened fails when a planned fault was never reached: then the script shows something else
// than it says. It forgets the faults.
func (s *Stage) AllHappened() error {
	for _, f := range s.planned {
		if f.seen < f.Nth {
			return fmt.Errorf("%v was passed %d times, not %d", f.Site, f.seen, f.Nth)
		}
	}
	s.planned = nil
	return nil
}

func (s *Stage) crash(l Line) error {
	id := s.primaryOf(l.Word(0))
	s.down[id] = true
	s.World.Crash(id)
	return s.Pass(time.Second)
}

func (s *Stage) stepDownPrimary(l Line) error {
	s.StepDown(s.primaryOf(l.Word(0)))
	return s.Pass(time.Second)
}

// Down notes that a node is down, for restart.
func (s *Stage) Down(id env.NodeID) { s.down[id] = true }

func (s *Stage) restart(Line) error {
	var ids []env.NodeID
	for id := range s.down {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		s.World.Restart(id)
	}
	clear(s.down)
	return nil
}

// nodes are those that a word names: the members of a set, or a node.
func (s *Stage) nodes(word string) []env.NodeID {
	if all := s.Servers.MembersOf(word); len(all) > 0 {
		return all
	}
	return []env.NodeID{env.NodeID(word)}
}

func (s *Stage) primaryOf(word string) env.NodeID {
	if all := s.nodes(word); len(all) == 1 {
		return all[0]
	}
	return s.Servers.Primary(word)
}
