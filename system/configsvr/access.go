package configsvr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/protocol"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/rpc"
	"github.com/shardproof/shardproof/system/settings"
	"github.com/shardproof/shardproof/system/store"
)

// What is here is for the packages that decide what is to change: they read the catalog as the
// primary has it now, and change it in a task of its term (InTerm), under the lock of chunks
// (Locked), one entry for each change.

// Member is the replica set member below.
func (s *Server) Member() *replset.Member { return s.member }

// Endpoint is where other packages add their handlers.
func (s *Server) Endpoint() *rpc.Endpoint { return s.ep }

// Node is the node the server runs on.
func (s *Server) Node() env.Node { return s.node }

// Settings are the server's settings; they may change while it runs.
func (s *Server) Settings() *settings.Settings { return s.settings }

// Profile is the version of the protocol that the cluster speaks.
func (s *Server) Profile() protocol.Profile { return s.profile }

// Set is the replica set of a shard, for calls; nil for a name that nothing has.
func (s *Server) Set(shard string) *rpc.Set { return s.shards[shard] }

// Table is the routing table of a collection: errcode.NamespaceNotFound when there is no such
// collection.
func (s *Server) Table(ns string) (*catalog.Table, error) { return s.catalog.latest(ns) }

// Sharded lists the sharded collections by name.
func (s *Server) Sharded() (all []catalog.Collection) {
	s.scan(Collections, func(doc bson.Raw) error {
		c, err := s.collections.Read(doc, catalog.DecodeCollection)
		all = append(all, c)
		return err
	})
	return all
}

// Shards lists the documents of config.shards by name.
func (s *Server) Shards() (all []Shard) {
	s.scan(Shards, func(doc bson.Raw) error {
		var d Shard
		err := bson.Unmarshal(doc, &d)
		all = append(all, d)
		return err
	})
	return all
}

// Shard is the document of a shard: errcode.ShardNotFound when there is none.
func (s *Server) Shard(name string) (Shard, error) { return s.catalog.shard(name) }

// Databases lists the databases by name.
func (s *Server) Databases() (all []catalog.Database) {
	s.scan(Databases, func(doc bson.Raw) error {
		d, err := catalog.DecodeDatabase(doc)
		all = append(all, d)
		return err
	})
	return all
}

// Unchanging reports whether no operation on a whole collection is in progress. Such an operation
// goes from shard to shard and relies on there being the same ones from its beginning to its end.
func (s *Server) Unchanging() bool { return len(s.ddl.records.All()) == 0 }

// WhileUnchanging runs fn, which must not wait, under the lock of chunks and while Unchanging.
func (s *Server) WhileUnchanging(t env.Task, fn func() error) error {
	for ran := false; !ran; {
		if err := s.ddl.ended.WaitFor(t, 0, s.Unchanging); err != nil {
			return err
		}
		err := s.Locked(t, func() error {
			if ran = s.Unchanging(); !ran {
				return nil
			}
			return fn()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Describe writes what the catalog says about a collection besides its chunks. The table is the
// one that is described now, under the lock that is still held; Balancing is all that may differ.
func (s *Server) Describe(
	t env.Task, table *catalog.Table, as catalog.Balancing, why string,
) error {
	coll := table.Collection()
	coll.Balancing = as
	doc, err := catalog.EncodeCollection(coll)
	if err != nil {
		return err
	}
	return s.Write(t, putOp(Collections, coll.NS, doc, why))
}

// Write applies operations as one entry, in a task of the term; nothing is written once that is
// over.
func (s *Server) Write(t env.Task, ops ...oplog.Op) error {
	if err := t.Err(); err != nil {
		return err
	}
	_, err := s.member.Write(t, ops...)
	return err
}

// Zones lists the zones of a collection in the order of their ranges. The collection need not exist
// yet; pattern is its shard key.
func (s *Server) Zones(ns string, pattern key.Pattern) (all catalog.Zones) {
	s.scan(Tags, func(doc bson.Raw) error {
		if of, _ := doc.Lookup("ns").StringValueOK(); of != ns {
			return nil
		}
		zone, err := catalog.DecodeZone(pattern, doc)
		all = append(all, zone)
		return err
	})
	return all
}

// ZoneField is the field that the ranges of the namespace's zones are about, empty when it has
// none. All are about the same.
func (s *Server) ZoneField(ns string) (field string) {
	s.scan(Tags, func(doc bson.Raw) error {
		of, named, _, err := catalog.DecodeAnyZone(doc)
		if of == ns {
			field = named
		}
		return err
	})
	return field
}

// Making is the shard key of the collection of that name which an operation in progress makes.
func (s *Server) Making(ns string) (as key.Pattern, making bool) {
	op, running := s.ddl.records.Get(ns)
	if !running || op.Kind != createCollection {
		return key.Pattern{}, false
	}
	return op.Coll.collection(ns).Key, true
}

// HasRanges reports whether a range of any collection is of the zone.
func (s *Server) HasRanges(zone string) (has bool) {
	s.scan(Tags, func(doc bson.Raw) error {
		name, _ := doc.Lookup("tag").StringValueOK()
		has = has || name == zone
		return nil
	})
	return has
}

// Setting is the document of config.settings with that _id, nil when there is none.
func (s *Server) Setting(id string) bson.Raw {
	return s.member.Store().Get(Settings, string(key.String(id)), store.Latest)
}

// scan reads a namespace of the catalog; a document that cannot be read breaks an invariant.
func (s *Server) scan(ns string, each func(bson.Raw) error) {
	s.member.Store().Scan(ns, store.Latest, func(id string, doc bson.Raw) bool {
		err := each(doc)
		s.node.Assert(err == nil, "document %v of %s cannot be read: %v", doc, ns, err)
		return true
	})
}
