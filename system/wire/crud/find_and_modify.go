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

func (s *Service) findAndModify(t env.Task, r *request.Request) (bson.D, error) {
	ns, err := r.Collection()
	if err != nil {
		return nil, err
	}
	if err := deployment.Changeable(ns); err != nil {
		return nil, err
	}
	f, err := s.parseFindAndModify(r, ns)
	if err != nil {
		return nil, err
	}
	show, err := query.ParseProjection(f.Fields)
	if err != nil {
		return nil, err
	}
	w, err := s.modifyOne(t, f)
	if err != nil {
		return nil, err
	}
	return modified(f, w, show)
}

// modifyOne is as updateOne or, for what removes and so inserts nothing, as deleteOne.
func (s *Service) modifyOne(t env.Task, f *command.FindAndModify) (*command.Written, error) {
	w, err := s.ask(t, f)
	if !errcode.Is(err, errcode.ShardKeyNotFound) {
		return w, err
	}
	search := searchFor(f.NS, f.Filter, f.Concern)
	known := &command.RecallStatement{NS: f.NS, Statement: f.Session, Concern: f.Concern}
	w, err = s.searched(t, known, search, f.Sort, func(exact bson.Raw) (*command.Written, error) {
		one := *f
		one.Filter, one.Sort, one.Upsert = exact, nil, false
		return s.ask(t, &one)
	})
	if err != nil || w.N > 0 || !f.Upsert || f.Remove {
		return w, err
	}
	return s.ask(t, f)
}

func (s *Service) parseFindAndModify(
	r *request.Request, ns string,
) (f *command.FindAndModify, err error) {
	st := statement(r, 0)
	f = &command.FindAndModify{
		NS: ns, Session: st, Remove: r.Bool("remove", false), Upsert: r.Bool("upsert", false),
		New: r.Bool("new", false),
	}
	if f.Remove && (f.New || f.Upsert || r.Has("update")) {
		return nil, errcode.New(reply.FailedToParse,
			"remove cannot be combined with new, upsert or update: "+
				"a removed document is not changed, inserted or returned as new")
	}
	if f.Upsert {
		f.Implicit, f.NewID = true, s.newID(st)
	}
	if f.Fields, err = r.Document("fields"); err != nil {
		return nil, err
	}
	if f.Concern, err = writeConcern(r); err != nil {
		return nil, err
	}
	vars, err := variables(r)
	if err != nil {
		return nil, err
	}
	if f.Filter, err = filterOf(r.Body, "query", vars); err != nil {
		return nil, err
	}
	if f.Sort, err = r.Document("sort"); err != nil || f.Remove {
		return f, err
	}
	f.Change, err = changeOf(r.Body, "update", false, vars)
	return f, err
}

// modified is the answer to a findAndModify.
func modified(
	f *command.FindAndModify, w *command.Written, show *query.Projection,
) (bson.D, error) {
	last := bson.D{{Key: "n", Value: int32(w.N)}}
	if !f.Remove {
		last = append(last, bson.E{Key: "updatedExisting", Value: w.N > 0 && !w.Upserted})
	}
	if w.Upserted {
		u := &command.Update{Filter: f.Filter, Change: f.Change, NewID: f.NewID}
		last = append(last, bson.E{Key: "upserted", Value: upsertedID(u)})
	}
	var value any
	if w.Image != nil {
		image, err := show.Apply(w.Image)
		if err != nil {
			return nil, err
		}
		value = image
	}
	doc := bson.D{{Key: "lastErrorObject", Value: last}, {Key: "value", Value: value}}
	if w.ConcernError != "" {
		doc = append(doc, reply.ConcernError(w.ConcernError))
	}
	return append(doc, reply.OK()...), nil
}
