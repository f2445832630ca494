package codec

import (
	"fmt"
	"reflect"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// bsonRegistry is BSON as the driver writes it, but for what BSON has no word for.
var bsonRegistry = newRegistry()

func newRegistry() *bson.Registry {
	r := bson.NewRegistry()
	for _, t := range []reflect.Type{typeAny, typeMessage} {
		r.RegisterTypeEncoder(t, bson.ValueEncoderFunc(encodeAny))
		r.RegisterTypeDecoder(t, bson.ValueDecoderFunc(decodeAny))
	}
	r.RegisterTypeEncoder(typeRaw, bson.ValueEncoderFunc(encodeRaw))
	r.RegisterTypeDecoder(typeRaw, bson.ValueDecoderFunc(decodeRaw))
	r.RegisterKindEncoder(reflect.String, bson.ValueEncoderFunc(encodeText))
	r.RegisterKindDecoder(reflect.String, bson.ValueDecoderFunc(decodeText))
	for _, k := range []reflect.Kind{reflect.Uint64, reflect.Uint} {
		r.RegisterKindEncoder(k, bson.ValueEncoderFunc(encodeUint))
		r.RegisterKindDecoder(k, bson.ValueDecoderFunc(decodeUint))
	}
	return r
}

// A value of type any is a pointer to a registered type and is written as a document of one
// element: {name: value}.

func encodeAny(ec bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
	if v.IsNil() {
		return w.WriteNull()
	}
	v = v.Elem()
	if v.Kind() != reflect.Pointer || v.IsNil() ||
		typesByName[v.Type().Elem().String()] != v.Type().Elem() {
		return fmt.Errorf("codec: a value of type %s is no registered message", v.Type())
	}
	encoder, err := ec.LookupEncoder(v.Type())
	if err != nil {
		return err
	}
	doc, err := w.WriteDocument()
	if err != nil {
		return err
	}
	element, err := doc.WriteDocumentElement(v.Type().Elem().String())
	if err != nil {
		return err
	}
	if err := encoder.EncodeValue(ec, element, v); err != nil {
		return err
	}
	return doc.WriteDocumentEnd()
}

func decodeAny(dc bson.DecodeContext, r bson.ValueReader, v reflect.Value) error {
	if r.Type() == bson.TypeNull {
		v.SetZero()
		return r.ReadNull()
	}
	doc, err := r.ReadDocument()
	if err != nil {
		return err
	}
	name, element, err := doc.ReadElement()
	if err != nil {
		return err
	}
	t, known := typesByName[name]
	if !known {
		return fmt.Errorf("codec: no message is called %q", name)
	}
	decoder, err := dc.LookupDecoder(reflect.PointerTo(t))
	if err != nil {
		return err
	}
	m := reflect.New(reflect.PointerTo(t)).Elem()
	if err := decoder.DecodeValue(dc, element, m); err != nil {
		return err
	}
	v.Set(m)
	if _, _, err := doc.ReadElement(); err != bson.ErrEOD {
		return fmt.Errorf("codec: message %s is followed by more (%v)", name, err)
	}
	return nil
}

// Documents are written as bytes, so that any content is carried; nil is null.

func encodeRaw(_ bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
	if v.IsNil() {
		return w.WriteNull()
	}
	return w.WriteBinary(v.Bytes())
}

func decodeRaw(_ bson.DecodeContext, r bson.ValueReader, v reflect.Value) error {
	if r.Type() == bson.TypeNull {
		v.SetZero()
		return r.ReadNull()
	}
	b, _, err := r.ReadBinary()
	v.SetBytes(append([]byte{}, b...))
	return err
}

// Texts that BSON cannot hold, such as encoded keys, are written as bytes.

func encodeText(_ bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
	if s := v.String(); !utf8.ValidString(s) {
		return w.WriteBinary([]byte(s))
	}
	return w.WriteString(v.String())
}

func decodeText(_ bson.DecodeContext, r bson.ValueReader, v reflect.Value) error {
	if r.Type() == bson.TypeBinary {
		b, _, err := r.ReadBinary()
		v.SetString(string(b))
		return err
	}
	s, err := r.ReadString()
	v.SetString(s)
	return err
}

// BSON's whole numbers are signed; the bits are the same.

func encodeUint(_ bson.EncodeContext, w bson.ValueWriter, v reflect.Value) error {
	return w.WriteInt64(int64(v.Uint()))
}

func decodeUint(_ bson.DecodeContext, r bson.ValueReader, v reflect.Value) error {
	n, err := r.ReadInt64()
	v.SetUint(uint64(n))
	return err
}
