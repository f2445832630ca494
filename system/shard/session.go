package shard

import (
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// SessionsNS holds one document {_id: session, txn, lastOp: {t, i}} for each session that has
// written here: its newest txnNumber and the place of its last statement, from which a chain of
// places leads to the statements before.
const SessionsNS = "config.transactions"

// SessionRecord is a session's row. A zero Last means that the txnNumber was used here without a
// statement on record.
type SessionRecord struct {
	ID   string
	Txn  int64
	Last oplog.Time
}

// sessionCheckout is a session in use; waiting counts the tasks that want it next.
type sessionCheckout struct {
	held    bool
	free    env.Cond
	waiting int
}

// Session is a checked-out session: until Release nobody else on this node reads or writes its
// history. All methods may be called on nil, which stands for a write without a session.
type Session struct {
	server *Server
	id     string
	out    *sessionCheckout
	// txn is set by Begin: the transaction number of the statements to come.
	txn int64
}

// Checkout takes the session, after the task that has it now.
func (s *Server) Checkout(t env.Task, id string) (*Session, error) {
	out := s.checkouts[id]
	if out == nil {
		out = &sessionCheckout{}
		s.checkouts[id] = out
	}
	out.waiting++
	err := out.free.WaitFor(t, 0, func() bool { return !out.held })
	out.waiting--
	if err != nil {
		s.handOn(id, out)
		return nil, err
	}
	out.held = true
	s.drivers.asked(id, s.node.Mono())
	return &Session{server: s, id: id, out: out}, nil
}

// Release gives the session to the task that has waited longest. A second call does nothing.
func (x *Session) Release() {
	if x == nil || x.out == nil {
		return
	}
	x.out.held = false
	x.server.handOn(x.id, x.out)
	x.out = nil
}

func (x *Session) held() bool { return x != nil && x.out != nil }

func (s *Server) handOn(id string, out *sessionCheckout) {
	switch {
	case out.held:
	case out.waiting > 0:
		out.free.Signal()
	default:
		delete(s.checkouts, id)
	}
}

// Record is the session's row; the zero row but for the ID when it has never written here.
func (x *Session) Record() SessionRecord {
	raw := x.server.cfg.Member.Store().Get(SessionsNS, string(key.String(x.id)), store.Latest)
	if raw == nil {
		return SessionRecord{ID: x.id}
	}
	return x.server.sessionRecord(raw)
}

func (s *Server) sessionRecord(raw bson.Raw) SessionRecord {
	rec, err := s.sessionRecords.Read(raw, readSessionRecord)
	if err != nil {
		s.node.Assert(false, "%s holds a session that is none: %v", s.node.ID(), raw)
	}
	return rec
}

func readSessionRecord(raw bson.Raw) (rec SessionRecord, err error) {
	var named, numbered, placed bool
	_, err = document.Fields(raw, func(name []byte, v bson.RawValue) bool {
		switch string(name) {
		case "_id":
			rec.ID, named = v.StringValueOK()
		case "txn":
			rec.Txn, numbered = v.Int64OK()
		case "lastOp":
			rec.Last, placed = lastOf(v)
		}
		return true
	})
	if err == nil && !(named && numbered && placed) {
		err = errcode.New(errcode.BadValue, "a session lacks _id, txn or lastOp")
	}
	return rec, err
}

// lastOf reads {t, i}; false without an index.
func lastOf(v bson.RawValue) (at oplog.Time, placed bool) {
	doc, _ := v.DocumentOK()
	_, err := document.Fields(doc, func(name []byte, v bson.RawValue) bool {
		n, ok := v.Int64OK()
		switch string(name) {
		case "t":
			at.Term = uint64(n)
		case "i":
			at.Index, placed = uint64(n), ok
		}
		return true
	})
	return at, placed && err == nil
}

// Begin goes on with the transaction number, or to it from an older one; errcode.TransactionTooOld
// when the session has already gone on to a newer one.
func (x *Session) Begin(txn int64) error {
	if x == nil {
		return nil
	}
	if now := x.Record().Txn; txn < now {
		return errcode.New(errcode.TransactionTooOld, "session %s is at transaction %d, not %d",
			x.id, now, txn)
	}
	x.txn = txn
	return nil
}

// Find looks for a statement of the transaction begun: its record and place, or nil when it was not
// executed. Status.IncompleteTransactionHistory means that this is not known any more.
func (x *Session) Find(id int32) (*oplog.Stmt, oplog.Time, error) {
	if x == nil {
		return nil, oplog.Time{}, nil
	}
	rec := x.Record()
	if rec.Txn != x.txn || !x.server.executed(rec).mayHave(id) {
		return nil, oplog.Time{}, nil
	}
	var found *oplog.Stmt
	var at oplog.Time
	complete := x.server.History(rec, func(st *oplog.Stmt, place oplog.Time) bool {
		if st.ID == id && !st.DeadEnd {
			found, at = st, place
		}
		return found == nil
	})
	if found == nil && !complete {
		return nil, at, errcode.New(errcode.IncompleteTransactionHistory,
			"session %s, transaction %d: whether statement %d was executed is not on record any "+
				"more", x.id, x.txn, id)
	}
	return found, at, nil
}

// executedStatements says which statements of a session's transaction are on record. A command of
// many statements would otherwise go through the whole chain for each, and fail for good when the
// log does not reach back to the first any more.
type executedStatements struct {
	last     oplog.Time // the place of the newest
	complete bool       // no others were executed up to there
	ids      big.Int    // a bit for each statement
}

// mayHave is false for a statement that was not executed.
func (e *executedStatements) mayHave(id int32) bool {
	return !e.complete || e.ids.Bit(int(id)) == 1
}

// executed follows the chain of a row back to what is known of it from before. A rollback may have
// taken that back: then no chain leads there.
func (s *Server) executed(r SessionRecord) *executedStatements {
	known := s.statements[r.ID]
	if known != nil && known.last == r.Last {
		return known
	}
	now, joins := &executedStatements{last: r.Last}, false
	now.complete = s.History(r, func(st *oplog.Stmt, _ oplog.Time) bool {
		if !st.DeadEnd {
			now.ids.SetBit(&now.ids, int(st.ID), 1)
		}
		joins = known != nil && st.Prev == known.last
		return !joins
	})
	if joins {
		known.last, known.complete = now.last, known.complete && now.complete
		known.ids.Or(&known.ids, &now.ids)
		return known
	}
	s.statements[r.ID] = now
	return now
}

// Stamp marks op as the execution of the statement and returns the operation that keeps the
// session's row, for the same entry. Nothing may be written between Stamp and that entry.
func (x *Session) Stamp(op *oplog.Op, st oplog.Stmt) oplog.Op {
	rec, m := x.Record(), x.server.cfg.Member
	st.Session, st.Txn, st.Prev = x.id, x.txn, oplog.Time{}
	if rec.Txn == x.txn {
		st.Prev = rec.Last
	}
	op.Stmt = &st
	return sessionOpOf(SessionRecord{
		x.id, x.txn, oplog.Time{Term: m.Term(), Index: m.Applied().Index + 1},
	})
}

func sessionOpOf(r SessionRecord) oplog.Op {
	last := bsoncore.NewDocumentBuilder().AppendInt64("t", int64(r.Last.Term)).AppendInt64("i",
		int64(r.Last.Index)).Build()
	doc := bsoncore.NewDocumentBuilder().AppendString("_id", r.ID).AppendInt64("txn",
		r.Txn).AppendDocument("lastOp", last).Build()
	return oplog.Op{
		Kind:  oplog.Update,
		NS:    SessionsNS,
		ID:    string(key.String(r.ID)),
		Doc:   bson.Raw(doc),
		Actor: uint8(trace.System),
	}
}

// Sessions lists the rows of all sessions, in order of their IDs.
func (s *Server) Sessions() []SessionRecord {
	var all []SessionRecord
	s.cfg.Member.Store().Scan(SessionsNS, store.Latest, func(_ string, raw bson.Raw) bool {
		all = append(all, s.sessionRecord(raw))
		return true
	})
	return all
}

// History calls fn for the statements of the row's transaction, newest first, until fn returns
// false. It reports whether what fn has not seen is nothing: false when the log does not reach back
// far enough, or when a dead end was met (which fn is shown).
func (s *Server) History(
	r SessionRecord, fn func(st *oplog.Stmt, at oplog.Time) bool,
) (complete bool) {
	complete = true
	for at := r.Last; at.Index != 0; {
		st := s.statementAt(r.ID, at)
		if st == nil {
			return false
		}
		if st.Prev.Index >= at.Index {
			s.node.Assert(false, "session %s: the statement at %s follows one at %s",
				r.ID, at, st.Prev)
		}
		complete = complete && !st.DeadEnd
		if !fn(st, at) {
			break
		}
		at = st.Prev
	}
	return complete
}

// statementAt is nil when the log does not hold the entry any more.
func (s *Server) statementAt(session string, at oplog.Time) *oplog.Stmt {
	e, term, ok := s.cfg.Member.Entry(at.Index)
	if !ok || term != at.Term {
		return nil
	}
	for i := range e.Ops {
		if st := e.Ops[i].Stmt; st != nil && st.Session == session {
			return st
		}
	}
	s.node.Assert(false, "session %s: the entry at %s has no statement of it", session, at)
	return nil
}
