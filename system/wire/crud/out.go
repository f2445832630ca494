package crud

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/wire/deployment"
	"github.com/shardproof/shardproof/system/wire/reply"
)

// outSharded is the code of an $out to a sharded collection, which has no name.
const outSharded = 28769

// replace has a collection of the documents take the place of the one that is called ns, as $out
// does. They are written under another name: until the last moment, in which the one goes and the
// other gets its name, nothing has changed. A majority has all of them by then, whatever the write
// concern: a later primary that lacked some would give the name to the rest.
func (s *Service) replace(
	t env.Task, ns string, docs []bson.Raw, concern command.WriteConcern,
) (unsatisfied string, err error) {
	if err = s.wantUnsharded(t, ns); err != nil {
		return "", err
	}
	aside := catalog.DatabaseOf(ns) + ".tmp.agg_out." + s.objectID(command.Session{}).Hex()
	defer func() {
		if err != nil { // a task of its own, since this one may have been interrupted
			t.Spawn("wire.dropResults", func(own env.Task) { _, _ = s.d.Drop(own, aside) })
		}
	}()
	options, indexes, err := s.openLike(t, ns, aside)
	if err != nil {
		return "", err
	}
	for _, doc := range docs {
		if doc, err = s.withID(doc, command.Session{}); err != nil {
			return "", err
		}
		req := &command.Insert{NS: aside, Docs: []bson.Raw{doc}, Concern: command.Majority}
		w, err := s.insertOne(t, req, ns)
		if err == nil && w.ConcernError != "" {
			err = errcode.New(errcode.ExceededTimeLimit, "%s", w.ConcernError)
		}
		if err != nil {
			return "", err
		}
	}
	w, err := deployment.Ask[command.Written](t, s.d, &command.RenameUnsharded{
		NS: aside, To: ns, DropTarget: true, Concern: concern,
		Unchanged: true, Options: options, Indexes: indexes,
	})
	if errcode.Is(err, errcode.IllegalOperation) {
		return "", isSharded(ns)
	}
	if err != nil {
		return "", err
	}
	return w.ConcernError, nil
}

// openLike makes an empty collection with the options and the indexes of another one, which may be
// missing, and returns these.
func (s *Service) openLike(
	t env.Task, ns, aside string,
) (options bson.Raw, indexes []command.IndexSpec, err error) {
	all, err := s.d.Collections(t, catalog.DatabaseOf(ns))
	if err != nil {
		return nil, nil, err
	}
	for _, c := range all {
		if c.NS == ns {
			options, _ = c.Options.Lookup("options").DocumentOK()
			indexes = c.Indexes
		}
	}
	if _, err := s.d.Create(t, aside, options, true); err != nil {
		return nil, nil, err
	}
	for _, i := range indexes {
		if _, err := deployment.Ask[command.Written](t, s.d, &command.IndexUnsharded{
			NS: aside, Name: i.Name, Spec: i.Doc, Concern: command.Majority,
		}); err != nil {
			return nil, nil, err
		}
	}
	return options, indexes, nil
}

func (s *Service) wantUnsharded(t env.Task, ns string) error {
	known, err := s.d.Database(t, catalog.DatabaseOf(ns))
	if errcode.Is(err, errcode.NamespaceNotFound) {
		return nil
	}
	if err == nil && slices.Contains(known.Sharded, ns) {
		return isSharded(ns)
	}
	return err
}

func isSharded(ns string) error {
	return &reply.Failure{Number: outSharded, Message: "$out cannot replace " + ns +
		", which is sharded: $merge writes to sharded collections"}
}
