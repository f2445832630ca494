package configsvr

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/statedoc"
)

// Operations holds one record for each operation on a whole collection that is in progress.
const Operations = "config.system.sharding_ddl_coordinators"

// RequestsNS holds, for each session, the number of the newest operation that it asked for and
// that was carried out.
const RequestsNS = "config.ddlRequests"

// ddlKind is what an operation does.
type ddlKind string

const (
	createCollection ddlKind = "create"
	dropCollection   ddlKind = "drop"
	createIndex      ddlKind = "createIndexes"
	dropIndex        ddlKind = "dropIndexes"
	renameCollection ddlKind = "renameCollection"
)

// ddlOperation is an operation on a whole collection: what a new primary goes on from. There is at
// most one for a namespace.
type ddlOperation struct {
	NS   string  `bson:"_id"`
	Kind ddlKind `bson:"kind"`
	// MustExist says of a drop that there has to be something to drop.
	MustExist bool `bson:"mustExist,omitempty"`
	// Number orders the operations on a namespace; participants compare it.
	Number int64 `bson:"number"`
	// Session and Txn name the request; an empty Session is a request that may be executed again.
	Session string `bson:"session"`
	Txn     int64  `bson:"txn"`
	// Coll is the incarnation that the operation is about: the one to be made, or the one that was
	// there at its start.
	Coll   collRecord `bson:"collection"`
	Bounds [][]byte   `bson:"bounds,omitempty"`
	Shards []string   `bson:"shards,omitempty"`
	// Initial is how many chunks with a hashed key were asked for.
	Initial int    `bson:"numInitialChunks,omitempty"`
	Field   string `bson:"field,omitempty"`
	// Index and Spec are the name and the specification of the index, of one that is dropped the name
	// alone, if it is not the one on Field.
	Index string   `bson:"index,omitempty"`
	Spec  bson.Raw `bson:"spec,omitempty"`
	// To is the new name of a collection that is renamed; Target is the one that is dropped for it,
	// if its UUID is set.
	To         string     `bson:"to,omitempty"`
	DropTarget bool       `bson:"dropTarget,omitempty"`
	Target     collRecord `bson:"target"`
	// Home is the shard with the unsharded collection that becomes this one, Alone says that there is
	// none; Founded is in the first case the UUID that this one was to have.
	Home    string `bson:"home,omitempty"`
	Alone   bool   `bson:"alone,omitempty"`
	Founded string `bson:"founded,omitempty"`
	// Options and Indexes are what that collection has, for the other shards that get chunks, and
	// Formerly how it was called.
	Options  bson.Raw            `bson:"options,omitempty"`
	Indexes  []command.IndexSpec `bson:"indexes,omitempty"`
	Formerly []string            `bson:"formerly,omitempty"`
	// Code says that the operation was refused, and Why, after it had begun.
	Code errcode.Code `bson:"code,omitempty"`
	Why  string       `bson:"why,omitempty"`
}

// executedRequest is what is remembered of a session; of a request that was refused, with what.
type executedRequest struct {
	Session string       `bson:"_id"`
	Txn     int64        `bson:"txn"`
	Code    errcode.Code `bson:"code,omitempty"`
	Why     string       `bson:"why,omitempty"`
}

// ddlCoordinator is the part of the config server that changes whole collections.
type ddlCoordinator struct {
	records  *statedoc.Journal[ddlOperation]
	requests *statedoc.Journal[executedRequest]
	ended    env.Cond // an operation is over
	// refused are the operations of this term that were refused after they had begun, by number.
	refused map[int64]error
}

func newDDL(m *replset.Member) ddlCoordinator {
	return ddlCoordinator{
		records:  statedoc.New[ddlOperation](m, Operations, trace.System),
		requests: statedoc.New[executedRequest](m, RequestsNS, trace.System),
		refused:  make(map[int64]error),
	}
}

func (s *Server) drop(
	t env.Task, _ env.NodeID, req *command.DropCollection,
) (*command.Done, error) {
	return s.change(t, ddlOperation{
		NS: req.NS, Kind: dropCollection, MustExist: req.Sharded,
	}, req.Session)
}

func (s *Server) rename(
	t env.Task, _ env.NodeID, req *command.RenameCollection,
) (*command.Done, error) {
	return s.change(t, ddlOperation{
		NS:         req.NS,
		Kind:       renameCollection,
		To:         req.To,
		DropTarget: req.DropTarget,
	}, req.Session)
}

func (s *Server) createIndex(
	t env.Task, _ env.NodeID, req *command.CreateIndex,
) (*command.Done, error) {
	return s.change(t, ddlOperation{
		NS: req.NS, Kind: createIndex, Field: req.Field, Index: req.Name, Spec: req.Spec,
	}, req.Session)
}

func (s *Server) dropIndex(
	t env.Task, _ env.NodeID, req *command.DropIndex,
) (*command.Done, error) {
	return s.change(t, ddlOperation{
		NS: req.NS, Kind: dropIndex, Field: req.Field, Index: req.Name,
	}, req.Session)
}

// shardCollection makes the collection on its shards first and in the catalog last: a shard that
// receives a versioned request has the collection. It succeeds when the collection exists with the
// same shard key.
func (s *Server) shardCollection(
	t env.Task, _ env.NodeID, req *command.ShardCollection,
) (*command.Done, error) {
	op := ddlOperation{
		NS:      req.NS,
		Kind:    createCollection,
		Shards:  req.Shards,
		Initial: req.InitialChunks,
		Coll:    collRecord{Field: req.Key.Field, Hashed: req.Key.Hashed},
	}
	for _, b := range req.Bounds {
		op.Bounds = append(op.Bounds, []byte(b))
	}
	return s.change(t, op, req.Session)
}

// change has an operation carried out, once for each request however often that arrives, and waits
// for its end.
func (s *Server) change(
	t env.Task, op ddlOperation, session command.Session,
) (*command.Done, error) {
	op.Session, op.Txn = session.ID, session.Txn
	var begun int64 // the number of the operation that the request has begun
	err := s.InTerm(t, string(op.Kind)+" "+op.NS, func(own env.Task) error {
		for attempt := op; ; attempt = op {
			if err := s.ddl.ended.WaitFor(
				own, 0, func() bool { return !s.changing(&op) },
			); err != nil {
				return err
			}
			if refused := s.ddl.refused[begun]; refused != nil {
				delete(s.ddl.refused, begun)
				return s.Settled(own, refused)
			}
			if begun != 0 { // and carried out: a request without a session begins nothing else
				return s.Settled(own, nil)
			}
			if over, err := s.begin(own, &attempt); over || err != nil {
				return s.Settled(own, err)
			}
			begun = attempt.Number
		}
	})
	return &command.Done{}, err
}

// changing reports whether an operation on one of the namespaces is in progress.
func (s *Server) changing(op *ddlOperation) bool {
	return slices.ContainsFunc(s.ddl.records.All(), func(other ddlOperation) bool {
		return other.concerns(op.NS) || op.To != "" && other.concerns(op.To)
	})
}

func (op *ddlOperation) concerns(ns string) bool { return op.NS == ns || op.To == ns }

// names are the namespaces that the operation is about, in order.
func (op *ddlOperation) names() []string {
	if op.To == "" {
		return []string{op.NS}
	}
	return []string{min(op.NS, op.To), max(op.NS, op.To)}
}

// begin starts the operation, unless it is over: carried out before, or without anything to do.
// Nothing happens between its checks and its write.
func (s *Server) begin(t env.Task, op *ddlOperation) (over bool, err error) {
	if done, ok := s.ddl.requests.Get(op.Session); ok && done.Txn >= op.Txn {
		return true, done.refusal(op)
	}
	needed, err := s.prepare(op)
	if err != nil {
		return true, cmp.Or(s.note(t, *op, err), err)
	}
	if !needed {
		return true, s.note(t, *op, nil)
	}
	if _, err := s.member.Write(t, s.ddl.records.Put(op.NS, *op)); err != nil {
		return true, err
	}
	s.coordinate(s.member.TermScope(), *op)
	return false, nil
}

// note remembers that a request needs nothing done, now or later: a copy of one that was refused
// may come when it could be carried out, and nobody waits for that.
func (s *Server) note(t env.Task, op ddlOperation, refused error) error {
	done := executedRequest{Session: op.Session, Txn: op.Txn}
	if refused != nil {
		done.Code, done.Why = errcode.Of(refused), errcode.Reason(refused)
	}
	if !s.ddl.isNewest(done) {
		return nil
	}
	_, err := s.member.Write(t, s.ddl.requests.Put(op.Session, done))
	return err
}

// isNewest reports whether nothing newer is remembered of the request's session. A client that has
// given an operation up, which goes on all the same, may be done with the next before that is over:
// repeats of the next must not be taken for new ones.
func (d *ddlCoordinator) isNewest(r executedRequest) bool {
	known, ok := d.requests.Get(r.Session)
	return r.Session != "" && (!ok || known.Txn <= r.Txn)
}

// refusal is how the request was answered that is remembered, if it is this one and was refused.
func (r *executedRequest) refusal(op *ddlOperation) error {
	if r.Code == "" || r.Txn != op.Txn {
		return nil
	}
	return errcode.New(r.Code, "%s", r.Why)
}

// prepare completes the operation from the catalog as it is; false means that there is nothing to
// do.
func (s *Server) prepare(op *ddlOperation) (needed bool, err error) {
	table, err := s.sharded(op.NS)
	missing := errcode.Is(err, errcode.NamespaceNotFound)
	if err != nil && !missing {
		return false, err
	}
	op.Number = int64(s.ep.Clock().Tick())
	switch {
	case op.Kind == createCollection:
		return s.prepareCreation(op, table)
	case missing && op.Kind == dropCollection && !op.MustExist:
		return false, nil
	case missing:
		return false, err
	}
	op.Coll = toCollRecord(table.Collection())
	if op.Kind == renameCollection {
		return true, s.prepareRename(op)
	}
	return true, nil
}

func (s *Server) prepareRename(op *ddlOperation) error {
	if op.To == "" || op.To == op.NS || catalog.DatabaseOf(op.To) != catalog.DatabaseOf(op.NS) {
		return errcode.New(errcode.BadValue, "collection %s cannot be renamed to %q", op.NS, op.To)
	}
	if err := reserved(op.To); err != nil {
		return err
	}
	target, err := s.sharded(op.To)
	switch {
	case errcode.Is(err, errcode.NamespaceNotFound):
		return nil
	case err == nil && !op.DropTarget:
		return errcode.New(errcode.NamespaceExists,
			"collection %s cannot be renamed: there is a collection %s", op.NS, op.To)
	case err == nil:
		op.Target = toCollRecord(target.Collection())
	}
	return err
}

// sharded is the table of a sharded collection as the primary has it now; a namespace that the
// catalog does not list is that of an unsharded collection, or of none, and an
// errcode.NamespaceNotFound.
func (s *Server) sharded(ns string) (*catalog.Table, error) {
	table, err := s.catalog.latest(ns)
	if err == nil && table.Collection().Unsharded {
		return nil, errcode.New(errcode.NamespaceNotFound, "collection %s is not sharded", ns)
	}
	return table, err
}

func (s *Server) prepareCreation(op *ddlOperation, exists *catalog.Table) (needed bool, err error) {
	pattern := key.Pattern{Field: op.Coll.Field, Hashed: op.Coll.Hashed}
	if exists != nil && exists.Collection().Key != pattern {
		return false, errcode.New(errcode.BadValue, "collection %s is sharded by %v already",
			op.NS, exists.Collection().Key)
	}
	if exists != nil {
		return false, nil
	}
	if err := reserved(op.NS); err != nil {
		return false, err
	}
	coll := NewCollection(op.NS, pattern, op.number())
	op.Coll = toCollRecord(coll)
	if err := s.placeFirst(op, coll); err != nil {
		return false, err
	}
	_, err = Founding(coll, op.bounds(), op.Shards)
	return true, err
}
