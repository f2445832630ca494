package configsvr

import (
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// collRecord is an incarnation of a collection inside the record of an operation.
type collRecord struct {
	UUID   string `bson:"uuid"`
	Epoch  string `bson:"epoch"`
	At     int64  `bson:"timestamp"`
	Field  string `bson:"field"`
	Hashed bool   `bson:"hashed"`
}

func toCollRecord(c catalog.Collection) collRecord {
	return collRecord{
		UUID:   c.UUID,
		Epoch:  c.Epoch,
		At:     int64(c.Timestamp),
		Field:  c.Key.Field,
		Hashed: c.Key.Hashed,
	}
}

func (r collRecord) collection(ns string) catalog.Collection {
	return catalog.Collection{
		NS: ns, UUID: r.UUID, Epoch: r.Epoch, Timestamp: hlc.Timestamp(r.At),
		Key: key.Pattern{Field: r.Field, Hashed: r.Hashed}, AllowMigrations: true,
	}
}

func (op *ddlOperation) number() hlc.Timestamp { return hlc.Timestamp(op.Number) }

func (op *ddlOperation) bounds() []key.Key {
	bounds := make([]key.Key, len(op.Bounds))
	for i, b := range op.Bounds {
		bounds[i] = key.Key(b)
	}
	return bounds
}
