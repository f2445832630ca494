package shard

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// An unsharded collection that is sharded keeps its identity and its documents, which are one chunk
// on the primary shard of its database.

// ExcludeSharding has exclude asked before an unsharded collection of this shard is sharded. Its
// error has the operation try again later.
func (s *Server) ExcludeSharding(exclude func(ns string) error) {
	s.exclusions = append(s.exclusions, exclude)
}

// mayShard refuses the beginning of an operation that would shard a collection, or give its name to
// a sharded one, which its database takes along to another primary shard.
func (s *Server) mayShard(req *command.ShardsvrParticipate) error {
	ns := cmp.Or(req.To, req.Collection.NS)
	if doc, held := s.recoverable(ns); !req.Creates && req.To == "" || !s.hasUnsharded(ns) ||
		held && doc.Reason == holderOf(req) {
		return nil
	}
	for _, exclude := range s.exclusions {
		if err := exclude(ns); err != nil {
			return err
		}
	}
	return nil
}

// hasUnsharded reports whether the shard has a collection without a shard key under that name. It
// may be the copy of a collection that another shard has by now.
func (s *Server) hasUnsharded(ns string) bool {
	p, exists := s.cfg.Member.Store().Pattern(ns, store.Latest)
	return exists && p.Unsharded
}

// BeingSharded is a collection of the database that an operation makes of an unsharded one now,
// empty for none. It may have its shard key already, and not be in the catalog yet.
func (s *Server) BeingSharded(database string) (ns string) {
	s.cfg.Member.Store().Scan(SectionsNS, store.Latest, func(_ string, raw bson.Raw) bool {
		var doc sectionDoc
		if s.decode(raw, &doc) && doc.Creates && catalog.DatabaseOf(doc.NS) == database &&
			s.uuid(doc.NS) != "" {
			ns = doc.NS
		}
		return ns == ""
	})
	return ns
}

// describe tells the config server of the unsharded collection that it shards. Nothing changes in
// it, as its critical section is held; the answer waits until a majority has what it rests on. A
// primary of the past may have been deposed before the section was held, and would tell of a
// collection that has changed since.
func (s *Server) describe(
	t env.Task, _ env.NodeID, req *command.ShardsvrDescribe,
) (*command.UnshardedDescription, error) {
	if err := t.Point(failpoint.RequestDDLDescribe, env.Note{ID: req.NS}); err != nil {
		return nil, err
	}
	lead, err := s.cfg.Member.Lead()
	if err != nil {
		return nil, err
	}
	found := &command.UnshardedDescription{}
	if s.hasUnsharded(req.NS) {
		found.UUID, found.Empty = s.uuid(req.NS), true
		found.Options, _ = s.cfg.Member.Store().Options(req.NS)
		found.Indexes, found.Formerly = s.Indexes(req.NS), s.Formerly(req.NS)
		err = s.fitsKey(req, found)
	}
	if err := s.cfg.Member.AwaitMajority(t); err != nil {
		return nil, err
	}
	if err := lead.Err(); err != nil {
		return nil, err
	}
	return found, err
}

// fitsKey says whether the collection can have that shard key, and whether it is empty.
func (s *Server) fitsKey(
	req *command.ShardsvrDescribe, found *command.UnshardedDescription,
) (failed error) {
	s.cfg.Member.Store().Scan(req.NS, store.Latest, func(_ string, doc bson.Raw) bool {
		found.Empty = false
		_, failed = req.Key.Of(doc)
		return failed == nil
	})
	if failed == nil && !found.Empty && !s.hasIndexFor(req) {
		return errcode.New(errcode.InvalidOptions,
			"collection %s has documents and no index that begins with %s: make one first",
			req.NS, req.Key.Field)
	}
	return failed
}

func (s *Server) hasIndexFor(req *command.ShardsvrDescribe) bool {
	if req.Key.Field == "_id" && !req.Key.Hashed {
		return true
	}
	return slices.ContainsFunc(s.Indexes(req.NS), func(i command.IndexSpec) bool {
		spec, _ := i.Doc.Lookup("key").DocumentOK()
		first, err := spec.IndexErr(0)
		if err != nil || first.Key() != req.Key.Field {
			return false
		}
		_, hashed := first.Value().StringValueOK()
		return hashed == req.Key.Hashed
	})
}

// creation is what the shard lacks of a new collection. What is unsharded and not at home is
// the copy that a move of the database's primary has left, which may be an old one of the same
// identity.
func (s *Server) creation(req *command.ShardsvrParticipate, here string) ([]oplog.Op, error) {
	c := &req.Collection
	create, err := made(req)
	if err != nil {
		return nil, err
	}
	if req.Home != "" { // this shard may have had the database before
		rekeyed := !c.Key.SameOrder(catalog.Unsharded)
		create = append(create, s.KeepNames(c.NS, req.Formerly, rekeyed)...)
	}
	switch unsharded := s.hasUnsharded(c.NS); {
	case here == "":
		return create, nil
	case here == c.UUID && unsharded && req.Home == s.name:
		return s.sharding(req)
	case here == c.UUID && !unsharded:
		return nil, nil
	case unsharded:
		return append(s.clearing(c.NS), create...), nil
	}
	return nil, errcode.New(errcode.BadValue, "%s has %s as %q, not %q",
		s.name, c.NS, here, c.UUID)
}

// clearing drops the unsharded collection that a move of the database's primary has left here. It
// is no other one: that of the primary shard is taken over, at home, and nobody makes one while all
// shards block the name.
func (s *Server) clearing(ns string) []oplog.Op {
	if !s.hasUnsharded(ns) {
		return nil
	}
	return []oplog.Op{
		{Kind: oplog.Drop, NS: ns, Actor: uint8(trace.System), FromMigrate: true},
	}
}

// made is a collection that was not here: with everything that the unsharded one has, if it is made
// of one.
func made(req *command.ShardsvrParticipate) ([]oplog.Op, error) {
	c := &req.Collection
	options := store.EncodeOptions(c.UUID, c.Key)
	if len(req.Options) > 0 {
		var err error
		if options, err = store.WithPattern(req.Options, c.Key); err != nil {
			return nil, err
		}
	}
	ops := []oplog.Op{
		{Kind: oplog.Create, NS: c.NS, Doc: options, Actor: uint8(trace.System)},
	}
	for _, i := range req.Indexes {
		ops = append(ops, oplog.Op{
			Kind: oplog.CreateIndex, NS: c.NS, ID: i.Name, Doc: i.Doc, Actor: uint8(trace.System),
		})
	}
	return ops, nil
}

// sharding gives an unsharded collection its shard key. If its documents have other keys then, the
// history of retryable writes speaks of keys that mean nothing any more: it goes with every chunk.
func (s *Server) sharding(req *command.ShardsvrParticipate) (ops []oplog.Op, err error) {
	c, m := &req.Collection, s.cfg.Member
	old, _ := m.Store().Options(c.NS)
	options, err := store.WithPattern(old, c.Key)
	if err != nil {
		return nil, err
	}
	if p, _ := m.Store().Pattern(c.NS, store.Latest); !p.SameOrder(c.Key) {
		doc := s.participation(c.NS)
		doc.NS, doc.KeyedAt = c.NS, m.Applied().Index+1
		ops = append(ops, documentOp(oplog.Update, ParticipationsNS, c.NS, doc))
	}
	return append(ops, oplog.Op{
		Kind: oplog.Shard, NS: c.NS, Doc: options, Actor: uint8(trace.System),
	}), nil
}

// Keyed is the shard key that a statement on the collection is about, as the shard key is now:
// empty, which is every one, for a statement from before it had that one.
func (s *Server) Keyed(ns string, st *oplog.Stmt, at oplog.Time) key.Key {
	if at.Index < s.participation(ns).KeyedAt {
		return ""
	}
	return key.Key(st.Key)
}
