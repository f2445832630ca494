// Package runner carries a scenario out and judges what came of it: it starts a cluster in a simulated world, has clients,
// operators and faults act on it, heals it, waits until it is quiescent, and checks the history, every step and the end.
//
// Promise: Run is a pure function of the scenario: clients, migrations, faults, healing, the final pass and the audit are
// all part of one simulated schedule, and the same scenario gives the same trace hash in every process. Observers (Events,
// Record, Inspect, InjectionPoints, Coverage) change nothing about what happens.
//
// Refusal: it draws no scenarios, keeps no files and explains nothing: that is for the packages above, all of which use
// this one. No wall clock, no goroutine, no environment.
package runner

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/shardproof/shardproof/checkers/oracle"
	"github.com/shardproof/shardproof/faults"
	"github.com/shardproof/shardproof/faults/terms"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/sim"
)

// Options say how a run is observed; they change nothing about what happens.
type Options struct {
	// Pool keeps coroutines from one run to the next; nil is allowed.
	Pool *sim.Pool
	// Events keeps every event in the result.
	Events bool
	// Record, when set, is given the run before it is checked, with everything but its verdicts: what it keeps is kept even
	// if a checker fails or never ends.
	Record func(*Result) error
	// Trace takes one line of text for every step of Window.
	Trace  io.Writer
	Window sim.Window
	// Curve records how data lie on the shards.
	Curve bool
	// Occasions, when set, are taken down: every moment at which a fault could happen while clients and migrations are under way.
	Occasions *[]InjectionPoint
	// Coverage puts the situations of the run into the result.
	Coverage bool
	// Steps ends a run that has not come to rest by then; zero: after 20,000,000.
	Steps uint64
	// Inspect, when set, is called between any two steps and after the last one. It may look at everything and must change
	// nothing.
	Inspect func(Moment)
	// Unchecked leaves the checks out: the result has no verdicts.
	Unchecked bool
}

// Moment is a run between two steps.
type Moment struct {
	// Step is the number of steps so far, Now the virtual time.
	Step    uint64
	Now     env.Time
	Cluster *system.Cluster
}

// Run carries the scenario out and checks it. An error means that the scenario cannot be run, or is what Record returned;
// then the result is complete nevertheless.
func Run(s *scenario.Scenario, o Options) (*Result, error) {
	r, err := newRun(s, o)
	if err != nil {
		return nil, err
	}
	defer r.world.Close()
	r.play()
	r.inspect()
	return r.conclude()
}

// run is one run under way.
type run struct {
	scenario   *scenario.Scenario
	options    Options
	settings   settings.Settings
	conditions conditions
	world      *sim.World
	cluster    *system.Cluster
	driver     *faults.Driver
	oracle     *oracle.Oracle
	record     recorder
	tally      *counting
	events     []trace.Event
	// base is the world's time at which the scenario's begins, deadline until when everything must have come to rest.
	base, deadline env.Time
	hazards        []sim.RuleID
	// stirred is set when a member has become a writable primary since ready looked last.
	stirred bool
	// busy names the clients, moves and commands that have not ended; watching counts the readers of change streams. Once
	// drained is set, these end when they were delivered everything up to it.
	busy       map[string]bool
	watching   int
	drained    hlc.Timestamp
	sessions   []*session
	final      []histories.Op
	unfinished []string
	waiting    []string
	audits     []audited
	// balancing follows the balancer; settling is set when the faults have healed and it is brought to its rest.
	balancing balancing
	settling  bool
	// notes are taken for Options.Occasions, nil without.
	notes *notes
	// curve is taken for Options.Curve, nil without.
	curve *curve
	// coverage is kept for Options.Coverage, nil without.
	coverage *coverage
	// leaked is set when documents that nobody owned had to be removed by an operator.
	leaked bool
}

func newRun(s *scenario.Scenario, o Options) (*run, error) {
	if err := Validate(s); err != nil {
		return nil, err
	}
	r := &run{scenario: s, options: o, settings: settings.Default(protocolOf(s)), conditions: calm(), tally: newTally(), busy: map[string]bool{}}
	terms := terms.New(func(site string, n int) int { return r.world.Gate().Pick("failpoint.terms", site, n) })
	if err := configure(s, &r.settings, &r.conditions, terms); err != nil {
		return nil, err
	}
	if terms.Empty() {
		terms = nil
	}
	r.driver = faults.New(s.Faults, terms)
	if o.Curve {
		r.curve = &curve{run: r}
	}
	if o.Occasions != nil {
		r.notes = newNotes(r.driver.Leader)
	}
	if o.Coverage {
		r.coverage = newCoverage()
	}
	r.oracle = oracle.New(func(k string) string { return key.Key(k).String() })
	r.world = sim.New(r.worldOptions())
	r.record.now = r.world.Now
	var err error
	if r.cluster, err = system.Assemble(r.world, topology(s), &r.settings, collections(s)...); err != nil {
		return r, err
	}
	for _, id := range r.cluster.Topology().MembersOf(configsvr.Name) {
		if east, located := r.conditions.zones[id]; located {
			r.cluster.Locate(id, east)
		}
	}
	return r, nil
}

// Observe hands every event to whoever judges or counts.
func (r *run) Observe(e *trace.Event) {
	r.driver.Observe(e)
	r.tally.Observe(e)
	r.oracle.Observe(e)
	r.balancing.follow(e)
	if r.curve != nil {
		r.curve.observe(e)
	}
	r.stirred = r.stirred || e.Kind == trace.Writable
	if r.notes != nil {
		r.notes.observe(e)
	}
	if r.coverage != nil {
		r.coverage.observe(e)
	}
	if e.Kind == trace.ProcessAborted {
		r.supervise(env.NodeID(e.Node))
	}
	if r.options.Events {
		r.events = append(r.events, *e)
	}
}

// onDecision keeps what chance decided among the events.
func (r *run) onDecision(d sim.Decision) {
	if !r.options.Events {
		return
	}
	e := trace.Event{Step: r.world.Steps(), At: int64(r.world.Now()), Kind: trace.Chance, Value: d.Kind, ID: d.Site, N: int(d.Occurrence), Txn: d.Answer}
	if link, class, isLink := strings.Cut(d.Site, "/"); isLink {
		from, to, _ := strings.Cut(link, ">")
		e.Node, e.Peer, e.ID = from, to, class
	}
	r.events = append(r.events, e)
}

// supervise starts a process again that has ended itself, as whatever started it first would.
func (r *run) supervise(id env.NodeID) {
	r.world.At(r.world.Now().Add(supervision), func() { r.world.Restart(id) })
}

// supervision is how long it takes to notice that a process has ended.
const supervision = 500 * time.Millisecond

// onPoint asks the faults what happens to a task at a site.
func (r *run) onPoint(p *sim.PointHit) sim.Action {
	if r.notes != nil {
		r.notes.onPoint(p)
	}
	if r.coverage != nil {
		r.coverage.pass(p.Site)
	}
	a := r.driver.Point(p.Node, p.Site, p.Note)
	if a.Zero() {
		return sim.Action{}
	}
	do := sim.Action{Pause: a.Pause, Crash: a.Crash, Announce: true}
	if a.Err != nil {
		do.Err = a.Err
	}
	if a.Until != nil {
		do.Until = &sim.Latch{}
		a.Until(do.Until.Open)
	}
	return do
}

// play goes through the phases: start, faults, healing, the last pass over all keys, rest.
func (r *run) play() {
	if r.world.Run(r.ready, env.Time(readyLimit)) != sim.Stopped {
		r.unfinished = append(r.unfinished, "the cluster did not start")
		return
	}
	r.base = r.world.Now()
	r.notes.begin()
	r.deadline = r.base.Add(r.scenario.FaultsEnd + r.scenario.Limit)
	r.begin()
	r.world.Run(nil, r.base.Add(r.scenario.FaultsEnd))
	r.notes.end(r.options.Occasions)
	r.heal()
	r.settle()
	r.world.Run(r.idle, r.deadline)
	r.rest()
	r.restore()
	r.lastPass()
	r.drain()
	r.rest()
	r.audit()
}

// ready looks at the cluster whenever a primary has become writable.
func (r *run) ready() bool {
	if !r.stirred {
		return false
	}
	r.stirred = false
	return r.cluster.Ready()
}

// readyLimit is how long a cluster may take to elect its first primaries.
const readyLimit = 30 * time.Second

// begin starts clients, migrations and faults.
func (r *run) begin() {
	preload := histories.Preload(r.scenario, uint64(r.cluster.Time()))
	r.record.counter = 2 * uint64(len(preload))
	r.record.ops = append(make([]histories.Op, 0, r.operations(len(preload))), preload...)
	perClient := make([][]scenario.Op, r.scenario.Topology.Clients)
	for _, op := range r.scenario.Ops {
		perClient[op.Client] = append(perClient[op.Client], op)
	}
	r.sessions = make([]*session, len(perClient))
	for i, ops := range perClient {
		r.startClient(i, ops)
	}
	r.startMoves()
	r.startCommands()
	r.startStreams()
	p := &faultWorld{world: r.world, stepDown: r.stepDown, diskTail: sim.Probability(r.conditions.diskTail)}
	r.driver.Start(p, r.base)
	r.setHazards(p)
}

// operations is how many operations the history will have.
func (r *run) operations(preloaded int) int {
	n := preloaded + len(r.scenario.Ops)
	for _, c := range r.scenario.Collections {
		n += 2*c.Keys + 1
	}
	return n
}

func (r *run) startClient(i int, ops []scenario.Op) {
	name := fmt.Sprintf("client %d", i)
	r.busy[name] = true
	r.world.AddNode(clientNode(i), func(t env.Task) {
		r.sessions[i] = &session{client: r.cluster.NewClient(t.Node()), record: &r.record, start: r.base, hashed: hashed(r.scenario), creations: creations(r.scenario),
			lossy: r.settings.TerminateReads == 0}
		r.sessions[i].run(t, ops)
		delete(r.busy, name)
	})
}

// idle reports whether nothing that was asked for is under way.
func (r *run) idle() bool { return len(r.busy) == 0 }

func clientNode(i int) env.NodeID { return env.NodeID(fmt.Sprintf("client.%d", i)) }

// heal repairs everything; from here on the cluster must come to rest.
func (r *run) heal() {
	r.driver.End()
	for _, id := range r.hazards {
		r.world.RemoveRule(id)
	}
	r.world.HealNetwork()
	r.world.SetStalls(0, 0)
	for _, id := range r.cluster.Servers() {
		r.world.SetDiskSlowness(id, 1, 0)
		r.world.ResetClock(id)
		r.world.Restart(id)
	}
}

// pollEvery is how often a resting cluster is looked at.
const pollEvery = 50 * time.Millisecond

// rest waits until nothing is outstanding.
func (r *run) rest() {
	for r.world.Now() < r.deadline && len(r.cluster.Outstanding()) > 0 {
		next := min(r.world.Now().Add(pollEvery), r.deadline)
		if why := r.world.Run(nil, next); why == sim.Broken || why == sim.Exhausted {
			return
		}
	}
}

func topology(s *scenario.Scenario) system.Topology {
	t := s.Topology
	return system.Topology{
		Shards: t.Shards, Members: t.Members, ConfigMembers: t.ConfigMembers, Routers: t.Routers, Clients: t.Clients,
		Profile: protocolOf(s), Balancer: s.Balancer,
	}
}

// protocolOf is the version that a valid scenario names.
func protocolOf(s *scenario.Scenario) protocol.Profile {
	p, err := protocol.Parse(s.Protocol)
	if err != nil {
		panic("harness: a scenario that was validated: " + err.Error())
	}
	return p
}

func decisions(of []scenario.Decision) []sim.Decision {
	out := make([]sim.Decision, len(of))
	for i, d := range of {
		out[i] = sim.Decision(d)
	}
	return out
}

// smallest and largest stand for MinKey and MaxKey in scenarios.
const smallest, largest = math.MinInt64, math.MaxInt64
