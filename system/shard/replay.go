package shard

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/oplog"
)

// encodeResult is what a statement's record keeps of its outcome, besides the image.
func encodeResult(w command.Written) bson.Raw {
	return bson.Raw(bsoncore.NewDocumentBuilder().
		AppendInt64("n", int64(w.N)).AppendInt64("nModified",
		int64(w.Modified)).AppendBoolean("upserted", w.Upserted).Build())
}

func decodeResult(st *oplog.Stmt) command.Written {
	doc := bsoncore.Document(st.Result)
	n, _ := doc.Lookup("n").Int64OK()
	modified, _ := doc.Lookup("nModified").Int64OK()
	upserted, _ := doc.Lookup("upserted").BooleanOK()
	return command.Written{
		N:        int(n),
		Modified: int(modified),
		Upserted: upserted,
		Image:    st.Image,
		Retried:  true,
	}
}

// replay answers statement i from the record when it was executed before (protocol 7). That comes
// before the version check: what was done here is known here, wherever the document has gone since.
// A statement that changed nothing is not on record; it is executed again.
func (w *writeCommand) replay(t env.Task, i int) (bool, error) {
	if w.session == nil {
		return false, nil
	}
	if err := t.Point(failpoint.RequestRetryLookup, w.note(i)); err != nil {
		return false, err
	}
	st, at, err := w.session.Find(w.statementID(i))
	if st == nil || err != nil {
		return false, err
	}
	if err := w.announceRetry(t, at); err != nil {
		return false, err
	}
	w.count(decodeResult(st))
	return true, nil
}

// recall answers as a statement would that was executed before, and changes nothing if it was not.
func (s *Server) recall(
	t env.Task, _ env.NodeID, req *command.RecallStatement,
) (*command.Written, error) {
	lead, err := s.cfg.Member.Lead()
	if err != nil {
		return nil, err
	}
	r := writeRequest{ns: req.NS, session: req.Statement, concern: req.Concern}
	w := &writeCommand{writeRequest: r, server: s, c: s.Collection(req.NS), lead: lead}
	if err = w.checkout(t); err == nil {
		_, err = w.replay(t, 0)
	}
	w.session.Release()
	return w.finish(t, err)
}

// announceRetry reports retries that meet a migration.
func (w *writeCommand) announceRetry(t env.Task, at oplog.Time) error {
	e, _, _ := w.server.cfg.Member.Entry(at.Index)
	if e.Ops[0].Kind == oplog.Noop {
		return t.Point(failpoint.SessionRetryAfter, w.note(0))
	}
	if w.c.donor != nil || len(w.c.receiving) > 0 {
		return t.Point(failpoint.SessionRetryDuring, w.note(0))
	}
	return nil
}
