package coroutine

import (
	"github.com/shardproof/shardproof/system/env"
)

// Task is the part of an env.Task that worlds have in common; they embed it. The zero Task has not
// started.
type Task struct {
	co    *coroutine
	name  string
	scope *env.Scope
	// joined: the scope knows the task by the ticket.
	joined bool
	ticket int
	// err is why every wait fails; refused counts those that did so since the last real one.
	err     error
	refused int
	// wroteIn and wrote are the term and the index of the newest entry that it has noted.
	wroteIn, wrote uint64
}

// Name implements env.Task.
func (t *Task) Name() string { return t.name }

// Scope implements env.Task.
func (t *Task) Scope() *env.Scope { return t.scope }

// Err implements env.Task.
func (t *Task) Err() error { return t.err }

// Wrote implements env.Task.
func (t *Task) Wrote(term, index uint64) { t.wroteIn, t.wrote = term, index }

// Written is the newest entry that the task has noted, 0 for none.
func (t *Task) Written() (term, index uint64) { return t.wroteIn, t.wrote }

// Place puts a new task into the scope of its node, which has no list of its tasks.
func (t *Task) Place(name string, scope *env.Scope) { t.name, t.scope = name, scope }

// Join puts a new task, which is a part of self, into a scope: if that has ended, every wait fails.
func (t *Task) Join(name string, scope *env.Scope, self env.Task) {
	t.Place(name, scope)
	t.joined, t.ticket, t.err = true, scope.Join(self), scope.Err()
}

// Leave takes a task that has ended out of its scope.
func (t *Task) Leave() {
	if t.joined {
		t.scope.Leave(t.ticket)
	}
}

// Started reports whether the task has run.
func (t *Task) Started() bool { return t.co != nil }

// Wait gives control back to the caller that ran the task, until it is run again.
func (t *Task) Wait() {
	t.refused = 0
	t.co.yield(struct{}{})
}

// Doom has every wait from now on fail with err, and reports whether it is the first to do so.
func (t *Task) Doom(err error) bool {
	if t.err != nil {
		return false
	}
	t.err = err
	return true
}

// spinLimit is how many waits may fail in a row without any real one, before a task is taken to
// spin.
const spinLimit = 10_000

// Spins counts a wait that is about to be refused if the task is doomed, and says in a sentence
// that there were too many, or nothing.
func (t *Task) Spins() string {
	if t.err == nil {
		return ""
	}
	if t.refused++; t.refused <= spinLimit {
		return ""
	}
	return "task " + t.name + " spins: it goes on although all its waits fail with " + t.err.Error()
}

// Misplaced says that a task waits while another has control.
func (t *Task) Misplaced() string {
	return "task " + t.name +
		" waits outside its own control: a blocking call from inline code or another task"
}
