package shard

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/pipeline"
	"github.com/shardproof/shardproof/system/query"
	"github.com/shardproof/shardproof/system/store"
)

func (s *Server) insert(t env.Task, _ env.NodeID, req *command.Insert) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place, req.Implicit}
	return s.execute(t, r, len(req.Docs), func(w *writeCommand, i int) (docChange, error) {
		return w.create(req.Docs[i])
	})
}

func (s *Server) update(t env.Task, _ env.NodeID, req *command.Update) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place, req.Implicit}
	return s.execute(t, r, 1, func(w *writeCommand, _ int) (docChange, error) {
		return w.modify(change{req.Filter, req.Change, req.Sort, req.Upsert, req.NewID})
	})
}

func (s *Server) remove(t env.Task, _ env.NodeID, req *command.Delete) (*command.Written, error) {
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place, false}
	return s.execute(t, r, 1, func(w *writeCommand, _ int) (docChange, error) {
		return w.erase(req.Filter, nil)
	})
}

func (s *Server) findAndModify(
	t env.Task, _ env.NodeID, req *command.FindAndModify,
) (*command.Written, error) {
	show, err := query.ParseProjection(req.Fields)
	if err != nil {
		return nil, err
	}
	r := writeRequest{req.NS, req.Session, req.Concern, req.Place, req.Implicit}
	return s.execute(t, r, 1, func(w *writeCommand, _ int) (ch docChange, err error) {
		if req.Remove {
			ch, err = w.erase(req.Filter, req.Sort)
		} else {
			ch, err = w.modify(change{req.Filter, req.Change, req.Sort, req.Upsert, req.NewID})
		}
		if ch.outcome.Image = ch.pre; req.New && ch.outcome.N > 0 {
			ch.outcome.Image = ch.op.Doc
		}
		if err == nil && ch.outcome.Image != nil {
			// If it were refused after the change, the client would think that there was no change.
			_, err = show.Apply(ch.outcome.Image)
		}
		return ch, err
	})
}

// fits refuses a document that is too large, or nested too deep: a client that has read it could
// not send it back.
func (w *writeCommand) fits(id string, doc bson.Raw) error {
	if query.TooDeep(doc) {
		return errcode.New(errcode.BSONObjectTooLarge,
			"document %s of collection %s would be nested more than %d deep",
			key.Key(id), w.ns, query.MaxLevels)
	}
	if len(doc) <= document.MaxBytes {
		return nil
	}
	return errcode.New(errcode.BSONObjectTooLarge,
		"document %s of collection %s would have %d bytes, and at most %d are allowed",
		key.Key(id), w.ns, len(doc), document.MaxBytes)
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
	if err := w.fits(id, doc); err != nil {
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

// change is what an update asks for.
type change struct {
	filter, with, sort bson.Raw
	upsert             bool
	newID              bson.Raw
}

func (w *writeCommand) modify(c change) (docChange, error) {
	p, rng, err := w.target(c.filter)
	if err != nil {
		return docChange{}, err
	}
	id, old, err := w.match(rng, c.filter, c.sort)
	if err != nil {
		return docChange{}, err
	}
	if old == nil {
		if !c.upsert {
			return docChange{key: rng.Min}, nil
		}
		return w.upsert(p, rng, c)
	}
	doc, err := pipeline.Update(c.with, old)
	if err != nil {
		return docChange{}, err
	}
	if err := w.fits(id, doc); err != nil {
		return docChange{}, err
	}
	k, err := p.Of(old)
	if err != nil {
		return docChange{}, err
	}
	if err := w.unmoved(p, k, id, doc); err != nil {
		return docChange{}, err
	}
	op := oplog.Op{Kind: oplog.Update, ID: id, Doc: doc, Replaces: query.Replaces(c.with)}
	ch := docChange{op: op, pre: old, key: k, outcome: command.Written{N: 1, Modified: 1}}
	if query.Same(old, doc) {
		ch.op.Kind, ch.outcome.Modified = oplog.Noop, 0
	}
	return ch, nil
}

func (w *writeCommand) upsert(p key.Pattern, rng key.Range, c change) (docChange, error) {
	doc, err := pipeline.NewFrom(c.filter, c.with, c.newID)
	if err != nil {
		return docChange{}, err
	}
	id, err := key.ID(doc)
	if err != nil {
		return docChange{}, err
	}
	if !w.place.Database {
		if err := w.unmoved(p, rng.Min, id, doc); err != nil {
			return docChange{}, err
		}
	}
	ch, err := w.create(doc)
	ch.outcome.Upserted = true
	return ch, err
}

func (w *writeCommand) erase(filter, sort bson.Raw) (docChange, error) {
	p, rng, err := w.target(filter)
	if err != nil {
		return docChange{}, err
	}
	id, old, err := w.match(rng, filter, sort)
	if old == nil || err != nil {
		return docChange{key: rng.Min}, err
	}
	k, err := p.Of(old)
	return docChange{
		op:      oplog.Op{Kind: oplog.Delete, ID: id},
		pre:     old,
		key:     k,
		outcome: command.Written{N: 1},
	}, err
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

// target is where the documents of the filter are: at the shard key that it fixes, or anywhere that
// it allows in a collection that is not sharded.
func (w *writeCommand) target(filter bson.Raw) (key.Pattern, key.Range, error) {
	p, err := w.pattern()
	if err != nil {
		return p, key.Range{}, err
	}
	v, fixed := query.Equality(filter, p.Field)
	if !fixed && w.place.Database {
		rng, err := query.Bounds(filter, p.Field)
		return p, rng, err
	}
	if !fixed {
		return p, key.Range{}, errcode.New(errcode.ShardKeyNotFound,
			"the filter %s does not fix the shard key %s", filter, p.Field)
	}
	k, err := p.OfValue(v)
	return p, key.Range{Min: k, Max: key.After(k)}, err
}

// match returns the first document of the range, in the order of the sort or else of the shard key,
// that fulfils the filter and that the shard owns: an update must not touch an orphan (protocol
// 10.1).
func (w *writeCommand) match(
	rng key.Range, filter, sort bson.Raw,
) (id string, doc bson.Raw, err error) {
	order, err := query.ParseOrder(sort)
	if err != nil || w.place.Versioned && !w.place.Database && !w.c.known.Owns(rng.Min) {
		return "", nil, err
	}
	w.server.cfg.Member.Store().ScanKey(w.ns, rng, store.Latest, store.Place{},
		func(_ key.Key, at string, d bson.Raw) bool {
			var ok bool
			ok, err = query.Match(filter, d)
			if ok && (doc == nil || order.Compare(d, doc) < 0) {
				id, doc = at, d
			}
			return err == nil && (doc == nil || len(order) > 0)
		})
	return id, doc, err
}
