package shard

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/oplog"
)

// Import records a statement that another shard has executed, as an entry without effect, so that a
// retry here returns its result (protocol 7). Statements of one session must come in the order of
// their execution. It reports whether anything was written: a statement already known is not, nor
// one of a session that has gone on to a newer transaction.
//
// Live is asked without a wait before the write: its error says that the migration is over here, or
// was fenced, or that the term is over in which it was asked for, and that nothing of it may be
// written any more.
func (s *Server) Import(
	t env.Task, st oplog.Stmt, migration string, live func() error,
) (written bool, err error) {
	x, err := s.Checkout(t, st.Session)
	if err != nil {
		return false, err
	}
	defer x.Release()
	if err := t.Point(
		failpoint.SessionDestApply, env.Note{ID: st.Session, N: int(st.ID)},
	); err != nil {
		return false, err
	}
	if x.Begin(st.Txn) != nil {
		return false, t.Point(failpoint.SessionDestConflict, env.Note{ID: st.Session})
	}
	if x.knows(st) {
		return false, nil
	}
	if st.DeadEnd {
		if err := t.Point(failpoint.SessionDestSentinel, env.Note{ID: st.Session}); err != nil {
			return false, err
		}
	}
	if err := live(); err != nil {
		return false, err
	}
	op := oplog.Op{
		Kind:        oplog.Noop,
		NS:          st.NS,
		Actor:       uint8(trace.Session),
		Tag:         migration,
		FromMigrate: true,
	}
	row := x.Stamp(&op, st)
	_, err = s.cfg.Member.Write(t, op, row)
	return err == nil, err
}

// knows reports whether the statement, or the dead end, is on record here. That the log does not
// reach back far enough is no dead end: that of another member may, and it would take what it finds
// there for everything (H-63b).
func (x *Session) knows(st oplog.Stmt) bool {
	rec := x.Record()
	if rec.Txn != st.Txn {
		return false
	}
	found := false
	x.server.History(rec, func(known *oplog.Stmt, _ oplog.Time) bool {
		found = known.DeadEnd == st.DeadEnd && (st.DeadEnd || known.ID == st.ID)
		return !found
	})
	return found
}
