// Package codec turns messages between nodes into bytes and back. Packages that declare messages
// register them when the program starts; the world then proves with it that nodes share no state,
// or sends the bytes to another process.
//
// Promise: what is decoded equals what was encoded in every exported field, with bytes and texts of
// any content, and shares no memory with it; equal messages give equal bytes.
//
// Refusal: a type that holds what would be lost or has no order (unexported fields, maps,
// functions, channels) cannot be registered.
package codec

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
)

// typesByName is filled while packages are initialised and never changes afterwards.
var typesByName = make(map[string]reflect.Type)

// Register makes *T a message. A type with its own MarshalBSON and UnmarshalBSON may hold anything.
// It panics for a type that cannot be a message and for two types of one name.
func Register[T any]() {
	t := reflect.TypeFor[T]()
	if err := checkType(t, t.String()); err != nil {
		panic(err)
	}
	if other, taken := typesByName[t.String()]; taken && other != t {
		panic(fmt.Sprintf("codec: two message types are called %s", t))
	}
	typesByName[t.String()] = t
}

// Registered returns the names of all message types, sorted: "command.Insert".
func Registered() []string {
	names := make([]string, 0, len(typesByName))
	for name := range typesByName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// New returns a zero message of the type with this name, as a pointer; false when there is none.
func New(name string) (env.Message, bool) {
	t, known := typesByName[name]
	if !known {
		return nil, false
	}
	return reflect.New(t).Interface(), true
}

// BSON is the codec.
var BSON env.Codec = bsonCodec{}

type bsonCodec struct{}

// typedMessage gives a message of any type a place of type any, where its name is written with it.
type typedMessage struct{ M env.Message }

// Encode implements env.Codec.
func (bsonCodec) Encode(m env.Message) ([]byte, error) {
	var b bytes.Buffer
	e := bson.NewEncoder(bson.NewDocumentWriter(&b))
	e.SetRegistry(bsonRegistry)
	err := e.Encode(typedMessage{m})
	return b.Bytes(), err
}

// Decode implements env.Codec. What is no valid document is refused first: the library may read
// some of it without end.
func (bsonCodec) Decode(b []byte) (env.Message, error) {
	if err := bson.Raw(b).Validate(); err != nil {
		return nil, err
	}
	var p typedMessage
	err := bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: b}.
		UnmarshalWithRegistry(bsonRegistry, &p)
	return p.M, err
}

var (
	typeAny       = reflect.TypeFor[any]()
	typeMessage   = reflect.TypeFor[env.Message]()
	typeMarshaler = reflect.TypeFor[bson.Marshaler]()
	typeRaw       = reflect.TypeFor[bson.Raw]()
)

// checkType returns an error that names the part of a type that cannot be carried.
func checkType(t reflect.Type, path string) error {
	if t == typeRaw || t == typeAny || t == typeMessage ||
		reflect.PointerTo(t).Implements(typeMarshaler) {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				return fmt.Errorf("codec: %s.%s would be lost, as it is not exported", path, f.Name)
			}
			if err := checkType(f.Type, path+"."+f.Name); err != nil {
				return err
			}
		}
		return nil
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return checkType(t.Elem(), path)
	case reflect.Map, reflect.Func, reflect.Chan, reflect.Interface, reflect.Float32,
		reflect.Float64, reflect.UnsafePointer:
		return fmt.Errorf("codec: %s is of type %s, which cannot be in a message", path, t)
	}
	return nil
}
