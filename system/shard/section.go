package shard

import (
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
)

// Phase is how much a critical section blocks. The zero Phase blocks nothing.
type Phase uint8

// The phases (protocol 8).
const (
	Open          Phase = iota
	WritesBlocked       // reads go on
	AllBlocked          // reads wait, too
)

// Holder identifies the holder of a critical section: a donor or a recipient, and its migration.
type Holder struct {
	Actor trace.Actor // trace.Donor or trace.Recipient
	ID    string      // the migration
}

// criticalSection is the critical section of a collection. It is namespace wide. A donor's of a
// migration is in memory and ends with the term; others follow a replicated document (see Hold) and
// outlive failovers.
type criticalSection struct{ holds []sectionHold }

type sectionHold struct {
	Holder
	phase       Phase
	recoverable bool
}

// EnterWrites blocks user writes to the namespace from now on. Writes that have passed their
// version check but are not yet committed find out at their commit.
func (c *Collection) EnterWrites(h Holder) {
	c.section.enter(c, sectionHold{h, WritesBlocked, false})
}

// EnterReads blocks user reads as well.
func (c *Collection) EnterReads(h Holder) { c.section.enter(c, sectionHold{h, AllBlocked, false}) }

// Leave ends h's hold and wakes the tasks that wait for it; it does nothing when there is none.
func (c *Collection) Leave(h Holder) {
	for i, in := range c.section.holds {
		if in.Holder == h {
			c.section.holds = append(c.section.holds[:i], c.section.holds[i+1:]...)
			c.announceSection(h, trace.SectionReleased)
			c.settled.Broadcast()
			return
		}
	}
}

// Phase is what is blocked now.
func (c *Collection) Phase() Phase {
	p := Open
	for _, h := range c.section.holds {
		p = max(p, h.phase)
	}
	return p
}

func (s *criticalSection) enter(c *Collection, h sectionHold) {
	for i := range s.holds {
		if s.holds[i].Holder == h.Holder {
			if s.holds[i].phase < h.phase {
				s.holds[i].phase = h.phase
				c.announceSection(h.Holder, h.phase.state())
			}
			return
		}
	}
	s.holds = append(s.holds, h)
	c.announceSection(h.Holder, h.phase.state())
}

// String is the phase's name in events.
func (p Phase) String() string { return p.state().String() }

// state is the phase as events have it.
func (p Phase) state() trace.SectionState {
	return [...]trace.SectionState{
		trace.SectionReleased, trace.WritesBlocked, trace.ReadsBlocked,
	}[p]
}

// announceSection reports the sections of primaries only: on other members nobody asks to pass.
func (c *Collection) announceSection(h Holder, state trace.SectionState) {
	if !c.server.cfg.Member.Leading() {
		return
	}
	c.server.node.Emit(trace.CriticalSectionEvent{
		Shard:     c.server.name,
		NS:        c.ns,
		State:     state,
		Actor:     h.Actor,
		Migration: h.ID,
	}.Event())
}

// dropTransient ends the holds that live in memory only.
func (s *criticalSection) dropTransient(c *Collection) {
	for _, h := range append([]sectionHold(nil), s.holds...) {
		if !h.recoverable {
			c.Leave(h.Holder)
		}
	}
}

// announceHeld reports what a new primary holds from the beginning.
func (s *criticalSection) announceHeld(c *Collection) {
	for _, h := range s.holds {
		c.announceSection(h.Holder, h.phase.state())
	}
}

func (p Phase) blocks(write bool) bool { return p == AllBlocked || write && p == WritesBlocked }

// awaitSettled waits until nobody holds the section and no recovery is in progress, for at most
// settings.StaleWait (protocol 3.4 step 3, 8: refreshes asked for by stale requests wait for the
// signal of either phase).
func (c *Collection) awaitSettled(t env.Task) error {
	return c.settled.WaitFor(t, c.staleWait(), func() bool {
		return len(c.section.holds) == 0 && !c.undecided()
	})
}

// awaitOpen waits until the section lets such a request pass, for at most settings.StaleWait.
func (c *Collection) awaitOpen(t env.Task, write bool) error {
	return c.settled.WaitFor(t, c.staleWait(), func() bool { return !c.Phase().blocks(write) })
}

func (c *Collection) staleWait() time.Duration { return c.server.cfg.Settings.StaleWait }
