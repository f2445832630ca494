package sim

import (
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
)

// PointHit is a task's announcement of a site. It is valid during the call of OnPoint only.
type PointHit struct {
	Node env.NodeID
	Task string
	Site failpoint.Site
	Note env.Note
	// Nth counts the node's passages of the site over all its incarnations, from 1.
	Nth uint64
}

// Action is what happens to a task at a site: it is held for Pause, then until the Latch opens;
// then its node crashes, or the announcement fails with Err. The zero Action lets the task go on.
// OnPoint may also crash the node itself.
type Action struct {
	Pause time.Duration
	Until *Latch
	Crash bool
	Err   error
	// Announce emits an trace.PointHit even without Options.TracePoints.
	Announce bool
}

// Latch holds tasks until it is opened. The zero Latch is closed and ready.
type Latch struct {
	open    bool
	waiting []*task
}

// Open releases every held task, in the order of their arrival, and of all that come later.
func (l *Latch) Open() {
	l.open = true
	for _, t := range l.waiting {
		if t.state == taskHeld && !t.node.inert() {
			t.wake(nil)
		}
	}
	l.waiting = nil
}

func (t *task) Point(site failpoint.Site, note env.Note) error {
	if err := t.enter(); err != nil {
		return err
	}
	w := t.node.world
	t.site = site
	if note.ID != "" {
		t.about = note.ID
	}
	s := t.node.machine.site(site)
	s.hits++
	nth := s.hits // the task may stall below, and others pass meanwhile
	w.count(site)
	if w.opts.OnPoint != nil || w.opts.TracePoints {
		if err := t.pass(site, note, nth); err != nil {
			return err
		}
	}
	if d := t.node.machine.stall(site, nth); d > 0 {
		t.arm(d)
		if err := t.wait(taskHeld); err != nil {
			return err
		}
	}
	if code := t.node.machine.fails(site, nth); code != "" {
		t.node.Emit(announced(site, note, true))
		return errcode.New(code, "failpoint %s by chance", site)
	}
	return nil
}

func announced(site failpoint.Site, note env.Note, failed bool) *trace.Event {
	return trace.PointHitEvent{
		Site:      site.String(),
		Peer:      note.Peer,
		Migration: note.ID,
		N:         note.N,
		Failed:    failed,
	}.Event()
}

func (w *World) count(site failpoint.Site) {
	for int(site) >= len(w.hits) {
		w.hits = append(w.hits, 0)
	}
	w.hits[site]++
}

// pass asks what happens at the site and has it happen.
func (t *task) pass(site failpoint.Site, note env.Note, nth uint64) error {
	w := t.node.world
	var do Action
	if w.opts.OnPoint != nil {
		w.passage = PointHit{t.node.ID(), t.Name(), site, note, nth}
		do = w.opts.OnPoint(&w.passage)
	}
	if do.Announce || do.Err != nil || w.opts.TracePoints {
		t.node.Emit(announced(site, note, do.Err != nil))
	}
	if t.node.dead {
		t.vanish()
	}
	if err := t.hold(&do); err != nil {
		return err
	}
	if do.Crash {
		w.Crash(t.node.ID())
		t.vanish()
	}
	return do.Err
}

// hold keeps the task at the site as long as the action says.
func (t *task) hold(do *Action) error {
	if do.Pause > 0 {
		t.arm(do.Pause)
		if err := t.wait(taskHeld); err != nil {
			return err
		}
	}
	if do.Until == nil || do.Until.open {
		return nil
	}
	t.latched = true
	do.Until.waiting = append(do.Until.waiting, t)
	return t.wait(taskHeld)
}
