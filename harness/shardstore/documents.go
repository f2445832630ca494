package shardstore

import (
	"fmt"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/key"
)

// Documents are {_id: number, k: shard key, v: identity of the last write, l: pushed identities}.

// docName is how a document is addressed: by its _id, which mostly is its number, called its key by
// clients, and the value of its shard key. It may share either with others.
type docName struct{ id, k int64 }

// nameOfKey is how the document of a key is addressed.
func nameOfKey(c scenario.Collection, key int64) docName {
	return docName{c.ID(key), c.Place(key)}
}

func raw(d bson.D) bson.Raw {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("shardstore: document %v cannot be encoded: %v", d, err))
	}
	return b
}

func documentOf(n docName, v string) bson.Raw {
	return built(func(b []byte) []byte {
		b = bsoncore.AppendInt64Element(b, "_id", n.id)
		b = bsoncore.AppendInt64Element(b, shardKeyField, n.k)
		return bsoncore.AppendStringElement(b, "v", v)
	})
}

// built is the document of the elements that fill appends.
func built(fill func([]byte) []byte) bson.Raw {
	at, b := bsoncore.AppendDocumentStart(make([]byte, 0, 64))
	return bson.Raw(must(bsoncore.AppendDocumentEnd(fill(b), at)))
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(fmt.Sprintf("shardstore: a document cannot be ended: %v", err))
	}
	return b
}

// The index that operations make and drop: of an unsharded collection they name and describe it.
const (
	indexed   = "v"
	indexName = indexed + "_1"
)

var indexSpec = built(func(b []byte) []byte {
	at, b := bsoncore.AppendDocumentElementStart(b, "key")
	b = must(bsoncore.AppendDocumentEnd(bsoncore.AppendInt32Element(b, indexed, 1), at))
	return bsoncore.AppendBooleanElement(b, "hidden", true) // which means nothing to the store
})

// described are the indexes that operations make, by name, as one who audits sees them: that of a
// sharded collection is described by the config server.
func described() map[string][]string {
	of := map[string][]string{indexName: {
		indexSpec.String(),
		built(func(b []byte) []byte {
			b = bsoncore.AppendStringElement(b, "name", indexName)
			at, b := bsoncore.AppendDocumentElementStart(b, "key")
			return must(bsoncore.AppendDocumentEnd(bsoncore.AppendInt32Element(b, indexed, 1), at))
		}).String(),
	}}
	for _, hashed := range []bool{false, true} {
		name, spec := indexFor(key.Pattern{Field: shardKeyField, Hashed: hashed})
		of[name] = []string{spec.String()}
	}
	return of
}

// chosenFor are the options with which a collection is made under a name: one that has lost its
// own, or has those of another, differs from what was asked for.
func chosenFor(ns string) bson.Raw {
	return built(func(b []byte) []byte {
		return bsoncore.AppendStringElement(b, "comment", "made as "+ns)
	})
}

// indexFor is the index that a collection with documents needs before it gets a shard key; none for
// that of every collection.
func indexFor(by key.Pattern) (name string, spec bson.Raw) {
	switch {
	case by.Hashed:
		return by.Field + "_hashed", within("key", func(b []byte) []byte {
			return bsoncore.AppendStringElement(b, by.Field, "hashed")
		})
	case by.Field != "_id":
		return by.Field + "_1", within("key", func(b []byte) []byte {
			return bsoncore.AppendInt32Element(b, by.Field, 1)
		})
	}
	return "", nil
}

// within is the document that has one field, which is a document.
func within(name string, fill func([]byte) []byte) bson.Raw {
	return built(func(b []byte) []byte {
		at, b := bsoncore.AppendDocumentElementStart(b, name)
		return must(bsoncore.AppendDocumentEnd(fill(b), at))
	})
}

func between(from, to int64) bson.Raw {
	return within(shardKeyField, func(b []byte) []byte {
		return bsoncore.AppendInt64Element(bsoncore.AppendInt64Element(b, "$gte", from), "$lt", to)
	})
}

func among(keys []int64) bson.Raw {
	return within(shardKeyField, func(b []byte) []byte {
		at, b := bsoncore.AppendArrayElementStart(b, "$in")
		for i, k := range keys {
			b = bsoncore.AppendInt64Element(b, strconv.Itoa(i), k)
		}
		b, _ = bsoncore.AppendArrayEnd(b, at)
		return b
	})
}

// ofKey is the filter by shard key alone, only the one that names the document, too.
func ofKey(k int64) bson.Raw {
	return built(func(b []byte) []byte { return bsoncore.AppendInt64Element(b, shardKeyField, k) })
}

func only(n docName) bson.Raw {
	return built(func(b []byte) []byte {
		b = bsoncore.AppendInt64Element(b, "_id", n.id)
		return bsoncore.AppendInt64Element(b, shardKeyField, n.k)
	})
}

// expecting is only, and the document has that value.
func expecting(n docName, v string) bson.Raw {
	return built(func(b []byte) []byte {
		b = bsoncore.AppendInt64Element(bsoncore.AppendInt64Element(b, "_id", n.id), shardKeyField, n.k)
		return bsoncore.AppendStringElement(b, "v", v)
	})
}

func set(v string) bson.Raw {
	return within("$set", func(b []byte) []byte { return bsoncore.AppendStringElement(b, "v", v) })
}

func push(v string) bson.Raw {
	return within("$push", func(b []byte) []byte { return bsoncore.AppendStringElement(b, "l", v) })
}

func concern(op *scenario.Op) command.ReadConcern {
	if op.Concern == "" {
		return command.Linearizable
	}
	return command.ReadConcern(op.Concern)
}

// writeConcern is that with which a write is sent.
func writeConcern(op *scenario.Op) command.WriteConcern {
	return command.WriteConcern{Majority: op.W == 0, W: op.W, Timeout: op.WTimeout}
}

func found(doc bson.Raw) histories.Result {
	r := histories.Result{Found: true}
	_, err := document.Fields(doc, func(name []byte, v bson.RawValue) bool {
		switch string(name) {
		case "v":
			r.Value, _ = v.StringValueOK()
		case "l":
			if list, ok := v.ArrayOK(); ok {
				r.List = texts(bson.Raw(list))
			}
		}
		return true
	})
	if err != nil {
		panic(fmt.Sprintf("shardstore: the document %s cannot be read: %v", doc, err))
	}
	return r
}

func texts(list bson.Raw) (all []string) {
	_, err := document.Fields(list, func(_ []byte, v bson.RawValue) bool {
		all = append(all, v.StringValue())
		return true
	})
	if err != nil {
		panic(fmt.Sprintf("shardstore: the list %s cannot be read: %v", list, err))
	}
	return all
}
