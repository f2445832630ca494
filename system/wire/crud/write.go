package crud

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// bulk is a write command in progress, with one or more statements.
type bulk struct {
	s       *Service
	r       *request.Request
	ns      string
	concern command.WriteConcern
	vars    query.Variables
	ordered bool

	n, modified int
	upserted    bson.A
	failures    bson.A
	unsatisfied string
}

func (s *Service) newBulk(r *request.Request) (*bulk, error) {
	ns, err := r.Collection()
	if err != nil {
		return nil, err
	}
	if err := deployment.Changeable(ns); err != nil {
		return nil, err
	}
	b := &bulk{s: s, r: r, ns: ns, ordered: r.Bool("ordered", true)}
	if b.concern, err = writeConcern(r); err != nil {
		return nil, err
	}
	b.vars, err = variables(r)
	return b, err
}

// each carries the statements out. The error of a statement is listed; an error of the router or
// the shard ends the command.
func (b *bulk) each(docs []bson.Raw, do func(i int, doc bson.Raw) error) (bson.D, error) {
	const most = 100_000
	if len(docs) == 0 || len(docs) > most {
		return nil, errcode.New(reply.InvalidOptions,
			"%s takes from 1 to %d statements, not %d", b.r.Name, most, len(docs))
	}
	for i, doc := range docs {
		err := do(i, doc)
		if err == nil {
			continue
		}
		if inTrouble(err) {
			return nil, err
		}
		f := reply.FailureOf(err)
		b.failures = append(b.failures, bson.D{
			{Key: "index", Value: int32(i)}, {Key: "code", Value: f.Number},
			{Key: "errmsg", Value: f.Message},
		})
		if b.ordered {
			break
		}
	}
	return b.result(), nil
}

// inTrouble reports whether an error is about the deployment rather than the statement.
func inTrouble(err error) bool {
	return errcode.Is(err, errcode.NetworkTimeout, errcode.HostUnreachable,
		errcode.NotWritablePrimary, errcode.PrimarySteppedDown, errcode.ExceededTimeLimit,
		errcode.InterruptedDueToReplStateChange, errcode.Interrupted, errcode.Internal)
}

func (b *bulk) result() bson.D {
	doc := bson.D{{Key: "n", Value: int32(b.n)}}
	if b.r.Name == "update" {
		doc = append(doc, bson.E{Key: "nModified", Value: int32(b.modified)})
	}
	if len(b.upserted) > 0 {
		doc = append(doc, bson.E{Key: "upserted", Value: b.upserted})
	}
	if len(b.failures) > 0 {
		doc = append(doc, bson.E{Key: "writeErrors", Value: b.failures})
	}
	if b.unsatisfied != "" {
		doc = append(doc, reply.ConcernError(b.unsatisfied))
	}
	return append(doc, reply.OK()...)
}

func (b *bulk) note(w *command.Written) {
	if w.ConcernError != "" {
		b.unsatisfied = w.ConcernError
	}
}

func (s *Service) insert(t env.Task, r *request.Request) (bson.D, error) {
	b, err := s.newBulk(r)
	if err != nil {
		return nil, err
	}
	docs, err := r.Documents("documents")
	if err != nil {
		return nil, err
	}
	return b.each(docs, func(i int, doc bson.Raw) error {
		st := statement(r, i)
		doc, err := s.withID(doc, st)
		if err != nil {
			return err
		}
		req := &command.Insert{
			NS: b.ns, Docs: []bson.Raw{doc}, Session: st, Implicit: true, Concern: b.concern,
		}
		w, err := s.insertOne(t, req, b.ns)
		if err != nil {
			return err
		}
		b.n += w.N
		b.note(w)
		return nil
	})
}

// insertOne inserts the one document of the request; shown is how clients know the collection.
func (s *Service) insertOne(
	t env.Task, req *command.Insert, shown string,
) (*command.Written, error) {
	doc := req.Docs[0]
	if err := request.Fits(doc); err != nil {
		return nil, err
	}
	w, err := s.ask(t, req)
	if errcode.Is(err, errcode.DuplicateKey) {
		return nil, errcode.New(errcode.DuplicateKey,
			"E11000 duplicate key error collection: %s index: _id_ dup key: { _id: %v }",
			shown, doc.Lookup("_id"))
	}
	return w, err
}

// withID is the document with an _id as its first field.
func (s *Service) withID(doc bson.Raw, st command.Session) (bson.Raw, error) {
	if first, err := doc.IndexErr(0); err == nil && first.Key() == "_id" {
		return doc, nil
	}
	id, err := doc.LookupErr("_id")
	whole := bson.D{{Key: "_id", Value: id}}
	if err != nil {
		whole[0].Value = s.objectID(st)
	}
	elements, err := doc.Elements()
	for _, e := range elements {
		if e.Key() != "_id" {
			whole = append(whole, bson.E{Key: e.Key(), Value: e.Value()})
		}
	}
	if err != nil {
		return nil, err
	}
	return bson.Marshal(whole)
}

func (s *Service) update(t env.Task, r *request.Request) (bson.D, error) {
	b, err := s.newBulk(r)
	if err != nil {
		return nil, err
	}
	docs, err := r.Documents("updates")
	if err != nil {
		return nil, err
	}
	return b.each(docs, func(i int, doc bson.Raw) error {
		u, err := s.parseUpdate(b, i, doc)
		if err != nil {
			return err
		}
		var w *command.Written
		if request.Bool(doc, "multi", false) {
			w, err = s.updateMany(t, u)
		} else {
			w, err = s.updateOne(t, u)
		}
		if err != nil {
			return err
		}
		b.n, b.modified = b.n+w.N, b.modified+w.Modified
		b.note(w)
		if w.Upserted {
			b.upserted = append(b.upserted, bson.D{
				{Key: "index", Value: int32(i)}, {Key: "_id", Value: upsertedID(u)},
			})
		}
		return nil
	})
}

func (s *Service) parseUpdate(b *bulk, i int, doc bson.Raw) (*command.Update, error) {
	st := statement(b.r, i)
	u := &command.Update{
		NS: b.ns, Session: st, Concern: b.concern, Upsert: request.Bool(doc, "upsert", false),
	}
	if u.Upsert {
		u.Implicit, u.NewID = true, s.newID(st)
	}
	err := request.BinaryOrder(doc)
	if err != nil {
		return nil, err
	}
	if u.Filter, err = filterOf(doc, "q", b.vars); err != nil {
		return nil, err
	}
	if u.Sort, err = request.Document(doc, "sort"); err != nil {
		return nil, err
	}
	u.Change, err = changeOf(doc, "u", request.Bool(doc, "multi", false), b.vars)
	return u, err
}

// limited refuses deletions of which one does not say whether it is of one document or of all. It
// does so before any is carried out.
func limited(deletes []bson.Raw) error {
	for i, doc := range deletes {
		limit, err := request.Int(doc, "limit", -1)
		if err != nil {
			return err
		}
		if !request.Has(doc, "limit") {
			return errcode.New(reply.FailedToParse,
				"deletion %d has no limit: it is 1 for one document, 0 for all", i)
		}
		if limit != 0 && limit != 1 {
			return errcode.New(reply.FailedToParse,
				"deletion %d has the limit %v: it is 1 for one document, 0 for all",
				i, doc.Lookup("limit"))
		}
	}
	return nil
}

func (s *Service) remove(t env.Task, r *request.Request) (bson.D, error) {
	b, err := s.newBulk(r)
	if err != nil {
		return nil, err
	}
	docs, err := r.Documents("deletes")
	if err != nil {
		return nil, err
	}
	if err := limited(docs); err != nil {
		return nil, err
	}
	return b.each(docs, func(i int, doc bson.Raw) error {
		if err := request.BinaryOrder(doc); err != nil {
			return err
		}
		filter, err := filterOf(doc, "q", b.vars)
		if err != nil {
			return err
		}
		d := &command.Delete{
			NS: b.ns, Filter: filter, Session: statement(r, i), Concern: b.concern,
		}
		var w *command.Written
		if limit, _ := request.Int(doc, "limit", 0); limit == 1 {
			w, err = s.deleteOne(t, d)
		} else {
			w, err = s.deleteMany(t, d)
		}
		if err != nil {
			return err
		}
		b.n += w.N
		b.note(w)
		return nil
	})
}
