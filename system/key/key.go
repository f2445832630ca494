// Package key is the order of values: shard keys, their ranges and their hashes. A Key is an
// encoding of a BSON value whose byte order is the order of the values, so that everything above
// compares keys with < and never looks inside.
//
// Promise: numbers of all types compare by value, exactly; equal values have equal keys. No key is
// a prefix of another, so concatenations (shard key, _id) sort by their parts.
//
// Refusal: documents, arrays, regular expressions, decimals and deprecated types are not keys.
package key

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/system/errcode"
)

// Key is an order-preserving encoding of a value. The empty Key is no value and is below every Key.
type Key string

// The ends of the order.
const (
	Min Key = "\x00"
	Max Key = "\xff"
)

// The first byte of a key is its type's place in the order that MongoDB gives to types.
const (
	tagMin       = 0x00
	tagNull      = 0x08
	tagNaN       = 0x10 // NaN is below all other numbers
	tagNegative  = 0x11
	tagZero      = 0x12
	tagPositive  = 0x13
	tagString    = 0x20
	tagBinary    = 0x30
	tagObjectID  = 0x38
	tagBool      = 0x40
	tagDate      = 0x48
	tagTimestamp = 0x50
	tagMax       = 0xff
)

// Encode returns the key of a value; errcode.BadValue for a type that cannot be one. The zero
// RawValue is null.
func Encode(v bson.RawValue) (Key, error) {
	var space [40]byte
	b, err := Append(space[:0], v)
	return Key(b), err
}

// Append adds the key of v to dst, for callers that compare without keeping.
func Append(dst []byte, v bson.RawValue) ([]byte, error) {
	c := bsoncore.Value{Type: bsoncore.Type(v.Type), Data: v.Value}
	if c.Type != 0 && c.Validate() != nil {
		return nil, errcode.New(errcode.BadValue, "a value of type %s is malformed", v.Type)
	}
	switch v.Type {
	case bson.TypeInt32:
		return appendInt(dst, int64(c.Int32())), nil
	case bson.TypeInt64:
		return appendInt(dst, c.Int64()), nil
	case bson.TypeDouble:
		return appendDouble(dst, binary.LittleEndian.Uint64(v.Value)), nil
	case bson.TypeString:
		return appendText(append(dst, tagString), c.StringValue()), nil
	}
	return appendOther(dst, c)
}

func appendOther(dst []byte, v bsoncore.Value) ([]byte, error) {
	switch v.Type {
	case bsoncore.TypeMinKey:
		return append(dst, tagMin), nil
	case bsoncore.TypeMaxKey:
		return append(dst, tagMax), nil
	case 0, bsoncore.TypeNull:
		return append(dst, tagNull), nil
	case bsoncore.TypeBoolean:
		return append(dst, tagBool, v.Data[0]), nil
	case bsoncore.TypeObjectID:
		return append(append(dst, tagObjectID), v.Data...), nil
	case bsoncore.TypeDateTime:
		return binary.BigEndian.AppendUint64(append(dst, tagDate), uint64(v.DateTime())^1<<63), nil
	case bsoncore.TypeTimestamp:
		return binary.BigEndian.AppendUint64(append(dst, tagTimestamp),
			binary.LittleEndian.Uint64(v.Data)), nil
	case bsoncore.TypeBinary:
		subtype, data := v.Binary()
		dst = binary.BigEndian.AppendUint32(append(dst, tagBinary), uint32(len(data)))
		return append(append(dst, subtype), data...), nil
	}
	return nil, errcode.New(errcode.BadValue, "a value of type %s cannot be a key", v.Type)
}

// Int is the key of a whole number.
func Int(n int64) Key {
	var space [numberSize]byte
	return Key(appendInt(space[:0], n))
}

// String is the key of a string value.
func String(s string) Key {
	return Key(appendText(append(make([]byte, 0, len(s)+2), tagString), s))
}

// ID is the key of a document's _id, as a plain string: the name of the document within its
// collection.
func ID(doc bson.Raw) (string, error) {
	v, err := doc.LookupErr("_id")
	if err != nil {
		return "", errcode.New(errcode.BadValue, "a document has no _id")
	}
	k, err := Encode(v)
	return string(k), err
}

// After is the lowest bound above k: it makes a range end just behind a value, or begin there.
func After(k Key) Key { return k + "\x00" }

// Class is equal for types that compare with each other in a query; all numbers are of one class.
func (k Key) Class() byte {
	if k == "" {
		return tagNull
	}
	if tag := k[0]; tag < tagNaN || tag > tagPositive {
		return tag
	}
	return tagZero
}

// String is the value for readers: 17, 1.5, "abc", null, MinKey. A bound made by After ends in "+".
func (k Key) String() string {
	v, rest, err := decodeValue(k)
	switch {
	case err != nil:
		return "0x" + hex.EncodeToString([]byte(k))
	case rest == "\x00":
		return k[:len(k)-1].String() + "+"
	case rest != "":
		return "0x" + hex.EncodeToString([]byte(k))
	}
	switch v.Type {
	case bson.TypeMinKey:
		return "MinKey"
	case bson.TypeMaxKey:
		return "MaxKey"
	case bson.TypeInt64:
		return strconv.FormatInt(v.Int64(), 10)
	case bson.TypeDouble:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	case bson.TypeString:
		return strconv.Quote(v.StringValue())
	case bson.TypeBoolean:
		return strconv.FormatBool(v.Boolean())
	}
	return strings.TrimSpace(fmt.Sprint(v))
}
