package configsvr

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

// NewCollection is a collection that is made at a time, which makes its identity unique.
func NewCollection(ns string, pattern key.Pattern, at hlc.Timestamp) catalog.Collection {
	return catalog.Collection{
		NS: ns, UUID: fmt.Sprintf("uuid-%s-%s", ns, at), Epoch: epochOf(at), Timestamp: at,
		Key: pattern, AllowMigrations: true,
	}
}

func epochOf(at hlc.Timestamp) string { return fmt.Sprintf("epoch-%s", at) }

// Founding returns the operations that put a new collection with its first chunks into the
// catalog.
func Founding(coll catalog.Collection, bounds []key.Key, shards []string) ([]oplog.Op, error) {
	chunks, err := catalog.First(coll, bounds, shards)
	if err != nil {
		return nil, err
	}
	doc, err := catalog.EncodeCollection(coll)
	if err != nil {
		return nil, err
	}
	const why = "shardCollection"
	ops, err := chunkOpsOf(coll, chunks, why)
	return append([]oplog.Op{putOp(Collections, coll.NS, doc, why)}, ops...), err
}

// PutSetting returns the operation that writes a document of config.settings, which has its _id;
// RemoveSetting the one that removes it.
func PutSetting(id string, doc any) (oplog.Op, error) {
	raw, err := bson.Marshal(doc)
	return putOp(Settings, id, raw, "set "+id), err
}

// RemoveSetting is described with PutSetting.
func RemoveSetting(id string) oplog.Op {
	return oplog.Op{
		Kind:  oplog.Delete,
		NS:    Settings,
		ID:    string(key.String(id)),
		Actor: uint8(trace.System),
		Tag:   "reset " + id,
	}
}

// AddShard returns the operation that makes a shard known.
func AddShard(name, host string) (oplog.Op, error) {
	return PutShard(Shard{Name: name, Host: host}, trace.ShardAdded)
}

// PutShard returns the operation that writes a shard's document; why is a Value of
// trace.ClusterChanged.
func PutShard(d Shard, why trace.ClusterChange) (oplog.Op, error) {
	doc, err := bson.Marshal(d)
	return putOp(Shards, d.Name, doc, why.String()), err
}

// RemoveShard returns the operation after which there is no such shard.
func RemoveShard(name string) oplog.Op {
	op := deleteOp(Shards, name)
	op.Tag = trace.ShardRemoved.String()
	return op
}

// PutZone returns the operation that gives a range of a namespace with that shard key to a zone.
func PutZone(ns string, pattern key.Pattern, z catalog.Zone) (oplog.Op, error) {
	doc, err := catalog.EncodeZone(ns, pattern, z)
	return putOp(Tags, catalog.ZoneID(ns, z.Min), doc, trace.ZoneRange.String()), err
}

// RemoveZone returns the operation after which the zone's range that begins at min is of no zone.
func RemoveZone(ns string, min key.Key) oplog.Op {
	op := deleteOp(Tags, catalog.ZoneID(ns, min))
	op.Tag = trace.ZoneRange.String()
	return op
}

// Identity is the operation by which the config server knows that the cluster is founded
// (config.version). Nothing removes it.
func Identity() (oplog.Op, error) {
	doc, err := bson.Marshal(bson.D{{Key: "_id", Value: clusterID}})
	return putOp("config.version", clusterID, doc, "found"), err
}

// clusterID is that of the one cluster of a world.
const clusterID = "cluster"
