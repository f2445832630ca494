package catalog

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// DatabaseVersion is the version of a database (protocol 3.1). LastMod is at least 1 and grows by
// one with every movePrimary; UUID and Timestamp are those of the database's incarnation.
type DatabaseVersion struct {
	UUID      string
	Timestamp hlc.Timestamp
	LastMod   uint32
}

// String is "3||uuid".
func (v DatabaseVersion) String() string { return fmt.Sprintf("%d||%s", v.LastMod, v.UUID) }

// placed is the version of what lives on the primary shard. As a chunk's, it is comparable within
// one incarnation only.
func (v DatabaseVersion) placed() Version {
	return Version{Major: v.LastMod, Epoch: v.UUID, Timestamp: v.Timestamp}
}

// Database is what the catalog knows of a database: where its unsharded collections are.
type Database struct {
	Name    string
	Primary string
	Version DatabaseVersion
}

// DatabaseOf is the database of a namespace.
func DatabaseOf(ns string) string {
	name, _, _ := strings.Cut(ns, ".")
	return name
}

// Sessions is the collection of sessions, which are spread over the shards by their identity and
// which the balancer splits (protocol 13.2). It is like those of users, in a database that is
// otherwise the servers' own.
const Sessions = "config.system.sessions"

// IsInternal reports whether servers keep a namespace, or a whole database, for themselves. A shard
// has records there under names that a collection of clients must not have: with one document of
// another form among them, no member could read them any more.
func IsInternal(ns string) bool {
	switch DatabaseOf(ns) {
	case "config", "local":
		return ns != Sessions
	case "admin":
		return strings.HasPrefix(ns, "admin.system.")
	}
	return false
}

// On is the database after its primary has moved.
func (d Database) On(shard string) Database {
	d.Primary = shard
	d.Version.LastMod++
	return d
}

// Table is the routing table of an unsharded collection of the database: the primary shard owns
// every key, under the database's version. Versions of a database and of chunks obey the same
// rules, so routers and shards need no others.
func (d Database) Table(ns string) (*Table, error) {
	coll := Collection{
		NS:        ns,
		Epoch:     d.Version.UUID,
		Timestamp: d.Version.Timestamp,
		Key:       Unsharded,
		Unsharded: true,
	}
	return NewTable(coll,
		[]Chunk{{Range: key.Everything, Shard: d.Primary, Version: d.Version.placed()}})
}

// Unsharded is how an unsharded collection is kept: by its _id. A collection that is sharded by its
// _id has another pattern.
var Unsharded = key.Pattern{Field: "_id", Unsharded: true}

// databaseDoc is a document of config.databases (protocol 2.1).
type databaseDoc struct {
	Name    string             `bson:"_id"`
	Primary string             `bson:"primary"`
	Version databaseVersionDoc `bson:"version"`
}

type databaseVersionDoc struct {
	UUID      string         `bson:"uuid"`
	Timestamp bson.Timestamp `bson:"timestamp"`
	LastMod   int64          `bson:"lastMod"`
}

// EncodeDatabase returns the document of config.databases.
func EncodeDatabase(d Database) (bson.Raw, error) {
	v := databaseVersionDoc{
		d.Version.UUID, toTimestampBSON(d.Version.Timestamp), int64(d.Version.LastMod),
	}
	return bson.Marshal(databaseDoc{d.Name, d.Primary, v})
}

// DecodeDatabase undoes EncodeDatabase.
func DecodeDatabase(raw bson.Raw) (Database, error) {
	var doc databaseDoc
	if err := bson.Unmarshal(raw, &doc); err != nil {
		return Database{}, errcode.New(errcode.BadValue,
			"a document of config.databases cannot be read: %v", err)
	}
	v := DatabaseVersion{
		doc.Version.UUID, fromTimestampBSON(doc.Version.Timestamp), uint32(doc.Version.LastMod),
	}
	return Database{doc.Name, doc.Primary, v}, nil
}
