package key

import (
	"crypto/md5"
	"encoding/binary"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/errcode"
)

// Pattern says which field of a document is the shard key. Hashed patterns use the hash of the
// value, a whole number.
type Pattern struct {
	Field  string // may be dotted
	Hashed bool
	// Unsharded says that there is no shard key: it is only the order in which documents are kept.
	Unsharded bool
}

// IsZero reports whether there is no pattern.
func (p Pattern) IsZero() bool { return p.Field == "" }

// SameOrder reports whether documents have the same keys by both, sharded or not.
func (p Pattern) SameOrder(q Pattern) bool { return p.Field == q.Field && p.Hashed == q.Hashed }

// Of returns the shard key of a document; a missing field is null. Arrays, MaxKey (which no range
// contains) and everything that cannot be a key are an errcode.BadValue.
func (p Pattern) Of(doc bson.Raw) (Key, error) {
	v, err := Lookup(doc, p.Field)
	if err != nil {
		return "", err
	}
	return p.OfValue(v)
}

// OfValue returns the shard key of a document whose field has the value.
func (p Pattern) OfValue(v bson.RawValue) (Key, error) {
	if p.Hashed {
		return p.hashed(v)
	}
	k, err := Encode(v)
	if k == Max {
		return "", errcode.New(errcode.BadValue,
			"MaxKey cannot be the shard key %s of a document", p.Field)
	}
	return k, err
}

func (p Pattern) hashed(v bson.RawValue) (Key, error) {
	var space [40]byte
	b, err := Append(space[:0], v)
	if err != nil {
		return "", err
	}
	return Int(hashBytes(b)), nil
}

// Lookup returns the value at a dotted path through embedded documents, null when it is missing. A
// path through an array is an errcode.BadValue, as it would have many values.
func Lookup(doc bson.Raw, path string) (bson.RawValue, error) {
	field, inner, nested := strings.Cut(path, ".")
	v, found := document.Field(doc, field)
	switch {
	case !found:
		return bson.RawValue{Type: bson.TypeNull}, nil
	case !nested:
		return v, nil
	case v.Type == bson.TypeEmbeddedDocument:
		return Lookup(v.Document(), inner)
	case v.Type == bson.TypeArray:
		return bson.RawValue{}, errcode.New(errcode.BadValue,
			"the path %s leads through an array", path)
	}
	return bson.RawValue{Type: bson.TypeNull}, nil
}

// In reports whether the document has the pattern's field, be it null.
func (p Pattern) In(doc bson.Raw) bool {
	for path := p.Field; ; {
		field, inner, nested := strings.Cut(path, ".")
		v, found := document.Field(doc, field)
		switch {
		case !found || nested && v.Type != bson.TypeEmbeddedDocument:
			return false
		case !nested:
			return true
		}
		doc, path = v.Document(), inner
	}
}

// hashBytes is the first eight bytes of the MD5 sum, as a number.
func hashBytes(b []byte) int64 {
	sum := md5.Sum(b)
	return int64(binary.LittleEndian.Uint64(sum[:8]))
}

// Document is the pattern as a catalog writes it: {k: 1} or {k: "hashed"}; nil for the zero
// Pattern.
func (p Pattern) Document() bson.Raw {
	switch {
	case p.IsZero():
		return nil
	case p.Hashed:
		return bson.Raw(bsoncore.BuildDocument(nil,
			bsoncore.AppendStringElement(nil, p.Field, hashedIndex)))
	}
	return bson.Raw(bsoncore.BuildDocument(nil, bsoncore.AppendInt32Element(nil, p.Field, 1)))
}

const hashedIndex = "hashed"

// DocumentKey is the field of the shard key and the _id of a document: {k: 1, _id: 7}. It is nil
// where the _id alone says as much: without a shard key, where that is the _id, and where the
// document has no such field.
func (p Pattern) DocumentKey(doc bson.Raw) bson.Raw {
	if p.IsZero() || p.Unsharded || p.Field == "_id" || !p.In(doc) {
		return nil
	}
	at, b := bsoncore.AppendDocumentStart(make([]byte, 0, 48))
	for _, name := range []string{p.Field, "_id"} {
		if v, err := Lookup(doc, name); err == nil {
			b = bsoncore.AppendHeader(b, bsoncore.Type(v.Type), name)
			b = append(b, v.Value...)
		}
	}
	b, err := bsoncore.AppendDocumentEnd(b, at)
	if err != nil {
		panic("key: a document key cannot be ended: " + err.Error())
	}
	return b
}

// PatternOf undoes Document; errcode.BadValue for a document that is no pattern of one field.
func PatternOf(doc bson.Raw) (Pattern, error) {
	elements, err := doc.Elements()
	if err != nil || len(elements) != 1 || elements[0].Key() == "" {
		return Pattern{}, errcode.New(errcode.BadValue,
			"%v is no shard key pattern of one field", doc)
	}
	v := elements[0].Value()
	if s, ok := v.StringValueOK(); ok && s == hashedIndex {
		return Pattern{Field: elements[0].Key(), Hashed: true}, nil
	}
	if n, ok := v.AsInt64OK(); ok && n == 1 {
		return Pattern{Field: elements[0].Key()}, nil
	}
	return Pattern{}, errcode.New(errcode.BadValue,
		"%v is no ascending or hashed shard key pattern", doc)
}
