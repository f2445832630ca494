package shard

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/store"
)

func (s *Server) insert(t env.Task, _ env.NodeID, req *command.Insert) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place}
	return s.execute(t, r, len(req.Docs), func(w *writeCommand, i int) (docChange, error) {
		return w.create(req.Docs[i])
	})
}

func (s *Server) update(t env.Task, _ env.NodeID, req *command.Update) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place}
	return s.execute(t, r, 1, func(w *writeCommand, _ int) (docChange, error) {
		return w.modify(req.Filter, req.Change, req.Upsert)
	})
}

func (s *Server) remove(t env.Task, _ env.NodeID, req *command.Delete) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place}
	return s.execute(t, r, 1, func(w *writeCommand, _ int) (docChange, error) {
		return w.erase(req.Filter)
	})
}

func (s *Server) findAndModify(
	t env.Task, _ env.NodeID, req *command.FindAndModify,
) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place}
	return s.execute(t, r, 1, func(w *writeCommand, _ int) (ch docChange, err error) {
		if req.Remove {
			ch, err = w.erase(req.Filter)
		} else {
			ch, err = w.modify(req.Filter, req.Change, req.Upsert)
		}
		if ch.outcome.Image = ch.pre; req.New && ch.outcome.N > 0 {
			ch.outcome.Image = ch.op.Doc
		}
		return ch, err
	})
}

// create inserts a document. An _id is unique on the shard, also among documents that it does not
// own: as in the real system an orphan with the _id refuses the insert. Where the _id is (a
// function of) the shard key that cannot happen, as the orphan would be in the same, owned, range;
// a range is received only after its orphans are gone (protocol 5.2).
func (w *writeCommand) create(doc bson.Raw) (docChange, error) {
	p, err := w.pattern()
	if err != nil {
		return docChange{}, err
	}
	id, err := key.ID(doc)
	if err != nil {
		return docChange{}, err
	}
	k, err := w.keyOf(p, doc)
	if err != nil {
		return docChange{}, err
	}
	if w.get(id) != nil {
		return docChange{}, errcode.New(errcode.DuplicateKey,
			"collection %s has a document with _id %s", w.ns, key.Key(id))
	}
	return docChange{
		op:      oplog.Op{Kind: oplog.Insert, ID: id, Doc: doc},
		key:     k,
		outcome: command.Written{N: 1},
	}, nil
}

func (w *writeCommand) modify(filter, with bson.Raw, upsert bool) (docChange, error) {
	p, k, err := w.target(filter)
	if err != nil {
		return docChange{}, err
	}
	id, old, err := w.match(k, filter)
	if err != nil {
		return docChange{}, err
	}
	if old == nil {
		if !upsert {
			return docChange{key: k}, nil
		}
		return w.upsert(p, k, filter, with)
	}
	doc, err := query.Apply(with, old)
	if err != nil {
		return docChange{}, err
	}
	if err := w.unmoved(p, k, id, doc); err != nil {
		return docChange{}, err
	}
	op := oplog.Op{Kind: oplog.Update, ID: id, Doc: doc, Replaces: query.Replaces(with)}
	ch := docChange{op: op, pre: old, key: k, outcome: command.Written{N: 1, Modified: 1}}
	if query.Same(old, doc) {
		ch.op.Kind, ch.outcome.Modified = oplog.Noop, 0
	}
	return ch, nil
}

func (w *writeCommand) upsert(p key.Pattern, k key.Key, filter, with bson.Raw) (docChange, error) {
	doc, err := query.NewFrom(filter, with)
	if err != nil {
		return docChange{}, err
	}
	id, err := key.ID(doc)
	if err != nil {
		return docChange{}, err
	}
	if err := w.unmoved(p, k, id, doc); err != nil {
		return docChange{}, err
	}
	ch, err := w.create(doc)
	ch.outcome.Upserted = true
	return ch, err
}

func (w *writeCommand) erase(filter bson.Raw) (docChange, error) {
	_, k, err := w.target(filter)
	if err != nil {
		return docChange{}, err
	}
	id, old, err := w.match(k, filter)
	if old == nil || err != nil {
		return docChange{key: k}, err
	}
	return docChange{
		op:      oplog.Op{Kind: oplog.Delete, ID: id},
		pre:     old,
		key:     k,
		outcome: command.Written{N: 1},
	}, nil
}

// unmoved refuses a change of the identity or of the shard key, which would need a transaction over
// two shards.
func (w *writeCommand) unmoved(p key.Pattern, k key.Key, id string, doc bson.Raw) error {
	newID, err := key.ID(doc)
	if err != nil {
		return err
	}
	newKey, err := w.keyOf(p, doc)
	if err != nil {
		return err
	}
	if newID != id || newKey != k {
		return errcode.New(errcode.ImmutableField,
			"document %s with shard key %s would become %s with %s",
			key.Key(id), k, key.Key(newID), newKey)
	}
	return nil
}

// keyOf is the shard key of a document that is about to be written. That a document lacks it is
// allowed from 4.4 on (protocol 3.4).
func (w *writeCommand) keyOf(p key.Pattern, doc bson.Raw) (key.Key, error) {
	if !w.server.cfg.Profile.TakesMissingShardKey() && !p.In(doc) {
		return "", errcode.New(errcode.ShardKeyNotFound,
			"the document %v has no shard key %s, which 4.2 requires", doc, p.Field)
	}
	return p.Of(doc)
}

// target is the shard key that the filter fixes.
func (w *writeCommand) target(filter bson.Raw) (key.Pattern, key.Key, error) {
	p, err := w.pattern()
	if err != nil {
		return p, "", err
	}
	v, fixed := query.Equality(filter, p.Field)
	if !fixed {
		return p, "", errcode.New(errcode.ShardKeyNotFound,
			"the filter %s does not fix the shard key %s", filter, p.Field)
	}
	k, err := p.OfValue(v)
	return p, k, err
}

// match returns the first document with the shard key that fulfils the filter and that the shard
// owns: an update must not touch an orphan (protocol 10.1).
func (w *writeCommand) match(k key.Key, filter bson.Raw) (id string, doc bson.Raw, err error) {
	if w.place.Versioned && !w.c.known.Owns(k) {
		return "", nil, nil
	}
	only := key.Range{Min: k, Max: key.After(k)}
	w.server.cfg.Member.Store().ScanKey(w.ns, only, store.Latest, store.Place{},
		func(_ key.Key, at string, d bson.Raw) bool {
			var ok bool
			if ok, err = query.Match(filter, d); ok {
				id, doc = at, d
			}
			return !ok && err == nil
		})
	return id, doc, err
}
