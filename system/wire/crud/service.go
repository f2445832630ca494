// Package crud answers the commands by which clients read and write documents.
//
// Promise: what a shard can decide alone is decided there, atomically and, for a numbered
// statement, at most once. A statement that fixes no shard key of a sharded collection, and one
// that changes many documents, is carried out in two steps: the documents are found, and each is
// changed if it still matches.
//
// Refusal: no multi-statement transactions.
package crud

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/wire/cursor"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// Service answers the commands of one router's clients.
type Service struct {
	d       *deployment.Deployment
	cursors *cursor.Registry
	made    uint64 // _ids
}

// New is the service over a deployment; its cursors are those of the registry.
func New(d *deployment.Deployment, cursors *cursor.Registry) *Service {
	return &Service{d: d, cursors: cursors}
}

// Commands are the commands that the service answers, by name.
func (s *Service) Commands() map[string]request.Handler {
	return map[string]request.Handler{
		"insert":        s.insert,
		"update":        s.update,
		"delete":        s.remove,
		"findAndModify": s.findAndModify,
		"findandmodify": s.findAndModify,
		"find":          s.find,
		"getMore":       s.getMore,
		"killCursors":   s.killCursors,
		"count":         s.count,
		"distinct":      s.distinct,
		"aggregate":     s.aggregate,
	}
}

// statement names the i-th statement of a request to the shards.
func statement(r *request.Request, i int) command.Session {
	if !r.Session.Numbered || r.Session.ID == "" {
		return command.Session{}
	}
	return command.Session{ID: r.Session.ID, Txn: r.Session.Txn, Stmt: int32(i)}
}

// writeConcern reads the argument of that name; without one a write counts when a majority has it.
func writeConcern(r *request.Request) (command.WriteConcern, error) {
	doc, err := r.Document("writeConcern")
	if err != nil {
		return command.WriteConcern{}, err
	}
	return request.WriteConcern(doc)
}

// variables are the constants of the argument let.
func variables(r *request.Request) (query.Variables, error) {
	let, err := r.Document("let")
	if err != nil {
		return nil, err
	}
	return query.ParseVariables(let)
}

// filterOf is a field of a document, or of a command, that is a filter.
func filterOf(doc bson.Raw, name string, vars query.Variables) (bson.Raw, error) {
	filter, err := request.Document(doc, name)
	return vars.Filter(filter), err
}

// readOptions are the read concern, the read preference and the like of a request. A snapshot read
// that names no time gets the newest that the router, or the client that names it, has seen.
func (s *Service) readOptions(r *request.Request, ns string) (*command.Find, error) {
	find := &command.Find{NS: ns, Concern: command.Local}
	doc, err := r.Document("readConcern")
	if err != nil {
		return nil, err
	}
	level, err := request.Text(doc, "level", string(command.Local))
	if err != nil {
		return nil, err
	}
	switch find.Concern = command.ReadConcern(level); find.Concern {
	case command.Local, command.MajorityRead, command.Linearizable, command.Available,
		command.Snapshot:
	default:
		return nil, errcode.New(reply.FailedToParse, "there is no read concern %q", level)
	}
	find.After, find.At = timeOf(doc, "afterClusterTime"), timeOf(doc, "atClusterTime")
	if err := s.hasCome(max(find.After, find.At)); err != nil {
		return nil, err
	}
	if find.At != 0 && find.Concern != command.Snapshot {
		return nil, errcode.New(reply.InvalidOptions,
			"atClusterTime is for read concern snapshot, not %s: the newest would be read", level)
	}
	if find.Concern == command.Snapshot && find.At == 0 {
		find.At = max(s.d.Endpoint.Clock().Now().Cluster, find.After)
	}
	mode, err := r.Document("$readPreference")
	if err != nil {
		return nil, err
	}
	preference, err := request.Text(mode, "mode", "primary")
	find.Secondary = preference == "secondary" || preference == "secondaryPreferred"
	return find, err
}

// hasCome refuses a read time beyond both the cluster time and the latest that is taken from a
// client (FarAhead). To answer, shards would have to advance the cluster time to it, and that
// cannot be undone.
func (s *Service) hasCome(at hlc.Timestamp) error {
	limit := max(s.d.Endpoint.Clock().Now().Cluster, s.d.FarAhead())
	if at <= limit {
		return nil
	}
	return errcode.New(reply.InvalidOptions,
		"afterClusterTime or atClusterTime %v is too far ahead of the cluster time", at)
}

func timeOf(doc bson.Raw, name string) hlc.Timestamp {
	t, i, ok := doc.Lookup(name).TimestampOK()
	if !ok {
		return 0
	}
	return catalog.Timestamp(bson.Timestamp{T: t, I: i})
}

// ask sends a write to the router; one that finds no collection, and does not make it, finds no
// document.
func (s *Service) ask(t env.Task, req env.Message) (*command.Written, error) {
	written, err := deployment.Ask[command.Written](t, s.d, req)
	if errcode.Is(err, errcode.NamespaceNotFound) {
		return &command.Written{}, nil
	}
	return written, err
}

// newID is {_id: value} for a document without one. For a numbered statement it is a function of
// the number, so that a retry has the same _id.
func (s *Service) newID(st command.Session) bson.Raw {
	id := s.objectID(st)
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: id}})
	if err != nil {
		panic(err) // an ObjectID always has a document
	}
	return doc
}
