package coroutine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/system/coroutine"
	"github.com/shardproof/shardproof/system/env"
)

// noter notes what it does, and waits after each note.
type noter struct {
	thread coroutine.Task
	notes  []string
	log    *[]string
}

func (n *noter) Run() {
	for _, note := range n.notes {
		*n.log = append(*n.log, note)
		n.thread.Wait()
	}
}

// TestTurns demands that a task goes on where it waited, that tasks mix as they are run, and that
// the coroutine of one that has ended serves another.
func TestTurns(t *testing.T) {
	var pool coroutine.Pool
	defer pool.Close()
	var log []string
	a := &noter{notes: []string{"a1", "a2"}, log: &log}
	b := &noter{notes: []string{"b1"}, log: &log}
	if a.thread.Started() {
		t.Error("a task has started before it ran")
	}
	for _, n := range []*noter{a, b, a, b, a} {
		pool.Run(&n.thread, n)
	}
	if diff := cmp.Diff([]string{"a1", "b1", "a2"}, log); diff != "" {
		t.Error(diff)
	}
	if !a.thread.Started() || pool.Len() != 2 {
		t.Errorf("started %v, %d idle coroutines, want 2", a.thread.Started(), pool.Len())
	}
	c := &noter{notes: []string{"c1"}, log: &log}
	pool.Run(&c.thread, c)
	if pool.Len() != 1 {
		t.Errorf("%d idle coroutines while a third task waits, want 1", pool.Len())
	}
	pool.Run(&c.thread, c)
}

// member is a task of a scope.
type member struct {
	env.Task
	coroutine coroutine.Task
}

func (m *member) Interrupt(err error) { m.coroutine.Doom(err) }

// TestScopes demands that a task is of its scope from its start to its end.
func TestScopes(t *testing.T) {
	closed, later := errors.New("closed"), errors.New("later")
	scope := env.NewScope(nil)
	in, left := &member{}, &member{}
	in.coroutine.Join("in", scope, in)
	left.coroutine.Join("left", scope, left)
	left.coroutine.Leave()
	scope.Cancel(closed)
	late := &member{}
	late.coroutine.Join("late", scope, late)
	if in.coroutine.Err() != closed || left.coroutine.Err() != nil ||
		late.coroutine.Err() != closed {
		t.Errorf("in the scope: %v, having left: %v, joining late: %v",
			in.coroutine.Err(), left.coroutine.Err(), late.coroutine.Err())
	}
	if in.coroutine.Doom(later) || in.coroutine.Err() != closed {
		t.Errorf("a second reason took the place of the first: %v", in.coroutine.Err())
	}
	if in.coroutine.Name() != "in" || in.coroutine.Scope() != scope {
		t.Errorf("task %s is in %p, want in of %p", in.coroutine.Name(),
			in.coroutine.Scope(), scope)
	}
}

// TestSpins demands that a task which goes on although its waits fail is named with the reason,
// after many, and that real waits do not count.
func TestSpins(t *testing.T) {
	var task coroutine.Task
	task.Place("poller", env.NewScope(nil))
	const many = 10_000
	for range 2 * many {
		if why := task.Spins(); why != "" {
			t.Fatalf("a task whose waits succeed: %s", why)
		}
	}
	task.Doom(errors.New("no lease"))
	for i := range many {
		if why := task.Spins(); why != "" {
			t.Fatalf("after %d waits: %s", i, why)
		}
	}
	why := task.Spins()
	if !strings.Contains(why, "poller spins") || !strings.Contains(why, "no lease") {
		t.Errorf("after %d refused waits: %q", many, why)
	}
}
