package store

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

// Snapshot appends the state at an index to b, as bytes that are the same for equal states: one log
// entry that makes everything again.
func (s *Store) Snapshot(b []byte, at uint64) ([]byte, error) {
	if at != Latest && at > s.applied {
		return nil, errcode.New(errcode.Internal, "no snapshot of %d, only %d is applied",
			at, s.applied)
	}
	namespaces := s.Collections(at)
	n, size := len(namespaces), 0
	for _, ns := range namespaces {
		size += len(ns) + len(s.at(ns, at).options)
		s.Scan(ns, at, func(id string, doc bson.Raw) bool {
			n++
			size += len(ns) + len(id) + len(doc)
			return true
		})
	}
	b = oplog.Begin(b, 0, n, size)
	for _, ns := range namespaces {
		b = (&oplog.Op{Kind: oplog.Create, NS: ns, Doc: s.at(ns, at).options}).Append(b)
		s.Scan(ns, at, func(id string, doc bson.Raw) bool {
			b = (&oplog.Op{Kind: oplog.Insert, NS: ns, ID: id, Doc: doc}).Append(b)
			return true
		})
	}
	return b, nil
}

// Restore replaces everything by a snapshot, which was taken at index. On an error the store is
// unchanged. The snapshot's bytes must not be changed afterwards.
func (s *Store) Restore(snapshot []byte, index uint64) error {
	e, err := oplog.Unmarshal(snapshot)
	if err != nil {
		return err
	}
	restored := New()
	if index > 0 {
		err = restored.Apply(index, e.Ops)
	}
	if err != nil || index == 0 && len(e.Ops) > 0 {
		return errcode.New(errcode.BadValue,
			"a snapshot of %d operations cannot be restored at %d: %v", len(e.Ops), index, err)
	}
	restored.SetOldest(index)
	restored.changes += s.changes + 1
	*s = *restored
	return nil
}

// Checksum is a number that is equal for equal states, however they came about.
func (s *Store) Checksum(at uint64) uint64 {
	sum := checksum(keyed.Basis)
	for _, ns := range s.Collections(at) {
		sum.text(ns)
		sum.bytes(s.at(ns, at).options)
		s.Scan(ns, at, func(id string, doc bson.Raw) bool {
			sum.text(id)
			sum.bytes(doc)
			return true
		})
	}
	return keyed.Mix(uint64(sum))
}

// checksum goes on by eight bytes at a time, and by the length, which keeps parts apart.
type checksum uint64

func (c *checksum) word(w uint64) { *c = checksum(keyed.Mix(uint64(*c)+keyed.Golden) ^ w) }

func (c *checksum) bytes(b []byte) {
	c.word(uint64(len(b)))
	for ; len(b) >= 8; b = b[8:] {
		c.word(binary.LittleEndian.Uint64(b))
	}
	var rest [8]byte
	copy(rest[:], b)
	c.word(binary.LittleEndian.Uint64(rest[:]))
}

func (c *checksum) text(s string) { c.bytes([]byte(s)) }

// createOptions is the document of a Create operation.
type createOptions struct {
	UUID string      `bson:"uuid"`
	Key  *optionsKey `bson:"key,omitempty"`
}

type optionsKey struct {
	Field     string `bson:"field"`
	Hashed    bool   `bson:"hashed"`
	Unsharded bool   `bson:"unsharded,omitempty"`
}

// EncodeOptions returns the document of a Create operation; the zero Pattern is for a collection
// without a shard key.
func EncodeOptions(uuid string, p key.Pattern) bson.Raw {
	o := createOptions{UUID: uuid}
	if !p.IsZero() {
		o.Key = &optionsKey{p.Field, p.Hashed, p.Unsharded}
	}
	raw, err := bson.Marshal(o)
	if err != nil {
		panic(err) // two texts and a bool always have a document
	}
	return raw
}

// WithPattern returns the document of a Create operation with another shard key, and everything
// else as it was.
func WithPattern(raw bson.Raw, p key.Pattern) (bson.Raw, error) {
	uuid, _, err := DecodeOptions(raw)
	if err != nil {
		return nil, err
	}
	changed := bson.Raw(EncodeOptions(uuid, p))
	if kept, err := raw.LookupErr(chosenOptions); err == nil {
		return WithOptions(changed, kept.Document()), nil
	}
	return changed, nil
}

// chosenOptions is the field of a Create operation's document with what a client has chosen.
const chosenOptions = "options"

// WithOptions returns the document of a Create operation with the options that a client has chosen;
// what they mean is nothing to the store.
func WithOptions(raw, chosen bson.Raw) bson.Raw {
	open := raw[4 : len(raw)-1]
	b := append(make([]byte, 4), open...)
	b = bsoncore.AppendDocumentElement(b, chosenOptions, bsoncore.Document(chosen))
	doc, err := bsoncore.AppendDocumentEnd(b, 0)
	if err != nil {
		panic(err) // the document was begun with the length that it gets here
	}
	return bson.Raw(doc)
}

// ChosenOptions are the options that a client has chosen; nil for none.
func ChosenOptions(raw bson.Raw) bson.Raw {
	chosen, _ := raw.Lookup(chosenOptions).DocumentOK()
	return chosen
}

// DecodeOptions undoes EncodeOptions; a missing document has no uuid and no shard key.
func DecodeOptions(raw bson.Raw) (uuid string, p key.Pattern, err error) {
	all, err := document.Fields(raw, func(name []byte, v bson.RawValue) (ok bool) {
		switch string(name) {
		case "uuid":
			uuid, ok = v.StringValueOK()
		case "key":
			p, ok = decodePattern(v)
		default:
			return true
		}
		return ok
	})
	if err != nil || !all {
		return "", key.Pattern{}, errcode.New(errcode.BadValue,
			"%v are no options of a collection", raw)
	}
	return uuid, p, nil
}

// decodePattern reads {field, hashed, unsharded}; false for another type or without a name.
func decodePattern(v bson.RawValue) (p key.Pattern, ok bool) {
	doc, ok := v.DocumentOK()
	if !ok {
		return p, false
	}
	all, err := document.Fields(doc, func(name []byte, v bson.RawValue) (ok bool) {
		switch string(name) {
		case "field":
			p.Field, ok = v.StringValueOK()
		case "hashed":
			p.Hashed, ok = v.BooleanOK()
		case "unsharded":
			p.Unsharded, ok = v.BooleanOK()
		default:
			return true
		}
		return ok
	})
	return p, all && err == nil && p.Field != ""
}
