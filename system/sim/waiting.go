package sim

import (
	"time"

	"github.com/shardproof/shardproof/system/env"
)

// Wait is what a task that has not ended is waiting for.
type Wait struct {
	Node env.NodeID
	Task string
	// Doing says what the task does and where, Since from when on, and Told what keeps its answer
	// away, or what it was last answered; Told may be empty. Both texts are clauses for people.
	Doing, Told string
	Since       env.Time
	// Serves says that the task answers a request of another one.
	Serves bool
	// About is the work for which the task last announced a site, such as a migration; may be
	// empty.
	About string
	// On is the position of the task that serves its request, -1 for none.
	On int
}

// String is the wait in one line.
func (w *Wait) String() string { return string(w.Node) + ": " + w.Task + " " + w.Doing }

// Waiting is what every task that has not ended waits for, by node and age: why a cluster does not
// come to rest.
func (w *World) Waiting() []Wait {
	var waits []Wait
	serves := map[*task]int{}
	tasks := w.unended()
	for i, t := range tasks {
		if t.request != nil && t.request.awaited() {
			serves[t.request.caller] = i
		}
	}
	for _, t := range tasks {
		on, served := serves[t]
		if !served {
			on = -1
		}
		waits = append(waits, Wait{
			Node: t.node.ID(), Task: t.Name(), Doing: t.doing(),
			Told: t.told(served), Since: t.since,
			Serves: t.request != nil, About: t.about, On: on,
		})
	}
	return waits
}

// Serving says whether any task answers a request, also one that nobody waits for any more.
func (w *World) Serving() bool {
	for _, m := range w.machines {
		if m.life == nil {
			continue
		}
		for t := m.life.first; t != nil; t = t.next {
			if t.request != nil {
				return true
			}
		}
	}
	return false
}

// unended are the tasks of the running processes, by node and age.
func (w *World) unended() (all []*task) {
	for _, m := range w.machines {
		if m.life == nil {
			continue
		}
		for t := m.life.first; t != nil; t = t.next {
			all = append(all, t)
		}
	}
	return all
}

// doing describes the present wait.
func (t *task) doing() string {
	text := "is " + stateNames[t.state]
	if t.state == taskCalling {
		text = "waits for " + t.last.asked()
	}
	if t.site != 0 {
		text += " after " + t.site.String()
	}
	if err := t.Err(); err != nil {
		text += ", to end with " + err.Error()
	}
	return text
}

// told is what the task was last answered, where it seems to try again and again, and why a call
// has no answer although nobody works on one.
func (t *task) told(served bool) string {
	w, x := t.node.world, &t.last
	m := w.byID[x.with]
	switch {
	case t.state == taskSleeping && x.class != nil:
		return x.outcome(w)
	case t.state != taskCalling || served:
		return ""
	case m != nil && m.life == nil:
		return string(m.id) + " is down"
	case x.mishap != "":
		return "the " + x.lost + " was " + x.mishap + " at " + clock(x.at)
	case t.past.class == x.class:
		return t.past.outcome(w)
	}
	return "the message is on its way"
}

// exchange is a call: whom the request went to, and what came of it.
type exchange struct {
	with  env.NodeID
	class *messageClass
	// at is when it was answered; answer is nil when it failed with err.
	at     env.Time
	answer env.Message
	err    error
	// mishap is what happened on the way to the request or the answer, as lost says, at a time that
	// is in at until there is an answer.
	mishap, lost string
}

// asked names whom the call was made to, with what.
func (x *exchange) asked() string {
	if x.class == nil {
		return string(x.with)
	}
	return string(x.with) + " (" + x.class.name + ")"
}

// outcome is what the caller was answered.
func (x *exchange) outcome(w *World) string {
	text := x.asked() + " answered at " + clock(x.at) + ": "
	if x.err != nil {
		return text + x.err.Error()
	}
	return text + w.opts.Describe(x.answer)
}

// met notes what happened to a packet whose sender still waits.
func (p *packet) met(what string, now env.Time) {
	if !p.awaited() {
		return
	}
	x := &p.caller.last
	x.mishap, x.lost, x.at = what, "request", now
	if p.kind == reply {
		x.lost = "answer"
	}
}

// clock is a time as people read it.
func clock(t env.Time) string { return time.Duration(t).Round(10 * time.Microsecond).String() }
