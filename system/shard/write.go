package shard

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/store"
)

// maxAdmissions is how often one statement may be let in and then find, at its commit, that things
// have changed.
const maxAdmissions = 3

// writeRequest is what all write commands have in common.
type writeRequest struct {
	ns      string
	session command.Session
	concern command.WriteConcern
	place   command.Placement
	// implicit: an unsharded collection that is missing is made for the first document.
	implicit bool
}

// writeCommand is one write command on its way: its statements are executed one after the other,
// each atomically.
type writeCommand struct {
	writeRequest
	server  *Server
	c       *Collection
	lead    replset.Lead
	session *Session
	reply   command.Written
	logged  bool // this attempt made an entry
}

// docChange is what one statement does, decided from the newest state at the moment of its commit.
type docChange struct {
	op      oplog.Op   // of Kind Noop when nothing is written
	room    []oplog.Op // what has to go for op, in the same entry before it
	pre     bson.Raw   // the document before it
	key     key.Key
	outcome command.Written
}

// decideFunc returns the change that statement i makes. It reads the newest state and must not
// wait.
type decideFunc func(w *writeCommand, i int) (docChange, error)

// execute runs a write command of n statements. The first failure ends it; what was done before
// stays, and a retry finds it on record. What the server keeps for itself no client writes.
func (s *Server) execute(
	t env.Task, r writeRequest, n int, do decideFunc,
) (*command.Written, error) {
	if catalog.IsInternal(r.ns) {
		return nil, errcode.New(errcode.BadValue, "%s is the server's own", r.ns)
	}
	lead, err := s.cfg.Member.Lead()
	if err != nil {
		return nil, err
	}
	w := &writeCommand{writeRequest: r, server: s, c: s.Collection(r.ns), lead: lead}
	for i := 0; i < n && err == nil; i++ {
		err = w.statement(t, i, do)
	}
	w.session.Release()
	if w.logged && w.session != nil {
		s.forgetSessions(t)
	}
	return w.finish(t, err)
}

// statement executes one statement, or finds that it was executed before. While it waits to be let
// in, it does not keep the session: a migration that holds the critical section may need it to hand
// over its history.
func (w *writeCommand) statement(t env.Task, i int, do decideFunc) (err error) {
	for range maxAdmissions {
		if err = w.checkout(t); err != nil {
			return err
		}
		if replayed, err := w.replay(t, i); replayed || err != nil {
			return err
		}
		if err = w.attempt(t, i, do); err == nil {
			return t.Point(failpoint.RequestCommit, w.note(i))
		}
		if !errcode.Is(err, errcode.StaleConfig, errcode.StaleDbVersion) {
			return err
		}
		w.session.Release()
		if err := w.c.admit(t, w.place, true); err != nil {
			return err
		}
	}
	return err
}

// checkout takes the session of a retryable write, unless the write has it.
func (w *writeCommand) checkout(t env.Task) error {
	if w.writeRequest.session.ID == "" || w.session.held() {
		return nil
	}
	session, err := w.server.Checkout(t, w.writeRequest.session.ID)
	if err != nil {
		return err
	}
	w.session = session
	return session.Begin(w.writeRequest.session.Txn)
}

// attempt goes from the version check to the commit. After an error nothing was written.
func (w *writeCommand) attempt(t env.Task, i int, do decideFunc) error {
	if err := w.c.Check(w.place, true); err != nil {
		return err
	}
	if err := w.descend(t, i); err != nil {
		return err
	}
	if err := w.recheck(); err != nil {
		return err
	}
	return w.commit(t, i, do)
}

// descend is the way from the version check to the commit, on which a real server can be
// descheduled.
func (w *writeCommand) descend(t env.Task, i int) error {
	if err := t.Point(failpoint.RequestVersionCheck, w.note(i)); err != nil {
		return err
	}
	if err := t.Point(failpoint.RequestAcquireSnapshot, w.note(i)); err != nil {
		return err
	}
	if err := t.Yield(failpoint.RequestYield); err != nil {
		return err
	}
	return t.Yield(failpoint.RequestPreCommit)
}

// recheck asks again, at the commit, what was asked at the beginning: a write that was let in
// before the critical section began, under another version or in another term must not be committed
// now (protocol 3.4 item 6).
func (w *writeCommand) recheck() error {
	if err := w.lead.Err(); err != nil {
		return err
	}
	return w.c.Check(w.place, true)
}

// commit decides, logs and applies one statement, and shows it to the donor, all without a wait.
func (w *writeCommand) commit(t env.Task, i int, do decideFunc) error {
	ch, err := do(w, i)
	if err != nil {
		return err
	}
	if ch.op.Kind != oplog.Noop {
		if err := w.log(t, i, &ch); err != nil {
			return err
		}
	}
	w.count(ch.outcome)
	return nil
}

func (w *writeCommand) log(t env.Task, i int, ch *docChange) error {
	if err := w.found(t); err != nil {
		return err
	}
	ch.op.NS, ch.op.Actor, ch.op.Tag = w.ns, uint8(trace.User), w.writeRequest.session.ID
	ch.op.FromMigrate = w.onOrphan(ch.key)
	ch.op.DocumentKey = w.documentKey(ch)
	ops := append(ch.room, ch.op)
	done := &ops[len(ch.room)]
	if w.session != nil {
		ops = append(ops, w.session.Stamp(done, oplog.Stmt{
			ID:     w.statementID(i),
			NS:     w.ns,
			Key:    string(ch.key),
			Result: encodeResult(ch.outcome),
			Image:  ch.outcome.Image,
		}))
	}
	m := w.server.cfg.Member
	due := m.Applied().Index + 1
	at, err := m.Write(t, ops...)
	if err != nil {
		return err
	}
	w.server.node.Assert(at.Index == due,
		"a write of %s expected at %d was logged at %s", w.ns, due, at)
	w.logged, w.reply.Time = true, m.AppliedTS()
	if w.c.donor != nil {
		w.c.donor.OnWrite(done, ch.pre, at)
	}
	return nil
}

// documentKey is what a change of a document is called by; nil when its _id alone is enough.
func (w *writeCommand) documentKey(ch *docChange) bson.Raw {
	p, _ := w.c.pattern()
	switch ch.op.Kind {
	case oplog.Insert, oplog.Update:
		return p.DocumentKey(ch.op.Doc)
	case oplog.Delete:
		return p.DocumentKey(ch.pre)
	}
	return nil
}

// found makes the collection that the write is to make, in an entry of its own: what fails after it
// leaves an empty collection.
func (w *writeCommand) found(t env.Task) error {
	if !w.mayFound() || w.server.uuid(w.ns) != "" {
		return nil
	}
	_, err := w.server.cfg.Member.Write(t, oplog.Op{
		Kind: oplog.Create, NS: w.ns, Doc: w.server.newUnsharded(w.ns, nil),
		Actor: uint8(trace.User), Tag: w.writeRequest.session.ID,
	})
	return err
}

// mayFound: only its database says where an unsharded collection is, so that no shard makes one for
// a request that takes it for sharded (SERVER-89971).
func (w *writeCommand) mayFound() bool { return w.implicit && w.place.Database }

// onOrphan reports whether the write is to a document that the shard does not own, which only an
// unversioned request can do: change streams must not see it (protocol 12).
func (w *writeCommand) onOrphan(k key.Key) bool { return w.c.known != nil && !w.c.known.Owns(k) }

func (w *writeCommand) count(one command.Written) {
	w.reply.N += one.N
	w.reply.Modified += one.Modified
	w.reply.Upserted = w.reply.Upserted || one.Upserted
	w.reply.Retried = w.reply.Retried || one.Retried
	if one.Image != nil {
		w.reply.Image = one.Image
	}
}

// refusals are errors that say what is there.
var refusals = []errcode.Code{
	errcode.BSONObjectTooLarge, errcode.BadValue, errcode.DuplicateKey, errcode.IllegalOperation,
	errcode.ImmutableField, errcode.IndexKeySpecsConflict, errcode.IndexNotFound,
	errcode.NamespaceExists, errcode.NamespaceNotFound, errcode.NotSingleValueField,
	errcode.OperationFailed, errcode.ShardKeyNotFound,
}

// finish waits for the write concern of everything the command has seen or done: also a retry, a
// write that found nothing to do and a refusal rest on what is applied, which might still be rolled
// back.
func (w *writeCommand) finish(t env.Task, failed error) (*command.Written, error) {
	if failed != nil && !errcode.Is(failed, refusals...) {
		return nil, failed
	}
	m := w.server.cfg.Member
	if !w.logged {
		w.reply.Time = m.AppliedTS()
	}
	err := w.await(t)
	if failed != nil {
		return nil, certain(failed, err)
	}
	if err != nil && !errcode.Is(err, errcode.WriteConcernFailed) {
		return nil, err
	}
	if err != nil {
		w.reply.ConcernError = err.Error()
	}
	if err := t.Point(failpoint.RequestReply, w.note(0)); err != nil {
		return nil, err
	}
	return &w.reply, nil
}

// certain is the refusal, unless what it rests on may not last. A write concern that is not
// satisfied in time is nothing that could be told beside it.
func certain(refusal, doubt error) error {
	switch {
	case errcode.Is(doubt, errcode.WriteConcernFailed):
		return errcode.New(errcode.ExceededTimeLimit, "%v: %v", refusal, doubt)
	case doubt != nil:
		return doubt
	}
	return refusal
}

// await also waits for proof of the leadership where nothing was written: a primary that was
// deposed and does not know it yet would answer by what was true before others changed it.
func (w *writeCommand) await(t env.Task) error {
	if w.concern.Majority && !w.logged {
		return w.lead.Prove(t, w.concern)
	}
	return w.lead.Await(t, w.concern)
}

func (w *writeCommand) statementID(i int) int32 { return w.writeRequest.session.Stmt + int32(i) }

func (w *writeCommand) note(i int) env.Note { return env.Note{ID: w.writeRequest.session.ID, N: i} }

// pattern is the collection's shard key. The shard must hold the collection, unless the write makes
// it.
func (w *writeCommand) pattern() (key.Pattern, error) {
	p, ok := w.c.pattern()
	switch {
	case ok:
		return p, nil
	case w.mayFound():
		return catalog.Unsharded, nil
	}
	return key.Pattern{}, errcode.New(errcode.NamespaceNotFound, "shard %s has no collection %s",
		w.server.name, w.ns)
}

func (w *writeCommand) get(id string) bson.Raw {
	return w.server.cfg.Member.Store().Get(w.ns, id, store.Latest)
}
