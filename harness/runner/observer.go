package runner

import (
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/sim"
)

// Observer watches a run. Each function may be nil, and none may change anything about the run.
// What counters, coverage, injection points and the curve know of a run, they know by being
// observers.
type Observer struct {
	// Event takes every event. The pointer is valid during the call only.
	Event func(e *trace.Event)
	// Point takes every failpoint that a task passes, before it is decided what happens there.
	Point func(p *sim.PointHit)
	// Message takes every message that sets out and every disk operation that begins.
	Message func(p sim.InjectionPoint)
	// Step takes every step of the trace as it begins.
	Step func(s sim.Step)
	// Look is called between any two steps and after the last one.
	Look func(m Moment)
}

// Moment is a run between two steps.
type Moment struct {
	// Step is the number of steps so far, Now the virtual time.
	Step uint64
	Now  env.Time
	// System is the system under test, for observers that know what more it can be asked.
	System target.System
}

func (r *run) moment() Moment {
	return Moment{Step: r.world.Steps(), Now: r.world.Now(), System: r.system}
}

// observers are all observers of a run, by what they take.
type observers struct {
	events   []func(*trace.Event)
	points   []func(*sim.PointHit)
	messages []func(sim.InjectionPoint)
	steps    []func(sim.Step)
	looks    []func(Moment)
}

func (o *observers) add(one Observer) {
	if one.Event != nil {
		o.events = append(o.events, one.Event)
	}
	if one.Point != nil {
		o.points = append(o.points, one.Point)
	}
	if one.Message != nil {
		o.messages = append(o.messages, one.Message)
	}
	if one.Step != nil {
		o.steps = append(o.steps, one.Step)
	}
	if one.Look != nil {
		o.looks = append(o.looks, one.Look)
	}
}

func (o *observers) look(m Moment) {
	for _, look := range o.looks {
		look(m)
	}
}

// observe attaches the observers that the options ask for.
func (r *run) observe() {
	r.recorded.counts = newTally()
	r.observers.add(Observer{Event: r.recorded.counts.Observe})
	if r.options.InjectionPoints != nil {
		r.recorded.points = newPointRecorder(r.injector.driver.Leader, r.elapsed, r.about)
		r.observers.add(r.recorded.points.observer())
	}
	if r.options.Coverage {
		r.recorded.coverage = newCoverage(r.about)
		r.observers.add(r.recorded.coverage.observer())
	}
	if r.options.Places {
		r.recorded.places = places{}
		r.observers.add(r.recorded.places.observer())
	}
	for _, o := range r.options.Observers {
		r.observers.add(o)
	}
	if r.options.Events {
		r.recorded.passages.late = map[passer][]trace.Passage{}
		r.observers.add(r.recorded.passages.observer(func() env.Time { return r.world.Now() }))
		r.observers.add(Observer{Event: func(e *trace.Event) {
			r.recorded.events = append(r.recorded.events, *e)
		}})
	}
}

// observeCurve attaches the curve, also to a run that is recorded and in which the system moves
// data by itself.
func (r *run) observeCurve() {
	of, ok := r.system.(target.Distributed)
	if !ok || !r.options.Curve && (r.options.Record == nil || !of.Chooses()) {
		return
	}
	r.recorded.curve = &curve{stage: r.stage, of: of}
	r.observers.add(Observer{Event: r.recorded.curve.observe})
}

// Observe hands every event to the faults, the system and the observers.
func (r *run) Observe(e *trace.Event) {
	r.injector.driver.Observe(e)
	r.judge(e)
	for _, take := range r.observers.events {
		take(e)
	}
	switch e.Kind {
	case trace.Writable:
		r.stirred = true
	case trace.ProcessAborted:
		r.supervise(env.NodeID(e.Node))
	}
}

// judge hands an event to a system that judges its own.
func (r *run) judge(e *trace.Event) {
	if r.system == nil {
		r.early = append(r.early, *e)
	} else if j, ok := r.system.(target.Judge); ok {
		j.Observe(e)
	}
}

// catchUp hands over what has happened while the system was being started.
func (r *run) catchUp() {
	for i := range r.early {
		r.judge(&r.early[i])
	}
	r.early = nil
}

// onDecision tells the system what chance decided, and keeps it among the events.
func (r *run) onDecision(d sim.Decision) {
	place, class, _ := strings.Cut(d.Site, "/")
	from, to, _ := strings.Cut(place, ">")
	if system, told := r.system.(target.Disturbed); told {
		system.Disturbed(env.NodeID(from), env.NodeID(to))
	}
	if !r.options.Events {
		return
	}
	e := trace.ChanceEvent{
		Step: r.world.Steps(), At: int64(r.world.Now()), Question: d.Kind, Place: d.Site,
		Occurrence: int(d.Occurrence), Answer: d.Answer,
	}
	if class != "" {
		e.Node, e.Receiver, e.Place = from, to, class
	}
	r.recorded.events = append(r.recorded.events, *e.Event())
}

// supervise starts a process again that has ended itself, as whatever started it first would.
func (r *run) supervise(id env.NodeID) {
	r.world.At(r.world.Now().Add(supervision), func() { r.world.Restart(id) })
}

// supervision is how long it takes to notice that a process has ended.
const supervision = 500 * time.Millisecond

// onPoint asks the faults what happens to a task at a site.
func (r *run) onPoint(p *sim.PointHit) sim.Action {
	for _, take := range r.observers.points {
		take(p)
	}
	return r.injector.point(p)
}

// onInjectionPoint is what a world reports of messages and disks; nil without an observer of them.
func (r *run) onInjectionPoint() func(sim.InjectionPoint) {
	if len(r.observers.messages) == 0 {
		return nil
	}
	return func(p sim.InjectionPoint) {
		for _, take := range r.observers.messages {
			take(p)
		}
	}
}

// onStep is what a world reports of its steps; nil without an observer of them.
func (r *run) onStep() func(sim.Step) {
	if len(r.observers.steps) == 0 {
		return nil
	}
	return func(s sim.Step) {
		for _, take := range r.observers.steps {
			take(s)
		}
	}
}

// betweenSteps is what a world does between two steps, nil without an observer that looks.
func (r *run) betweenSteps() func() {
	if len(r.observers.looks) == 0 {
		return nil
	}
	return func() { r.observers.look(r.moment()) }
}
