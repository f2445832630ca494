package env

// Scope is the life span of a group of tasks, for example of everything a primary does in its term.
// Cancelling it ends every wait of its tasks with one error, so that code of an ended life cannot
// act any more. The zero Scope is ready.
//
// Invariant: tasks are kept in the order in which they joined, so that cancelling is deterministic.
type Scope struct {
	err     error
	members []scopeMember
	free    []int
	parent  *Scope
	inner   []*Scope
}

type scopeMember struct{ task Task }

// NewScope returns a scope that ends with its parent at the latest; a nil parent is allowed.
func NewScope(parent *Scope) *Scope {
	s := &Scope{parent: parent}
	if parent == nil {
		return s
	}
	s.err = parent.err
	if s.err == nil {
		parent.inner = append(parent.inner, s)
	}
	return s
}

// Err is the error the scope was cancelled with, nil while it is open.
func (s *Scope) Err() error {
	if s == nil {
		return nil
	}
	return s.err
}

// Within reports whether s is outer or lies inside it. Everything lies within the nil scope.
func (s *Scope) Within(outer *Scope) bool {
	for in := s; in != nil; in = in.parent {
		if in == outer {
			return true
		}
	}
	return outer == nil
}

// Join adds a task; worlds call it when the task starts. The ticket is for Leave.
func (s *Scope) Join(t Task) (ticket int) {
	if n := len(s.free); n > 0 {
		ticket = s.free[n-1]
		s.free = s.free[:n-1]
		s.members[ticket].task = t
		return ticket
	}
	s.members = append(s.members, scopeMember{t})
	return len(s.members) - 1
}

// Leave removes a task that has ended.
func (s *Scope) Leave(ticket int) {
	s.members[ticket].task = nil
	s.free = append(s.free, ticket)
}

// Cancel interrupts every task of the scope and of the scopes inside it with err. The first error
// stays; a second Cancel does nothing.
func (s *Scope) Cancel(err error) {
	if s.err != nil {
		return
	}
	s.err = err
	for _, m := range s.members {
		if m.task != nil {
			m.task.Interrupt(err)
		}
	}
	for _, in := range s.inner {
		in.Cancel(err)
	}
	s.inner = nil
}

// Close ends a scope whose tasks are done, so that its parent forgets it. Tasks still in it are
// interrupted with err.
func (s *Scope) Close(err error) {
	s.Cancel(err)
	if s.parent == nil {
		return
	}
	for i, in := range s.parent.inner {
		if in == s {
			s.parent.inner = append(s.parent.inner[:i], s.parent.inner[i+1:]...)
			return
		}
	}
}
