package sim

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

// machine is what lasts over all incarnations of a node: its name, clock, disk and links.
type machine struct {
	world *World
	id    env.NodeID
	index int
	boot  env.Boot
	// life is the present incarnation, nil while the node is down; lives are all of them.
	life  *node
	lives []*node
	disk  disk
	clock machineClock
	// slowness is the factor on service times, 1 for a normal node.
	slowness int64
	links    []*link
	sites    []*siteState
	asked    map[questionName]*question
}

// siteState is a node's history at one site. Questions are nil until they are asked.
type siteState struct {
	hits, wakings              uint64
	yield, stall, waking, fail *question
}

func (m *machine) site(s failpoint.Site) *siteState {
	if int(s) >= len(m.sites) {
		all := make([]*siteState, max(int(s)+1, failpoint.Count()))
		copy(all, m.sites)
		m.sites = all
	}
	if m.sites[s] == nil { // a node passes few of all sites
		m.sites[s] = &siteState{}
	}
	return m.sites[s]
}

func (m *machine) questionAt(site failpoint.Site, kind string) *question {
	q := m.world.gate.about(string(m.id) + "/" + site.String()).ask(kind)
	return &q
}

// deschedule is for how long a task that yields at the site lets others run; negative: not at all.
// One question answers both: of all lengths, only those up to YieldMax count.
func (m *machine) deschedule(site failpoint.Site) time.Duration {
	o := &m.world.opts
	if o.YieldMax < 0 || o.YieldProbability == 0 {
		return -1
	}
	s := m.site(site)
	if s.yield == nil {
		s.yield = m.questionAt(site, yieldKind)
	}
	d := time.Duration(m.world.gate.pick(s.yield, s.hits,
		int64(o.YieldMax)*int64(Always)/int64(o.YieldProbability)))
	if d >= o.YieldMax {
		return -1
	}
	return d
}

// stall is for how long the task that passes the site for the nth time stalls; 0: not at all.
func (m *machine) stall(site failpoint.Site, nth uint64) time.Duration {
	w := m.world
	odds := max(w.stall.odds, w.stall.at.of(site))
	if odds == 0 && w.gate.explicit == nil {
		return 0
	}
	s := m.site(site)
	if s.stall == nil {
		s.stall = m.questionAt(site, Stall)
	}
	return time.Duration(w.gate.amount(s.stall, nth, odds, int64(w.stall.longest)))
}

// SiteOdds are odds of each site, by failpoint.Site; those of a site that is not there are zero.
type SiteOdds []Probability

func (o SiteOdds) of(site failpoint.Site) Probability {
	if int(site) >= len(o) {
		return 0
	}
	return o[site]
}

// SetStalls has tasks stall now and then at the sites they pass, each for as long as longest at
// most, as a process does that is swapped out or collects garbage. What counts is the greater of
// the odds of all sites and of this one. Zero odds: no more.
func (w *World) SetStalls(odds Probability, at SiteOdds, longest time.Duration) {
	w.stall.odds, w.stall.at, w.stall.longest = odds, at, longest
}

// oversleeps is how much later the task runs on that is woken from a wait after the site; 0: no
// later.
func (m *machine) oversleeps(site failpoint.Site) time.Duration {
	if site == 0 {
		return 0
	}
	w, s := m.world, m.site(site)
	s.wakings++ // whatever the odds are, so that each has the same number in every run
	odds := w.waking.at.of(site)
	if odds == 0 && w.gate.explicit == nil {
		return 0
	}
	if s.waking == nil {
		s.waking = m.questionAt(site, Waking)
	}
	return time.Duration(w.gate.amount(s.waking, s.wakings, odds, int64(w.waking.longest)))
}

// SetLateWakings has tasks that waited for something after a site run on later now and then, by as
// much as longest at most, as they do on a machine with more to do: whatever they looked at before
// the wait may have changed long since. Without odds: no more.
func (w *World) SetLateWakings(at SiteOdds, longest time.Duration) {
	w.waking.at, w.waking.longest = at, longest
}

// stepFailures are what a step fails with: what its caller gives up for, and what it tries again.
var stepFailures = []errcode.Code{
	errcode.FailPointEnabled, errcode.NetworkTimeout, errcode.HostUnreachable,
	errcode.ExceededTimeLimit,
}

// fails is why the step of the task that passes the site for the nth time fails; empty: it does
// not.
func (m *machine) fails(site failpoint.Site, nth uint64) errcode.Code {
	w := m.world
	odds := max(w.failures.odds, w.failures.at.of(site))
	if odds == 0 && w.gate.explicit == nil {
		return ""
	}
	s := m.site(site)
	if s.fail == nil {
		s.fail = m.questionAt(site, StepFailure)
	}
	most := int64(len(stepFailures))
	which := w.gate.amount(s.fail, nth, odds, most)
	if which <= 0 {
		return ""
	}
	return stepFailures[min(which, most)-1]
}

// SetStepFailures has steps fail now and then at the sites that tasks pass, as for lack of memory.
// What counts is the greater of the odds of all sites and of this one. Zero odds: no more.
func (w *World) SetStepFailures(odds Probability, at SiteOdds) {
	w.failures.odds, w.failures.at = odds, at
}

func (m *machine) service() time.Duration {
	return m.world.opts.Service * time.Duration(m.slowness)
}

// node is one incarnation.
type node struct {
	world       *World
	machine     *machine
	incarnation int
	dead        bool
	scope       env.Scope
	handler     env.Handler
	receiver    env.Receiver
	// The live tasks, in the order in which they were spawned.
	first, last *task
}

var _ env.Node = (*node)(nil)

func (n *node) ID() env.NodeID   { return n.machine.id }
func (n *node) Incarnation() int { return n.incarnation }
func (n *node) Now() env.Time    { return n.machine.wall() }
func (n *node) Mono() env.Time   { return n.machine.mono() }
func (n *node) Disk() env.Disk   { return &n.machine.disk }

func (n *node) Serve(h env.Handler)    { n.handler = h }
func (n *node) Receive(r env.Receiver) { n.receiver = r }

// inert reports whether nothing that the node's code does has an effect any more.
func (n *node) inert() bool { return n.dead || n.world.frozen }

func (n *node) Send(to env.NodeID, m env.Message) {
	if !n.inert() {
		n.world.oneWay(n.machine, to, m)
	}
}

// Emit may meet an observer that crashes the node; the task then goes no further.
func (n *node) Emit(e *trace.Event) {
	if n.inert() {
		return
	}
	n.world.emit(n.machine, e)
	if t := n.world.running; n.dead && t != nil && t.node == n {
		t.vanish()
	}
}

func (n *node) Spawn(scope *env.Scope, name string, fn func(env.Task)) {
	if n.inert() {
		return
	}
	if scope == nil {
		scope = &n.scope
	}
	t := n.newTask(scope, name)
	t.fn = fn
	t.state = taskReady
	n.enqueue(t)
}

func (n *node) newTask(scope *env.Scope, name string) *task {
	w := n.world
	w.tasks++
	t := w.blankTask()
	t.node, t.id = n, w.tasks
	if scope != &n.scope {
		t.Join(name, scope, t)
	} else {
		t.Place(name, scope)
	}
	t.prev = n.last
	if n.last != nil {
		n.last.next = t
	} else {
		n.first = t
	}
	n.last = t
	return t
}

// blankTask is a new task, or one that has ended. Its calls are numbered on, so that what belongs
// to a call of the former task is recognised.
func (w *World) blankTask() *task {
	k := len(w.ended)
	if k == 0 {
		return &task{timer: noSlot}
	}
	t := w.ended[k-1]
	w.ended = w.ended[:k-1]
	*t = task{timer: noSlot, calls: t.calls + 1}
	return t
}

func (n *node) remove(t *task) {
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		n.first = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		n.last = t.prev
	}
	t.prev, t.next = nil, nil
}

// enqueue has the task run after one service time.
func (n *node) enqueue(t *task) {
	w := n.world
	if n.machine.slowness == 1 {
		w.agenda.enqueue(w.now.Add(w.opts.Service), t)
		return
	}
	w.agenda.add(w.now.Add(n.machine.service()), eventSlot{node: n, task: t})
}

// timer is a pending After.
type timer struct {
	world *World
	slot  int32
	gen   uint32
}

func (n *node) After(d time.Duration, fn func()) env.Timer {
	w := n.world
	if n.inert() {
		return &timer{world: w, slot: noSlot}
	}
	i := w.agenda.add(w.now.Add(n.machine.real(d)+n.machine.service()), eventSlot{node: n, fn: fn})
	return &timer{w, i, w.agenda.slots[i].gen}
}

func (t *timer) Stop() {
	if t.slot != noSlot && t.world.agenda.slots[t.slot].gen == t.gen {
		t.world.agenda.remove(t.slot)
	}
	t.slot = noSlot
}

func (n *node) Choose(kind env.Choice, site string, options int) int {
	if options < 1 {
		n.broken(fmt.Sprintf("a choice %s at %s among %d", kind, site, options))
	}
	m := n.machine
	key := questionName{string(kind), site}
	q := m.asked[key]
	if q == nil {
		q = n.world.gate.question(key.kind, string(m.id)+"/"+site)
		m.asked[key] = q
	}
	q.asked++
	return int(n.world.gate.pick(q, q.asked, int64(options)))
}

func (n *node) Assert(ok bool, format string, args ...any) {
	if !ok && !n.inert() {
		n.broken(fmt.Sprintf(format, args...))
	}
}

// broken ends the run. The failure is noted at once, since deferred functions of the task may wait
// before its root sees the panic.
func (n *node) broken(message string) {
	a := failedAssertion{n, message}
	n.world.fail(n.world.running, a)
	panic(a)
}

func (n *node) Abort(why string) {
	if n.inert() {
		return
	}
	n.world.emit(n.machine, trace.ProcessAbortedEvent{Why: why}.Event())
	n.world.Crash(n.machine.id)
	if t := n.world.running; t != nil && t.node == n {
		t.vanish()
	}
}

// Sometimes emits an event the first time only, and counts the others.
func (n *node) Sometimes(probe string) {
	if n.inert() {
		return
	}
	reached := n.world.reached
	if reached[probe]++; reached[probe] == 1 {
		n.Emit(trace.ReachedEvent{Probe: probe}.Event())
	}
}

// resume has a task run until it waits or ends.
func (w *World) resume(t *task) {
	if t.Started() {
		w.note(stepRun, t.node.machine, t.Name(), t.id, 0)
	} else {
		w.note(stepStart, t.node.machine, t.Name(), t.id, hashString(0, t.Name()))
	}
	w.switchTo(t)
}

func (w *World) switchTo(t *task) {
	t.state = taskRunning
	w.running = t
	w.pool.Run(&t.Task, t)
	w.running = nil
}
