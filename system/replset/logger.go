package replset

// logger keeps raft silent and turns its panics, which are broken invariants, into failed
// assertions.
type logger struct{ m *Member }

func (logger) Debug(...any)            {}
func (logger) Debugf(string, ...any)   {}
func (logger) Info(...any)             {}
func (logger) Infof(string, ...any)    {}
func (logger) Warning(...any)          {}
func (logger) Warningf(string, ...any) {}
func (logger) Error(...any)            {}
func (logger) Errorf(string, ...any)   {}

func (l logger) Fatal(v ...any)                 { l.m.fail("raft: %v", v) }
func (l logger) Fatalf(format string, v ...any) { l.m.fail("raft: "+format, v...) }
func (l logger) Panic(v ...any)                 { l.m.fail("raft: %v", v) }
func (l logger) Panicf(format string, v ...any) { l.m.fail("raft: "+format, v...) }

// fail stops the run with the state of the member. It never returns; raft relies on it.
func (m *Member) fail(format string, v ...any) {
	args := append([]any{m.cfg.Self, m.term, m.leading, m.log.last(), m.committed}, v...)
	m.node.Assert(false,
		"member %s, term %d, leading %t, applied %s, committed %s: "+format, args...)
	panic("a failed assertion returned")
}
