package catalog

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// A document of config.chunks (protocol 2.1) is {_id, uuid, min, max, shard, lastmod, history:
// [{validAfter, shard}], jumbo if it is, onCurrentShardSince}. The incarnation is the collection's.
// Chunks are read and written more often than any other record, so this is done by hand.

// EncodeChunk returns the document of config.chunks.
func EncodeChunk(coll Collection, c Chunk) (bson.Raw, error) {
	at, b := bsoncore.AppendDocumentStart(make([]byte, 0, 320))
	b = bsoncore.AppendStringElement(b, "_id", ChunkID(coll.UUID, c.Min))
	b = bsoncore.AppendStringElement(b, "uuid", coll.UUID)
	var err error
	if b, err = appendBound(b, "min", coll.Key, c.Min); err != nil {
		return nil, err
	}
	if b, err = appendBound(b, "max", coll.Key, c.Max); err != nil {
		return nil, err
	}
	b = bsoncore.AppendStringElement(b, "shard", c.Shard)
	b = bsoncore.AppendTimestampElement(b, "lastmod", c.Version.Major, c.Version.Minor)
	if b, err = appendHistory(b, c.History); err != nil {
		return nil, err
	}
	if c.Jumbo {
		b = bsoncore.AppendBooleanElement(b, "jumbo", true)
	}
	b = appendTime(b, "onCurrentShardSince", c.OnCurrentShardSince)
	return bsoncore.AppendDocumentEnd(b, at)
}

// appendBound appends a bound: a document of one field, as the shard key is; the field's name may
// contain dots.
func appendBound(b []byte, name string, p key.Pattern, k key.Key) ([]byte, error) {
	v, err := key.Decode(k)
	if err != nil {
		return nil, err
	}
	at, b := bsoncore.AppendDocumentElementStart(b, name)
	b = bsoncore.AppendValueElement(b, p.Field, bsoncore.Value{
		Type: bsoncore.Type(v.Type), Data: v.Value,
	})
	return bsoncore.AppendDocumentEnd(b, at)
}

// appendHistory writes null for a chunk without one.
func appendHistory(b []byte, history []Placement) ([]byte, error) {
	if len(history) == 0 {
		return bsoncore.AppendNullElement(b, "history"), nil
	}
	list, b := bsoncore.AppendArrayElementStart(b, "history")
	for i, p := range history {
		var at int32
		at, b = bsoncore.AppendDocumentElementStart(b, strconv.Itoa(i))
		b = appendTime(b, "validAfter", p.ValidAfter)
		b = bsoncore.AppendStringElement(b, "shard", p.Shard)
		var err error
		if b, err = bsoncore.AppendDocumentEnd(b, at); err != nil {
			return nil, err
		}
	}
	return bsoncore.AppendArrayEnd(b, list)
}

func appendTime(b []byte, name string, ts hlc.Timestamp) []byte {
	t := toTimestampBSON(ts)
	return bsoncore.AppendTimestampElement(b, name, t.T, t.I)
}

// DecodeChunk undoes EncodeChunk.
func DecodeChunk(coll Collection, raw bson.Raw) (Chunk, error) {
	d := chunkReader{coll: coll}
	all, err := document.Fields(raw, d.field)
	switch {
	case d.failed != nil:
		err = d.failed
	case err == nil && !all:
		err = errcode.New(errcode.BadValue, "the field %s is of another type", d.wrong)
	case err == nil && (d.Min == "" || d.Max == ""):
		err = errcode.New(errcode.BadValue, "it has no min or max for %s", coll.Key.Field)
	}
	if err != nil {
		return Chunk{}, errcode.New(errcode.BadValue,
			"a document of config.chunks cannot be read: %v", err)
	}
	return d.Chunk, nil
}

// chunkReader takes a document of config.chunks apart. wrong is the field that is of another type.
type chunkReader struct {
	Chunk
	coll   Collection
	wrong  string
	failed error
}

func (d *chunkReader) field(name []byte, v bson.RawValue) (ok bool) {
	switch string(name) {
	case "min":
		d.Min, ok = d.bound(v)
	case "max":
		d.Max, ok = d.bound(v)
	case "shard":
		d.Shard, ok = v.StringValueOK()
	case "lastmod":
		var major, minor uint32
		major, minor, ok = v.TimestampOK()
		d.Version = d.coll.Version().with(major, minor)
	case "history":
		ok = v.Type == bson.TypeNull || d.history(v)
	case "jumbo":
		d.Jumbo, ok = v.BooleanOK()
	case "onCurrentShardSince":
		d.OnCurrentShardSince, ok = timeOf(v)
	default:
		return true
	}
	if !ok {
		d.wrong = string(name)
	}
	return ok
}

func (d *chunkReader) bound(v bson.RawValue) (key.Key, bool) {
	bound, ok := v.DocumentOK()
	if !ok {
		return "", false
	}
	k, err := decodeBound(d.coll.Key, bound, "bound")
	d.failed = err
	return k, err == nil
}

func (d *chunkReader) history(v bson.RawValue) bool {
	list, ok := v.ArrayOK()
	if !ok {
		return false
	}
	all, err := document.Fields(bson.Raw(list), func(_ []byte, v bson.RawValue) bool {
		one, ok := v.DocumentOK()
		if !ok {
			return false
		}
		p, ok := readPlacement(one)
		d.History = append(d.History, p)
		return ok
	})
	d.failed = err
	return all && err == nil
}

func readPlacement(doc bson.Raw) (p Placement, ok bool) {
	all, err := document.Fields(doc, func(name []byte, v bson.RawValue) (ok bool) {
		switch string(name) {
		case "validAfter":
			p.ValidAfter, ok = timeOf(v)
		case "shard":
			p.Shard, ok = v.StringValueOK()
		default:
			return true
		}
		return ok
	})
	return p, all && err == nil
}

func timeOf(v bson.RawValue) (hlc.Timestamp, bool) {
	t, i, ok := v.TimestampOK()
	return fromTimestampBSON(bson.Timestamp{T: t, I: i}), ok
}
