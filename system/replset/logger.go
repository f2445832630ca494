package replset

// logger keeps raft silent and turns its panics, which are broken invariants, into failed assertions.
type logger struct{ m *Member }

func (logger) Debug(...any)            {}
func (logger) Debugf(string, ...any)   {}
func (logger) Info(...any)             {}
func (logger) Infof(string, ...any)    {}
func (logger) Warning(...any)          {}
func (logger) Warningf(string, ...any) {}
func (logger) Error(...any)            {}
func (logger) Errorf(string, ...any)   {}

func (l logger) Fatal(v ...any)                 { l.fail("%v", v) }
func (l logger) Fatalf(format string, v ...any) { l.fail(format, v...) }
func (l logger) Panic(v ...any)                 { l.fail("%v", v) }
func (l logger) Panicf(format string, v ...any) { l.fail(format, v...) }

// fail never returns: raft relies on it.
func (l logger) fail(format string, v ...any) {
	m := l.m
	args := append([]any{m.cfg.Name, m.term, m.leading, m.log.last(), m.committed}, v...)
	m.node.Assert(false, "replica set %s, term %d, leading %t, applied %s, committed %s: raft: "+format, args...)
	panic("a failed assertion of raft returned")
}
