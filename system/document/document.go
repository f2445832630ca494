// Package document reads documents field by field, without decoding what nobody asks for.
//
// Promise: a field that is handed out was found whole; a document that is not is errcode.BadValue,
// after the fields before the damage. Nothing is copied.
//
// Refusal: it does not look into values.
package document

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/system/errcode"
)

// MaxBytes is the most bytes that a document of a client may have, as clients are told. An answer
// of several documents gets no further one from so many bytes on: it has to fit into a message.
const MaxBytes = 16 << 20

// Fields calls each for the fields in their order until one returns false; what it returns then is
// whether all were seen. The name is valid during the call. Nil is a document without fields.
func Fields(doc bson.Raw, each func(name []byte, v bson.RawValue) bool) (all bool, err error) {
	if doc == nil {
		return true, nil
	}
	n, rest, ok := bsoncore.ReadLength(doc)
	if !ok || int(n) != len(doc) || n < 5 {
		return false, malformed("a document of %d bytes is malformed", len(doc))
	}
	for len(rest) > 1 {
		name, v, after, ok := field(rest)
		if !ok {
			return false, malformed("a document is malformed %d bytes before its end", len(rest))
		}
		if !each(name, v) {
			return false, nil
		}
		rest = after
	}
	if len(rest) != 1 || rest[0] != 0 {
		return false, malformed("a document of %d bytes does not end with zero", len(doc))
	}
	return true, nil
}

// field takes the first field of what begins with one.
func field(b []byte) (name []byte, v bson.RawValue, after []byte, ok bool) {
	end := bytes.IndexByte(b[1:], 0) + 1
	if end == 0 {
		return nil, v, nil, false
	}
	value, after, ok := bsoncore.ReadValue(b[end+1:], bsoncore.Type(b[0]))
	return b[1:end], bson.RawValue{Type: bson.Type(value.Type), Value: value.Data}, after, ok
}

func malformed(format string, bytes int) error {
	return errcode.New(errcode.BadValue, format, bytes)
}

// Field is the first field of that name, false when the document has none.
func Field(doc bson.Raw, name string) (found bson.RawValue, ok bool) {
	_, err := Fields(doc, func(field []byte, v bson.RawValue) bool {
		if ok = string(field) == name; ok {
			found = v
		}
		return !ok
	})
	return found, ok && err == nil
}
