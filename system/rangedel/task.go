package rangedel

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// Namespace holds the tasks of a shard.
const Namespace = "config.rangeDeletions"

// When says how soon a ready task may begin.
type When string

// The values of When.
const (
	// Now is for a range that this shard never owned since its documents arrived.
	Now When = "now"
	// Delayed leaves time to those who still read with metadata from before the migration.
	Delayed When = "delayed"
)

// Task is the durable promise to delete a range of a collection (protocol 2.2, 10.3). Its identity
// is the migration that made it; a request to change it names the collection and range as well.
type Task struct {
	Migration string `bson:"_id"`
	NS        string `bson:"nss"`
	UUID      string `bson:"collectionUuid"`
	Donor     string `bson:"donorShardId"`
	Min       []byte `bson:"min"`
	Max       []byte `bson:"max"`
	// Pending: the outcome of the migration is open, the range may be owned or received.
	Pending bool `bson:"pending,omitempty"`
	// Processing: documents may already be gone.
	Processing bool          `bson:"processing,omitempty"`
	When       When          `bson:"whenToClean"`
	At         hlc.Timestamp `bson:"timestamp"`
	// Orphans counts the documents of the range that this shard holds and does not own. It changes
	// in the entry of what it counts; on the donor of an open migration it is zero, as nothing is
	// an orphan yet (protocol 10.6).
	Orphans int64 `bson:"numOrphanDocs"`
}

// isSet reads one of the booleans of a stored task, without decoding all of it.
func isSet(doc bson.Raw, name string) bool {
	v, _ := document.Field(doc, name)
	is, _ := v.BooleanOK()
	return is
}

// placeOf is the collection and the range of a stored task.
func placeOf(doc bson.Raw) (ns string, r key.Range) {
	bound := func(name string) key.Key {
		v, _ := document.Field(doc, name)
		_, b, _ := v.BinaryOK()
		return key.Key(b)
	}
	return textOf(doc, "nss"), key.Range{Min: bound("min"), Max: bound("max")}
}

func textOf(doc bson.Raw, name string) string {
	v, _ := document.Field(doc, name)
	text, _ := v.StringValueOK()
	return text
}

// Decode reads a task as it is stored.
func Decode(doc bson.Raw) (k Task, err error) { return k, bson.Unmarshal(doc, &k) }

// Range is what the task is to delete.
func (k Task) Range() key.Range { return key.Range{Min: key.Key(k.Min), Max: key.Key(k.Max)} }

// For names a task from outside.
type For struct {
	Migration string
	UUID      string
	Range     key.Range
}

// For is the task's full identity.
func (k Task) For() For { return For{k.Migration, k.UUID, k.Range()} }
