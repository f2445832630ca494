package faults

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/faults/terms"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Driver carries out the faults of one run. It is told of every point and every event, and acts
// through its World, from Start on.
//
// Invariant: every injected fault is in active until it is repaired; after End nothing is active
// and nothing fires.
type Driver struct {
	world   World
	plan    []scenario.Fault
	terms   *terms.Set
	roles   *roles
	nodes   []env.NodeID
	waiting [][]*waiter     // by site
	next    []*interception // of what takes the next point of its target
	active  []*Case
	wakes   []func() // of tasks that a failpoint's terms hold until another is passed
	base    env.Time
	ended   bool
	fired   []Firing
}

// Case is one fault while it happens.
type Case struct {
	Fault  scenario.Fault
	Kind   *Kind
	Target []env.NodeID
	// Hit is nil for a fault that a time triggered; Action is what happens to the task that passed.
	Hit    *Hit
	Action *Action

	driver *Driver
	world  World
	repair func()
	done   bool
}

// Firing is a fault that happened.
type Firing struct {
	Fault int
	Kind  string
	At    env.Time
	// Target is the node, the role or the link it was aimed at.
	Target string
}

// New plans the faults; they are checked already (Check). Terms may be nil.
func New(plan []scenario.Fault, terms *terms.Set) *Driver {
	return &Driver{
		plan:    plan,
		terms:   terms,
		roles:   newRoles(),
		waiting: make([][]*waiter, failpoint.Count()),
	}
}

// Start arms every fault in the world. Times of the plan count from base.
func (d *Driver) Start(w World, base env.Time) {
	d.world, d.nodes, d.base = w, w.Nodes(), base
	for _, f := range d.plan {
		kind, err := Find(f.Kind)
		if err != nil {
			panic(fmt.Sprintf("faults: a plan was accepted with an unknown kind: %v", err))
		}
		d.arm(f.When, func(h *Hit, a *Action) { d.inject(f, kind, h, a) })
	}
}

// Fired lists what happened, in order.
func (d *Driver) Fired() []Firing { return d.fired }

// Active is how many faults are not repaired yet.
func (d *Driver) Active() int { return len(d.active) }

// Leader is the newest known primary of a replica set, "" before the first election.
func (d *Driver) Leader(set string) env.NodeID { return d.roles.leader[set] }

// Observe keeps the roles up to date.
func (d *Driver) Observe(e *trace.Event) { d.roles.observe(e) }

// Point is called whenever a task passes a site.
func (d *Driver) Point(
	node env.NodeID, task string, site failpoint.Site, note env.Note,
) Action {
	if d.ended || len(d.waiting[site]) == 0 && len(d.next) == 0 && d.terms == nil {
		return Action{}
	}
	return d.interfere(&Hit{Node: node, Task: task, Site: site, Note: note})
}

// interfere lets everyone who waits for this moment act on it.
func (d *Driver) interfere(h *Hit) (a Action) {
	if len(d.waiting[h.Site]) > 0 {
		d.pass(h, &a)
	}
	if len(d.next) > 0 {
		d.takeNext(h, &a)
	}
	if d.terms != nil && d.world != nil && a.Zero() {
		d.applyTerms(h, &a)
	}
	if a.Crash {
		// Whatever else happens to the task, it is dead.
		return Action{Crash: true}
	}
	return a
}

func (d *Driver) inject(f scenario.Fault, k *Kind, h *Hit, a *Action) {
	if d.ended {
		return
	}
	c := &Case{Fault: f, Kind: k, Hit: h, Action: a, driver: d, world: d.world}
	if k.Aim == AtPoint && h == nil {
		i := &interception{target: f.Target, take: func(h *Hit, a *Action) {
			c.Hit, c.Action = h, a
			d.begin(c)
		}}
		if k.arg(taskArg.Name) != nil {
			i.task, i.about = c.text(taskArg.Name), c.text(aboutArg.Name)
			i.skip = c.number(passesArg.Name)
		}
		d.next = append(d.next, i)
		return
	}
	d.begin(c)
}

// interception waits for the next point of a target, of one of the roles if there are any, of tasks
// of one name if there is one, and about one thing if there is one; it lets some pass first.
type interception struct {
	target string
	roles  []failpoint.Role
	task   string
	about  string
	skip   int
	take   func(h *Hit, a *Action)
}

func (i *interception) suits(d *Driver, h *Hit) bool {
	return (i.task == "" || i.task == h.Task) && (i.about == "" || i.about == h.Note.ID) &&
		(len(i.roles) == 0 || slices.Contains(i.roles, h.Site.Role())) && d.is(h.Node, i.target)
}

// takeNext gives the point to the first that waits for one such.
func (d *Driver) takeNext(h *Hit, a *Action) {
	for i, next := range d.next {
		if !next.suits(d, h) {
			continue
		}
		if next.skip--; next.skip < 0 {
			d.next = append(d.next[:i], d.next[i+1:]...)
			next.take(h, a)
			return
		}
	}
}

func (d *Driver) begin(c *Case) {
	if c.Kind.Aim == AtNode {
		if c.Target = d.aim(c); len(c.Target) == 0 {
			return
		}
	}
	d.announce(trace.Fault, c)
	c.repair = c.Kind.inject(c)
	d.fired = append(d.fired,
		Firing{Fault: c.Fault.ID, Kind: c.Kind.Name, At: d.world.Now(), Target: c.aimedAt()})
	if c.repair == nil {
		return
	}
	d.active = append(d.active, c)
	if c.Fault.For > 0 {
		d.world.At(d.world.Now().Add(c.Fault.For), func() { d.undo(c) })
	}
	if c.Fault.Until != nil {
		d.arm(*c.Fault.Until, func(*Hit, *Action) { d.undo(c) })
	}
}

// aim resolves a case's target now. The node that passes a site of the donor, or recovers, is the
// donor, even if another migration began later.
func (d *Driver) aim(c *Case) []env.NodeID {
	if h := c.Hit; h != nil {
		switch role := h.Site.Role(); {
		case role == failpoint.Donor && c.Fault.Target == "donor.primary",
			role == failpoint.Recovery && c.Fault.Target == "donor.primary",
			role == failpoint.Recipient && c.Fault.Target == "recipient.primary",
			role == failpoint.Config && c.Fault.Target == "config.primary":
			return []env.NodeID{h.Node}
		}
	}
	return d.roles.resolve(c.Fault.Target, d.nodes)
}

func (d *Driver) undo(c *Case) {
	if c.done {
		return
	}
	c.done = true
	for i, other := range d.active {
		if other == c {
			d.active = append(d.active[:i], d.active[i+1:]...)
			break
		}
	}
	c.repair()
	d.announce(trace.Repair, c)
}

// End repairs everything; from then on no fault fires.
func (d *Driver) End() {
	d.ended = true
	d.next = nil
	for len(d.active) > 0 {
		d.undo(d.active[0])
	}
	for _, wake := range d.wakes {
		wake()
	}
}

func (d *Driver) announce(kind trace.Kind, c *Case) {
	begun := trace.FaultEvent{Number: c.Fault.ID, FaultKind: c.Kind.Name, Target: c.aimedAt()}
	e := begun.Event()
	if kind == trace.Repair {
		e = trace.RepairEvent(begun).Event()
	}
	d.world.Emit(e)
}

func (c *Case) aimedAt() string {
	if len(c.Target) == 1 {
		return string(c.Target[0])
	}
	if c.Kind.Aim == AtPoint && c.Hit != nil {
		return string(c.Hit.Node)
	}
	return c.Fault.Target
}

func (d *Driver) applyTerms(h *Hit, a *Action) {
	switch effect := d.terms.Eval(h.Site); effect.Do {
	case terms.Crash:
		d.crash(h.Node, a)
		d.world.At(d.world.Now().Add(defaultDowntime), func() { d.restart(h.Node) })
	case terms.StepDown:
		d.world.StepDown(h.Node)
	case terms.Fail:
		a.Err = errcode.New(effect.Code, "failpoint %s", h.Site)
	case terms.Pause:
		a.Pause = effect.For
	case terms.Delay:
		a.Pause = 1 + time.Duration(d.world.Choose("failpoint.delay", h.Site.String(),
			int(effect.For)))
	case terms.Until:
		a.Until = func(wake func()) {
			d.wakes = append(d.wakes, wake)
			d.arm(scenario.Trigger{Site: effect.Site.String(), Nth: 1}, func(*Hit, *Action) {
				wake()
			})
		}
	}
}
