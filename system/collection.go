package system

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/replset"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// Collection is a collection that a cluster starts with.
type Collection struct {
	NS string
	// Key is the shard key. Without one the collection is not sharded: it lives on the primary
	// shard of its database, which at the start is the first shard.
	Key key.Pattern
	// Bounds are the inner chunk bounds, increasing; chunk i starts on shard i modulo the number of
	// Shards, which are all shards when there are none.
	Bounds []key.Key
	Shards []string
	// Options are those that its creator has chosen; empty for none. They mean nothing to the store,
	// which keeps them.
	Options bson.Raw
	// Docs exist at the start. Each has an _id and the shard key.
	Docs []bson.Raw
}

// UUID is that under which a cluster begins with the collection.
func (c *Collection) UUID() string {
	return configsvr.NewCollection(c.NS, c.Key, firstClusterTime).UUID
}

// bootstrapState is what the members of each replica set write when they find themselves empty: the
// cluster's state at the start, as if restored from a backup.
type bootstrapState struct {
	config []oplog.Op
	shards map[string][]oplog.Op
}

// firstClusterTime is the cluster time of the initial state, before every other.
const firstClusterTime = 1

func createCollections(top Topology, colls []Collection) (*bootstrapState, error) {
	f := &bootstrapState{shards: make(map[string][]oplog.Op)}
	identity, err := configsvr.Identity()
	if err != nil {
		return nil, err
	}
	f.config = append(f.config, identity)
	for _, name := range top.ShardNames()[top.Shards-top.Spare:] {
		f.shards[name] = []oplog.Op{shard.Identity(name), shard.NoMember()}
	}
	for _, name := range top.Founders() {
		op, err := configsvr.AddShard(name, fmt.Sprintf("%s/%v", name, top.MembersOf(name)))
		if err != nil {
			return nil, err
		}
		f.config = append(f.config, op)
		f.shards[name] = []oplog.Op{shard.Identity(name)}
	}
	if top.BalancerOff {
		op, err := configsvr.PutSetting(configsvr.BalancerSetting, bson.D{
			{Key: "_id", Value: configsvr.BalancerSetting},
			{Key: "mode", Value: string(command.BalancerOff)},
			{Key: "stopped", Value: true},
		})
		if err != nil {
			return nil, err
		}
		f.config = append(f.config, op)
	}
	for i := range colls {
		if err := f.add(top, &colls[i]); err != nil {
			return nil, fmt.Errorf("collection %s cannot be made: %w", colls[i].NS, err)
		}
	}
	return f, nil
}

func (f *bootstrapState) add(top Topology, c *Collection) error {
	if c.Key.IsZero() {
		return f.addUnsharded(top, c)
	}
	names := c.Shards
	if len(names) == 0 {
		names = top.Founders()
	}
	coll := configsvr.NewCollection(c.NS, c.Key, firstClusterTime)
	ops, err := configsvr.Founding(coll, c.Bounds, names)
	if err != nil {
		return err
	}
	f.config = append(f.config, ops...)
	chunks, err := catalog.First(coll, c.Bounds, names)
	if err != nil {
		return err
	}
	table, err := catalog.NewTable(coll, chunks)
	if err != nil {
		return err
	}
	for _, name := range table.Shards() {
		f.shards[name] = append(f.shards[name], c.create(coll.UUID, coll.Key))
	}
	for _, doc := range c.Docs {
		if err := f.insert(table, doc); err != nil {
			return err
		}
	}
	return nil
}

// addUnsharded makes the collection, and its database unless an earlier one has.
func (f *bootstrapState) addUnsharded(top Topology, c *Collection) error {
	d := configsvr.NewDatabase(catalog.DatabaseOf(c.NS), top.ShardNames()[0], firstClusterTime)
	op, err := configsvr.PutDatabase(d, "create")
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(
		f.config, func(old oplog.Op) bool { return old.NS == op.NS && old.ID == op.ID },
	) {
		f.config = append(f.config, op)
	}
	f.shards[d.Primary] = append(f.shards[d.Primary], c.create(c.UUID(), catalog.Unsharded))
	table, err := d.Table(c.NS)
	if err != nil {
		return err
	}
	for _, doc := range c.Docs {
		if err := f.insert(table, doc); err != nil {
			return err
		}
	}
	return nil
}

func (f *bootstrapState) insert(table *catalog.Table, doc bson.Raw) error {
	coll := table.Collection()
	k, err := coll.Key.Of(doc)
	if err != nil {
		return err
	}
	id, err := key.ID(doc)
	if err != nil {
		return err
	}
	owner := table.Owner(k).Shard
	f.shards[owner] = append(f.shards[owner], oplog.Op{
		Kind: oplog.Insert, NS: coll.NS, ID: id, Doc: doc, Actor: uint8(trace.System),
		DocumentKey: coll.Key.DocumentKey(doc),
	})
	return nil
}

// create makes the collection on a shard.
func (c *Collection) create(uuid string, pattern key.Pattern) oplog.Op {
	options := store.EncodeOptions(uuid, pattern)
	if len(c.Options) > 0 {
		options = store.WithOptions(options, c.Options)
	}
	return oplog.Op{Kind: oplog.Create, NS: c.NS, Doc: options, Actor: uint8(trace.System)}
}

// bootstrapper watches a member and, when it becomes primary of an empty replica set, writes the
// initial state before any other write: in one entry, so that a failover leaves all of it or
// nothing.
type bootstrapper struct {
	member *replset.Member
	ops    []oplog.Op
}

func (f bootstrapper) StepUp(t env.Task) error {
	if !f.bootstrapped() {
		if _, err := f.member.Write(t, f.ops...); err != nil {
			return err
		}
	}
	return f.member.AwaitMajority(t)
}

// bootstrapped reports whether the first document of the initial state is there, and with it all of
// them. It is one that nothing removes: collections may be dropped, and shards may leave.
func (f bootstrapper) bootstrapped() bool {
	return f.member.Store().Get(f.ops[0].NS, f.ops[0].ID, store.Latest) != nil
}

func (bootstrapper) Applied(uint64, *oplog.Entry, bool) {}
func (bootstrapper) RolledBack(uint64)                  {}
func (bootstrapper) Reset(uint64)                       {}
func (bootstrapper) Committed(uint64)                   {}
func (bootstrapper) StepDown()                          {}
