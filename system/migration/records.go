package migration

import (
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/rangedel"
)

// The namespaces of the durable records (protocol 2.2).
const (
	CoordinatorsNS = "config.migrationCoordinators"
	RecipientsNS   = "config.migrationRecipients"
)

// Decision is the outcome of a migration, empty while it is open.
type Decision string

// The decisions.
const (
	Committed Decision = "committed"
	Aborted   Decision = "aborted"
)

// made is the decision as events have it.
func (d Decision) made() trace.Decision {
	made, _ := trace.ParseDecision(string(d))
	return made
}

// Coordinator is what a donor must not forget of a migration: it is written before the recipient
// learns of the migration and removed when everything is done on both sides.
type Coordinator struct {
	Migration string `bson:"_id"`
	Session   string `bson:"migrationSessionId"`
	Lsid      string `bson:"lsid"`
	Txn       int64  `bson:"txnNumber"`
	NS        string `bson:"nss"`
	UUID      string `bson:"collectionUuid"`
	Donor     string `bson:"donorShardId"`
	Recipient string `bson:"recipientShardId"`
	Min       []byte `bson:"min"`
	Max       []byte `bson:"max"`
	// ChunkMin and ChunkMax bound the chunk that the range was part of, Before is its version: what
	// fences a late commit.
	ChunkMin []byte     `bson:"chunkMin"`
	ChunkMax []byte     `bson:"chunkMax"`
	Before   versionDoc `bson:"preMigrationChunkVersion"`
	Decision Decision   `bson:"decision,omitempty"`
}

type versionDoc struct {
	Major     uint32        `bson:"major"`
	Minor     uint32        `bson:"minor"`
	Epoch     string        `bson:"epoch"`
	Timestamp hlc.Timestamp `bson:"timestamp"`
}

func toVersionDoc(v catalog.Version) versionDoc {
	return versionDoc{v.Major, v.Minor, v.Epoch, v.Timestamp}
}

func (v versionDoc) version() catalog.Version {
	return catalog.Version{Major: v.Major, Minor: v.Minor, Epoch: v.Epoch, Timestamp: v.Timestamp}
}

// Range is what moves.
func (c *Coordinator) Range() key.Range {
	return key.Range{Min: key.Key(c.Min), Max: key.Key(c.Max)}
}

// task names the range deletion tasks of the migration, on either side.
func (c *Coordinator) task() rangedel.For {
	return rangedel.For{Migration: c.Migration, UUID: c.UUID, Range: c.Range()}
}

// Receipt is what a recipient must not forget: that it holds its critical section until the donor
// releases it.
type Receipt struct {
	Migration string `bson:"_id"`
	Session   string `bson:"migrationSessionId"`
	NS        string `bson:"nss"`
	UUID      string `bson:"collectionUuid"`
	Min       []byte `bson:"min"`
	Max       []byte `bson:"max"`
	Donor     string `bson:"donorShardId"`
	Lsid      string `bson:"lsid"`
	Txn       int64  `bson:"txnNumber"`
}
