// Package runner carries a scenario out on a system under test, in a simulated world, and judges
// what came of it.
//
// A run goes through these phases: the system starts; clients, movements, commands, readers of
// change streams and faults begin; the faults heal; the system is brought to its end and becomes
// quiescent; what may be missing is made again; every key is written and read once more; all nodes
// are surveyed; an operator tries what must be possible now; and every checker that the system
// promises to satisfy judges.
//
// Promise: Run is a pure function of the scenario, and the same scenario gives the same trace hash
// in every process. Options change nothing about what happens. The runner knows systems by the
// terms of package target only.
//
// Refusal: no wall clock, no goroutine, no environment; those are for harness/campaign,
// harness/parallel and the command line. It saves nothing, draws nothing and explains nothing.
package runner

import (
	"io"
	"time"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// Options say what can be run, and how a run is observed. Observing changes nothing about what
// happens.
type Options struct {
	// Targets are the systems that a scenario may name; the first is that of scenarios that name
	// none.
	Targets target.Set
	// Pool keeps coroutines from one run to the next; nil is allowed.
	Pool *sim.Pool
	// Events keeps every event in the result.
	Events bool
	// Places finds out where in the code each event was emitted, which costs a little time.
	Places bool
	// Record, when set, is given the run before it is checked, with everything but its verdicts:
	// what it keeps is kept even if a checker fails or never ends.
	Record func(*Result) error
	// Trace takes one line of text for every step of Window.
	Trace  io.Writer
	Window sim.Window
	// Curve records how data lie on the shards, of systems that show it. A run with Record has it
	// also without, if its system moves data by itself.
	Curve bool
	// InjectionPoints, when set, are recorded: every moment at which a fault could happen while
	// clients and movements are in progress.
	InjectionPoints *[]InjectionPoint
	// Coverage puts the coarse abstract states that the run reached into the result.
	Coverage bool
	// Steps ends a run that has not become quiescent by then; zero: after 20,000,000.
	Steps uint64
	// Observers watch the run.
	Observers []Observer
	// Unchecked leaves the checks out: the result has no verdicts.
	Unchecked bool
}

// Run carries the scenario out and checks it. An error means that the scenario cannot be run, or is
// what Record returned; then the result is complete nevertheless.
func Run(s *scenario.Scenario, o Options) (*Result, error) {
	r, err := newRun(s, o)
	if err != nil {
		return nil, err
	}
	defer r.world.Close()
	r.play()
	r.observers.look(r.moment())
	return r.conclude()
}

// run is the life of one run.
type run struct {
	*stage
	options    Options
	target     target.Target
	conditions conditions
	injector   injector
	clients    *clientPool
	operators  *operators
	readers    *streamReaders
	checks     *finalChecks
	observers  observers
	recorded   recorded
	// stirred is set when a node has become writable since ready looked last. Early are the events
	// from before there was a system to judge them.
	stirred bool
	early   []trace.Event
	// nothingLeft is set when the world is idle although something is outstanding.
	nothingLeft bool
}

// recorded is what the built-in observers have recorded; nil for what was not asked for.
type recorded struct {
	counts   *counting
	coverage *coverage
	points   *pointRecorder
	curve    *curve
	events   []trace.Event
	places   places
	passages passages
}

func newRun(s *scenario.Scenario, o Options) (*run, error) {
	t, err := o.Targets.Find(s.Target)
	if err != nil {
		return nil, err
	}
	if err := validate(t, s); err != nil {
		return nil, err
	}
	r := &run{options: o, target: t, conditions: calm()}
	r.stage = &stage{scenario: s, about: t.Describe(), servers: t.Nodes(s.Topology), tasks: tasks{}}
	own, err := r.configure()
	if err != nil {
		return nil, err
	}
	r.observe()
	r.world = sim.New(r.worldOptions())
	r.history.now = r.world.Now
	if r.system, err = t.Start(target.Setup{World: r, Scenario: s, Settings: own}); err != nil {
		return nil, err
	}
	r.catchUp()
	r.observeCurve()
	if err := r.able(); err != nil {
		return nil, err
	}
	r.clients, r.operators = &clientPool{stage: r.stage}, &operators{stage: r.stage}
	r.readers, r.checks = &streamReaders{stage: r.stage}, &finalChecks{stage: r.stage}
	return r, nil
}

// play goes through the phases: start, faults, healing, quiescence, the final pass over all keys,
// the survey, and the probes.
func (r *run) play() {
	if r.world.Run(r.ready, env.Time(readyLimit)) != sim.Stopped {
		r.checks.leave("the cluster did not start")
		return
	}
	r.base = r.world.Now()
	r.recorded.points.begin()
	r.deadline = r.base.Add(r.scenario.FaultsEnd + r.scenario.Limit)
	r.begin()
	r.world.Run(nil, r.base.Add(r.scenario.FaultsEnd))
	r.recorded.points.end(r.options.InjectionPoints)
	r.heal()
	r.quiesce()
	r.settle()
	r.rest()
	r.clients.restore()
	r.rest()
	r.checks.final = r.clients.finalPass()
	r.checks.unfinished = append(r.checks.unfinished, r.readers.drain()...)
	r.rest()
	r.checks.survey(r.conditions.repair > 0)
	r.checks.probe()
}

// elapsed counts from when the clients began.
func (r *run) elapsed() time.Duration { return r.world.Now().Sub(r.base) }

// ready asks the system whenever a node has become writable.
func (r *run) ready() bool {
	if !r.stirred {
		return false
	}
	r.stirred = false
	return r.system.Ready()
}

// readyLimit is how long a cluster may take until it can serve clients.
const readyLimit = 30 * time.Second

// begin starts clients, movements, commands, readers and faults, in this order.
func (r *run) begin() {
	r.clients.start()
	r.operators.startMovements()
	r.operators.startCommands()
	r.readers.start()
	r.injector.start(r)
}

// heal repairs everything; from here on the system must become quiescent.
func (r *run) heal() {
	r.injector.end()
	r.world.HealNetwork()
	r.world.SetStalls(0, nil, 0)
	r.world.SetLateWakings(nil, 0)
	r.world.SetStepFailures(0, nil)
	for _, n := range r.servers {
		r.world.SetDiskSlowness(n.ID, 1, 0)
		r.world.ResetClock(n.ID)
		r.world.Restart(n.ID)
	}
}

// quiesce has an operator bring the system to its end, if it goes on by itself.
func (r *run) quiesce() {
	q, ok := r.system.(target.Quiescer)
	if !ok || r.world.Err() != nil {
		return
	}
	name, do := q.Quiesce()
	if do == nil {
		return
	}
	r.tasks.begin(name)
	r.world.AddNode(quiescingOperator, func(t env.Task) {
		do(t)
		r.tasks.end(name)
	})
}

// settle waits until all that was begun has ended. Clients that get their answers, and only have
// many operations to go, may take longer than the limit, but not ten times as long.
func (r *run) settle() {
	why := r.world.Run(r.idle, r.deadline)
	last := r.deadline.Add(9 * r.scenario.Limit)
	for why == sim.TimeUp && r.world.Now() < last && r.clients.goOn() {
		r.deadline = r.world.Now().Add(r.scenario.Limit)
		why = r.world.Run(r.idle, r.world.Now().Add(answerTime(r.scenario)))
	}
	if why != sim.TimeUp { // what follows has as long, however late it is
		r.deadline = max(r.deadline, r.world.Now().Add(r.scenario.Limit))
	}
}

// answerTime is how long an answer may take, once all faults are repaired, for its client to count
// as one that goes on.
func answerTime(s *scenario.Scenario) time.Duration { return s.Limit / 9 }

// rest waits until clients can be served, nothing is outstanding, and no server works on what its
// client has given up. In an idle world, where nothing will ever happen, it waits for nothing.
func (r *run) rest() {
	busy := func() bool {
		return !r.system.Ready() || r.world.Serving() || len(r.system.Outstanding()) > 0
	}
	for r.world.Now() < r.deadline && busy() {
		next := min(r.world.Now().Add(pollEvery), r.deadline)
		if why := r.world.Run(nil, next); why != sim.TimeUp {
			r.nothingLeft = why == sim.Idle
			return
		}
	}
}

// pollEvery is how often it is looked whether a system is quiescent.
const pollEvery = 50 * time.Millisecond

var _ target.World = (*run)(nil)
