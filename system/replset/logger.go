package replset

// raftLogger keeps raft silent and turns its panics, which are broken invariants, into failed
// assertions.
type raftLogger struct{ m *Member }

func (raftLogger) Debug(...any)            {}
func (raftLogger) Debugf(string, ...any)   {}
func (raftLogger) Info(...any)             {}
func (raftLogger) Infof(string, ...any)    {}
func (raftLogger) Warning(...any)          {}
func (raftLogger) Warningf(string, ...any) {}
func (raftLogger) Error(...any)            {}
func (raftLogger) Errorf(string, ...any)   {}

func (l raftLogger) Fatal(v ...any)                 { l.m.fail("raft: %v", v) }
func (l raftLogger) Fatalf(format string, v ...any) { l.m.fail("raft: "+format, v...) }
func (l raftLogger) Panic(v ...any)                 { l.m.fail("raft: %v", v) }
func (l raftLogger) Panicf(format string, v ...any) { l.m.fail("raft: "+format, v...) }

// fail stops the run with the state of the member. It never returns; raft relies on it.
func (m *Member) fail(format string, v ...any) {
	args := append([]any{m.cfg.Self, m.term, m.leading, m.log.last(), m.committed}, v...)
	m.node.Assert(false,
		"member %s, term %d, leading %t, applied %s, committed %s: "+format, args...)
	panic("a failed assertion returned")
}
