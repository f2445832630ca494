package crud

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/pipeline"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// searches is how often a matching document is looked for again when it was changed before it could
// be written to.
const searches = 10

// changeOf reads a replacement, operators or stages. Several documents cannot be replaced.
func changeOf(
	doc bson.Raw, name string, multi bool, vars query.Variables,
) (bson.Raw, error) {
	v, err := doc.LookupErr(name)
	if err != nil {
		return nil, errcode.New(reply.FailedToParse, "an update has no %s", name)
	}
	if v.Type == bson.TypeArray {
		stages, err := request.Documents(doc, name)
		if err != nil {
			return nil, err
		}
		return pipeline.Change(vars.Stages(stages))
	}
	change, ok := v.DocumentOK()
	if !ok {
		return nil, errcode.New(reply.FailedToParse, "%s must be a document, not %v", name, v)
	}
	if name, found := pipeline.Reserved(change); found {
		return nil, errcode.New(reply.FailedToParse, "Unknown modifier: %s", name)
	}
	if multi && query.Replaces(change) {
		return nil, errcode.New(reply.FailedToParse, "a replacement changes one document, not many")
	}
	filters, err := request.Documents(doc, "arrayFilters")
	if err != nil || len(filters) == 0 {
		return change, err
	}
	return query.WithArrayFilters(change, filters)
}

// upsertedID is the _id of the document that an upsert has inserted, as package query chooses it.
func upsertedID(u *command.Update) bson.RawValue {
	doc, err := pipeline.NewFrom(u.Filter, u.Change, u.NewID)
	if err != nil {
		return bson.RawValue{Type: bson.TypeNull}
	}
	return doc.Lookup("_id")
}

func (s *Service) updateOne(t env.Task, u *command.Update) (*command.Written, error) {
	w, err := s.ask(t, u)
	if !errcode.Is(err, errcode.ShardKeyNotFound) {
		return w, err
	}
	search := searchFor(u.NS, u.Filter, u.Concern)
	known := &command.RecallStatement{NS: u.NS, Statement: u.Session, Concern: u.Concern}
	w, err = s.searched(t, known, search, u.Sort, func(exact bson.Raw) (*command.Written, error) {
		one := *u
		one.Filter, one.Sort, one.Upsert = exact, nil, false
		return s.ask(t, &one)
	})
	if err != nil || w.N > 0 || !u.Upsert {
		return w, err
	}
	// Nothing is there to be updated: what inserts a document is the statement as it came, if the
	// collection is not sharded any more, and otherwise it is refused for what it lacks.
	return s.ask(t, u)
}

func (s *Service) deleteOne(t env.Task, d *command.Delete) (*command.Written, error) {
	w, err := s.ask(t, d)
	if !errcode.Is(err, errcode.ShardKeyNotFound) {
		return w, err
	}
	search := searchFor(d.NS, d.Filter, d.Concern)
	known := &command.RecallStatement{NS: d.NS, Statement: d.Session, Concern: d.Concern}
	return s.searched(t, known, search, nil, func(exact bson.Raw) (*command.Written, error) {
		one := *d
		one.Filter = exact
		return s.ask(t, &one)
	})
}

// searchFor reads what a statement is to change. If nothing matches, the search is all that the
// acknowledgement rests on, also on the shards that get no write: for a majority it has to prove
// that no primary which answered had been deposed.
func searchFor(ns string, filter bson.Raw, concern command.WriteConcern) *command.Find {
	search := &command.Find{NS: ns, Filter: filter, Concern: command.Local}
	if concern.Majority {
		search.Concern = command.Linearizable
	}
	return search
}

// searched finds a document and writes to it by its shard key if it still matches; otherwise it
// looks for another. It does so only if the statement was not executed before: one that was may
// have changed its document so that it would find another.
func (s *Service) searched(
	t env.Task, known *command.RecallStatement, search *command.Find, sort bson.Raw,
	write func(exact bson.Raw) (*command.Written, error),
) (*command.Written, error) {
	if known.Statement.ID != "" {
		if w, err := s.ask(t, known); err != nil || w.Retried {
			return w, err
		}
	}
	for range searches {
		docs, err := s.matching(t, search, sort)
		if err != nil || len(docs) == 0 {
			return &command.Written{}, err
		}
		exact, err := s.exactly(t, search.NS, docs[0], search.Filter)
		if err != nil {
			return nil, err
		}
		if w, err := write(exact); err != nil || w.N > 0 {
			return w, err
		}
	}
	return nil, errcode.New(errcode.ConflictingOperationInProgress,
		"%d documents of %s that matched were changed before they could be written to",
		searches, search.NS)
}

// matching are the documents that match now, in an order.
func (s *Service) matching(
	t env.Task, search *command.Find, sort bson.Raw,
) ([]bson.Raw, error) {
	order, err := query.ParseOrder(sort)
	if err != nil {
		return nil, err
	}
	docs, err := s.collect(t, search)
	sortBy(docs, order)
	return docs, err
}

// exactly is a filter that matches only this document, and only while it matches the other filter.
func (s *Service) exactly(t env.Task, ns string, doc, filter bson.Raw) (bson.Raw, error) {
	table, err := s.d.Table(t, ns)
	if err != nil {
		return nil, err
	}
	field := table.Collection().Key.Field
	exact := bson.D{{Key: "_id", Value: doc.Lookup("_id")}}
	if field != "_id" {
		v, err := key.Lookup(doc, field)
		if err != nil {
			return nil, err
		}
		exact = append(exact, bson.E{Key: field, Value: v})
	}
	if len(filter) > 0 {
		exact = append(exact, bson.E{Key: "$and", Value: bson.A{filter}})
	}
	return bson.Marshal(exact)
}

func (s *Service) updateMany(t env.Task, u *command.Update) (*command.Written, error) {
	search := searchFor(u.NS, u.Filter, u.Concern)
	sum, err := s.many(t, search, func(exact bson.Raw) (*command.Written, error) {
		one := *u
		one.Filter, one.Upsert, one.Session = exact, false, command.Session{}
		return s.ask(t, &one)
	})
	if err != nil || sum.N > 0 || !u.Upsert {
		return sum, err
	}
	one := *u
	one.Session = command.Session{}
	return s.ask(t, &one)
}

func (s *Service) deleteMany(t env.Task, d *command.Delete) (*command.Written, error) {
	search := searchFor(d.NS, d.Filter, d.Concern)
	return s.many(t, search, func(exact bson.Raw) (*command.Written, error) {
		one := *d
		one.Filter, one.Session = exact, command.Session{}
		return s.ask(t, &one)
	})
}

// many writes to every document that matches when the command begins, one after the other.
func (s *Service) many(
	t env.Task, search *command.Find, write func(exact bson.Raw) (*command.Written, error),
) (*command.Written, error) {
	sum := &command.Written{}
	docs, err := s.matching(t, search, nil)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		exact, err := s.exactly(t, search.NS, doc, search.Filter)
		if err != nil {
			return nil, err
		}
		w, err := write(exact)
		if err != nil {
			return nil, err
		}
		sum.N, sum.Modified = sum.N+w.N, sum.Modified+w.Modified
		if w.ConcernError != "" {
			sum.ConcernError = w.ConcernError
		}
	}
	return sum, nil
}
