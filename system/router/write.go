package router

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/rpc"
)

// writeStatement is a write to one document, of any write command.
type writeStatement struct {
	ns      string
	session command.Session
	// wait is how long the shard is to wait for the write concern, if the client says so.
	wait time.Duration
	// implicit: the collection and its database are made for it.
	implicit bool
	// key is the shard key that the statement fixes.
	key func(key.Pattern) (key.Key, error)
	// at is the command with a version attached.
	at func(command.Placement) env.Message
}

func (r *Router) update(t env.Task, _ env.NodeID, req *command.Update) (*command.Written, error) {
	return r.write(t, writeStatement{
		req.NS, req.Session, req.Concern.Timeout, req.Implicit, fixedBy(req.Filter),
		func(p command.Placement) env.Message {
			placed := *req
			placed.Place = p
			return &placed
		}})
}

func (r *Router) remove(t env.Task, _ env.NodeID, req *command.Delete) (*command.Written, error) {
	return r.write(t, writeStatement{
		req.NS, req.Session, req.Concern.Timeout, false, fixedBy(req.Filter),
		func(p command.Placement) env.Message {
			placed := *req
			placed.Place = p
			return &placed
		}})
}

func (r *Router) findAndModify(
	t env.Task, _ env.NodeID, req *command.FindAndModify,
) (*command.Written, error) {
	return r.write(t, writeStatement{
		req.NS, req.Session, req.Concern.Timeout, req.Implicit, fixedBy(req.Filter),
		func(p command.Placement) env.Message {
			placed := *req
			placed.Place = p
			return &placed
		}})
}

// recall asks every owner, by the catalog as it is now, for the record of a statement, which moves
// with the range of its document. That one does not have all of the session's history only
// matters if no other has the record.
func (r *Router) recall(
	t env.Task, _ env.NodeID, req *command.RecallStatement,
) (*command.Written, error) {
	known := r.routesOf(req.NS)
	known.invalidate(known.table)
	table, err := known.get(t)
	if err != nil {
		return nil, err
	}
	var unsure error
	for _, name := range table.Shards() {
		set, err := r.shard(name)
		if err != nil {
			return nil, err
		}
		w, err := rpc.AskPrimary[command.Written](t, set, req, r.settings.ShardTimeout)
		switch {
		case errcode.Is(err, errcode.IncompleteTransactionHistory):
			unsure = err
		case err != nil || w.Retried:
			return w, err
		}
	}
	return &command.Written{}, unsure
}

// insert sends the documents one by one, each as its own statement: when a failure comes between
// two of them, it is exact which were executed. The first that is refused ends it. After any other
// failure it is sent again as a whole: what was inserted is on record.
func (r *Router) insert(t env.Task, _ env.NodeID, req *command.Insert) (*command.Written, error) {
	sum := &command.Written{}
	for i, doc := range req.Docs {
		if i > 0 {
			err := t.Point(failpoint.RouterPartialBatch, env.Note{ID: req.Session.ID, N: i})
			if err != nil {
				return nil, err
			}
		}
		one, err := r.write(t, insertStatement(req, i, doc))
		if len(req.Docs) > 1 && refusesDocument(err) {
			sum.Refused, sum.Why = errcode.Of(err), errcode.Reason(err)
			return sum, nil
		}
		if err != nil {
			return nil, err
		}
		sum.N += one.N
		sum.Retried = one.Retried && (i == 0 || sum.Retried)
		sum.Time = max(sum.Time, one.Time)
		if one.ConcernError != "" {
			sum.ConcernError = one.ConcernError
		}
	}
	return sum, nil
}

// refusesDocument says whether a failure is about the document that was to be inserted, and is no
// other if it is sent again.
func refusesDocument(err error) bool {
	return errcode.Is(err, errcode.DuplicateKey, errcode.BadValue, errcode.ShardKeyNotFound)
}

func insertStatement(req *command.Insert, i int, doc bson.Raw) writeStatement {
	one := *req
	one.Docs = []bson.Raw{doc}
	one.Session.Stmt += int32(i)
	of := func(p key.Pattern) (key.Key, error) { return p.Of(doc) }
	at := func(p command.Placement) env.Message {
		placed := one
		placed.Place = p
		return &placed
	}
	return writeStatement{req.NS, one.Session, req.Concern.Timeout, req.Implicit, of, at}
}

// fixedBy returns the shard key that a filter fixes by equality.
func fixedBy(filter bson.Raw) func(key.Pattern) (key.Key, error) {
	return func(p key.Pattern) (key.Key, error) {
		v, fixed := query.Equality(filter, p.Field)
		if !fixed {
			return "", errcode.New(errcode.ShardKeyNotFound,
				"the filter %v does not fix the shard key %s", filter, p.Field)
		}
		return p.OfValue(v)
	}
}

// write sends a statement to the owner of its key until it is executed or refused. When an earlier
// attempt may have executed, its error is returned rather than a later refusal, which might come
// from a member that has not learned of it.
func (r *Router) write(t env.Task, st writeStatement) (*command.Written, error) {
	var unsure error
	for e := r.newRetryBudget(st.ns); ; {
		table, written, err := r.attempt(t, e, st)
		if err == nil {
			return written, nil
		}
		again := isStale(err) || errcode.Is(err, errcode.NotWritablePrimary) ||
			isMemberFailure(err) && st.session.ID != ""
		if isMemberFailure(err) && unsure == nil {
			unsure = err
		}
		if again && e.again(t, table, err) {
			continue
		}
		if unsure != nil && !errcode.Is(err, errcode.NetworkTimeout, errcode.HostUnreachable) {
			err = unsure
		}
		return nil, err
	}
}

// attempt targets the statement and sends it once.
func (r *Router) attempt(
	t env.Task, e *retryBudget, st writeStatement,
) (*Table, *command.Written, error) {
	if err := t.Point(failpoint.RouterTarget, env.Note{ID: st.session.ID, N: e.done}); err != nil {
		return nil, nil, err
	}
	table, owner, err := r.route(t, e, &st)
	if err != nil {
		return table, nil, err
	}
	set, err := r.shard(owner)
	if err != nil {
		return table, nil, err
	}
	req := st.at(command.PlacementBy(table, owner))
	if err := t.Point(
		failpoint.RouterAttachVersion, env.Note{Peer: owner, ID: st.session.ID},
	); err != nil {
		return table, nil, err
	}
	if err := t.Yield(failpoint.RouterSend); err != nil {
		return table, nil, err
	}
	written, err := rpc.CallPrimary[command.Written](t, set, req,
		r.settings.ShardTimeout+max(0, st.wait))
	return table, written, err
}

// route finds the shard that has the statement's document.
func (r *Router) route(
	t env.Task, e *retryBudget, st *writeStatement,
) (table *Table, owner string, err error) {
	read := func() (*Table, error) {
		table, err := r.tableFor(t, e, st)
		if err != nil {
			return nil, notSentError(err)
		}
		return table, nil
	}
	table, err = e.judged(read, func(table *Table) (err error) {
		owner, err = st.owner(table)
		return err
	})
	return table, owner, err
}

// judged reads the table by which a request is carried out, or refused here. A refusal rests on a
// table that was read for the request: no shard is asked that would find an old one out of date.
func (e *retryBudget) judged(
	read func() (*Table, error), judge func(*Table) error,
) (table *Table, err error) {
	for attempt := 0; ; attempt++ {
		if table, err = read(); err != nil {
			return nil, err
		}
		if err = judge(table); err == nil || attempt > 0 {
			return table, err
		}
		e.known.invalidate(table)
	}
}

// tableFor is the routing table by which a statement is targeted. It makes a database that there is
// not yet for a statement that asks for its collection.
func (r *Router) tableFor(t env.Task, e *retryBudget, st *writeStatement) (*Table, error) {
	table, err := e.known.get(t)
	if !st.implicit || !errcode.Is(err, errcode.NamespaceNotFound) {
		return table, err
	}
	req := &command.CreateDatabase{Name: catalog.DatabaseOf(st.ns)}
	if _, err := rpc.CallPrimary[command.DatabaseReply](
		t, r.config, req, r.settings.CommandTimeout,
	); err != nil {
		return nil, err
	}
	return e.known.get(t)
}

// owner is the shard that has the statement's document. All of an unsharded collection is on one,
// whatever the statement fixes: if the name has come to mean a sharded collection, that shard
// refuses the version, and the key is asked for when the table is newer (protocol 3.4).
func (st *writeStatement) owner(table *Table) (string, error) {
	if table.Collection().Unsharded {
		return table.Owner(key.Min).Shard, nil
	}
	k, err := st.key(table.Collection().Key)
	if err != nil {
		return "", err
	}
	return table.Owner(k).Shard, nil
}

// notSentError marks a failure to read the catalog: after any such failure the statement has not
// been sent.
func notSentError(err error) error {
	if rpc.Gone(
		err,
	) || errcode.Is(err, errcode.ExceededTimeLimit, errcode.Interrupted,
		errcode.ReadConcernMajorityNotAvailableYet) {
		return errcode.New(errcode.NotWritablePrimary, "the routing table cannot be read: %v", err)
	}
	return err
}
