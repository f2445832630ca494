package catalog

import (
	"encoding/hex"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// ChunkID is the _id of the document of the collection's chunk that begins at min. Within a
// collection the _ids sort as the chunks.
func ChunkID(uuid string, min key.Key) string {
	return uuid + "/" + hex.EncodeToString([]byte(min))
}

// ChunkMin undoes ChunkID; "" for the _id of no chunk of the collection.
func ChunkMin(uuid, id string) key.Key {
	digits, of := strings.CutPrefix(id, uuid+"/")
	min, err := hex.DecodeString(digits)
	if !of || err != nil {
		return ""
	}
	return key.Key(min)
}

// ChunkIDs is the range of the encoded _ids of the collection's chunks.
func ChunkIDs(uuid string) key.Range {
	const next = "0" // follows "/"
	return key.Range{Min: key.String(uuid + "/"), Max: key.String(uuid + next)}
}

// Bounds are documents of one field, as the shard key is; the field's name may contain dots.
func encodeBound(p key.Pattern, k key.Key) (bson.Raw, error) {
	v, err := key.Decode(k)
	if err != nil {
		return nil, err
	}
	return bson.Marshal(bson.D{{Key: p.Field, Value: v}})
}

func decodeBound(p key.Pattern, bound bson.Raw, name string) (key.Key, error) {
	v, err := bound.LookupErr(p.Field)
	if err != nil {
		return "", errcode.New(errcode.BadValue, "a document of config.chunks has no %s for %s",
			name, p.Field)
	}
	return key.Encode(v)
}

func toTimestampBSON(ts hlc.Timestamp) bson.Timestamp {
	return bson.Timestamp{T: uint32(ts >> 32), I: uint32(ts)}
}

func fromTimestampBSON(ts bson.Timestamp) hlc.Timestamp {
	return hlc.Timestamp(uint64(ts.T)<<32 | uint64(ts.I))
}

// TimestampBSON is a cluster time as clients know it: the second, which they may compare with a
// clock, and behind that the millisecond in it and the counter.
func TimestampBSON(ts hlc.Timestamp) bson.Timestamp {
	const second = 1000
	seconds := ts.Millis() / second
	return bson.Timestamp{T: uint32(seconds), I: uint32(ts - hlc.At(seconds*second))}
}

// Timestamp undoes TimestampBSON.
func Timestamp(ts bson.Timestamp) hlc.Timestamp {
	const second = 1000
	return hlc.At(int64(ts.T)*second) + hlc.Timestamp(ts.I)
}

// collectionDoc is a document of config.collections.
type collectionDoc struct {
	NS              string         `bson:"_id"`
	UUID            string         `bson:"uuid"`
	Epoch           string         `bson:"lastmodEpoch"`
	Timestamp       bson.Timestamp `bson:"timestamp"`
	Key             bson.Raw       `bson:"key"`
	AllowMigrations bool           `bson:"allowMigrations"`
	NoBalance       bool           `bson:"noBalance,omitempty"`
	ChunkBytes      int64          `bson:"maxChunkSizeBytes,omitempty"`
	Defragment      bool           `bson:"defragmentCollection,omitempty"`
	AutoMerge       *bool          `bson:"enableAutoMerge,omitempty"` // missing: they are joined
}

// EncodeCollection returns the document of config.collections.
func EncodeCollection(c Collection) (bson.Raw, error) {
	doc := collectionDoc{
		NS:              c.NS,
		UUID:            c.UUID,
		Epoch:           c.Epoch,
		Timestamp:       toTimestampBSON(c.Timestamp),
		Key:             c.Key.Document(),
		AllowMigrations: c.AllowMigrations,
		NoBalance:       c.NoBalance,
		ChunkBytes:      c.ChunkBytes,
		Defragment:      c.Defragment,
	}
	if c.NoAutoMerge {
		doc.AutoMerge = new(bool)
	}
	return bson.Marshal(doc)
}

// DecodeCollection undoes EncodeCollection. It is done by hand, for observers of the cluster read
// these documents at every change of the catalog.
func DecodeCollection(raw bson.Raw) (Collection, error) {
	var d collectionReader
	all, err := document.Fields(raw, d.field)
	if err == nil && !all {
		err = errcode.New(errcode.BadValue, "the field %s is of another type", d.wrong)
	}
	if err != nil {
		return Collection{}, errcode.New(errcode.BadValue,
			"a document of config.collections cannot be read: %v", err)
	}
	d.Key, err = key.PatternOf(d.pattern)
	return d.Collection, err
}

// collectionReader takes a document of config.collections apart. wrong is the field that is of
// another type.
type collectionReader struct {
	Collection
	pattern bson.Raw
	wrong   string
}

func (d *collectionReader) field(name []byte, v bson.RawValue) (ok bool) {
	if v.Type == bson.TypeNull {
		return true // as if it were missing
	}
	switch string(name) {
	case "_id":
		d.NS, ok = v.StringValueOK()
	case "uuid":
		d.UUID, ok = v.StringValueOK()
	case "lastmodEpoch":
		d.Epoch, ok = v.StringValueOK()
	case "timestamp":
		d.Timestamp, ok = timeOf(v)
	case "key":
		d.pattern, ok = v.DocumentOK()
	case "allowMigrations":
		d.AllowMigrations, ok = v.BooleanOK()
	case "noBalance":
		d.NoBalance, ok = v.BooleanOK()
	case "maxChunkSizeBytes":
		d.ChunkBytes, ok = v.AsInt64OK()
		ok = ok && v.Type != bson.TypeDouble
	case "defragmentCollection":
		d.Defragment, ok = v.BooleanOK()
	case "enableAutoMerge":
		var merges bool
		merges, ok = v.BooleanOK()
		d.NoAutoMerge = !merges
	default:
		return true
	}
	if !ok {
		d.wrong = string(name)
	}
	return ok
}

// zoneDoc is a document of config.tags.
type zoneDoc struct {
	ID  string   `bson:"_id"`
	NS  string   `bson:"ns"`
	Min bson.Raw `bson:"min"`
	Max bson.Raw `bson:"max"`
	Tag string   `bson:"tag"`
}

// ZoneID is the _id of the document of the zone of the namespace that begins at min. Within a
// namespace the _ids sort as the ranges.
func ZoneID(ns string, min key.Key) string { return ns + "/" + hex.EncodeToString([]byte(min)) }

// ParseZoneID undoes ZoneID.
func ParseZoneID(id string) (ns string, min key.Key, err error) {
	i := strings.LastIndexByte(id, '/')
	if i < 0 {
		return "", "", errcode.New(errcode.BadValue, "%q is the _id of no zone", id)
	}
	bound, err := hex.DecodeString(id[i+1:])
	return id[:i], key.Key(bound), err
}

// EncodeZone returns the document of config.tags for a zone of the namespace, whose shard key is
// the pattern.
func EncodeZone(ns string, p key.Pattern, z Zone) (bson.Raw, error) {
	doc := zoneDoc{ID: ZoneID(ns, z.Min), NS: ns, Tag: z.Name}
	var err error
	if doc.Min, err = encodeBound(p, z.Min); err != nil {
		return nil, err
	}
	if doc.Max, err = encodeBound(p, z.Max); err != nil {
		return nil, err
	}
	return bson.Marshal(doc)
}

// DecodeZone undoes EncodeZone.
func DecodeZone(p key.Pattern, raw bson.Raw) (Zone, error) {
	_, field, z, err := DecodeAnyZone(raw)
	if err == nil && field != p.Field {
		err = errcode.New(errcode.BadValue, "a document of config.tags is about %s, not %s",
			field, p.Field)
	}
	return z, err
}

// DecodeAnyZone reads a document of config.tags and returns its namespace and the field of its
// bounds, too.
func DecodeAnyZone(raw bson.Raw) (ns, field string, z Zone, err error) {
	var doc zoneDoc
	if err := bson.Unmarshal(raw, &doc); err != nil {
		return "", "", z, errcode.New(errcode.BadValue,
			"a document of config.tags cannot be read: %v", err)
	}
	first, err := doc.Min.IndexErr(0)
	if err != nil {
		return "", "", z, errcode.New(errcode.BadValue,
			"a document of config.tags has no min: %v", err)
	}
	p := key.Pattern{Field: first.Key()}
	z.Name = doc.Tag
	if z.Min, err = decodeBound(p, doc.Min, "min"); err != nil {
		return doc.NS, p.Field, z, err
	}
	z.Max, err = decodeBound(p, doc.Max, "max")
	return doc.NS, p.Field, z, err
}
