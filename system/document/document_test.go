package document_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/errcode"
)

func sample(t testing.TB) bson.Raw {
	raw, err := bson.Marshal(bson.D{
		{Key: "a", Value: int64(1)}, {Key: "b", Value: bson.D{{Key: "a", Value: "x"}}},
		{Key: "a", Value: nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestFields(t *testing.T) {
	var names []string
	all, err := document.Fields(sample(t), func(name []byte, _ bson.RawValue) bool {
		names = append(names, string(name))
		return true
	})
	if !all || err != nil || !slices.Equal(names, []string{"a", "b", "a"}) {
		t.Errorf("%v, all %v, %v", names, all, err)
	}
	all, err = document.Fields(sample(t), func([]byte, bson.RawValue) bool { return false })
	if all || err != nil {
		t.Errorf("stopped at the first field: all %v, %v", all, err)
	}
	if all, err := document.Fields(nil, nil); !all || err != nil {
		t.Errorf("no document: all %v, %v", all, err)
	}
}

func TestField(t *testing.T) {
	if v, ok := document.Field(sample(t), "a"); !ok || v.Int64() != 1 {
		t.Errorf("a is %v, %v", v, ok)
	}
	if v, ok := document.Field(sample(t), "c"); ok {
		t.Errorf("c is %v", v)
	}
}

// A document that was cut or changed is read as bson.Raw reads it, or refused; one that bson.Raw
// finds valid is read.
func TestBrokenDocuments(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		raw := slices.Clone(sample(t))
		raw = raw[:rapid.IntRange(0, len(raw)).Draw(rt, "length")]
		if len(raw) > 0 && rapid.Bool().Draw(rt, "change") {
			raw[rapid.IntRange(0, len(raw)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
		}
		n := 0
		all, err := document.Fields(raw, func([]byte, bson.RawValue) bool { n++; return true })
		if err != nil && !errcode.Is(err, errcode.BadValue) || all != (err == nil) {
			rt.Fatalf("%x: all %v, %v", []byte(raw), all, err)
		}
		if len(raw) == 0 {
			return // nil is a document without fields, and no bytes are none
		}
		if says, _, _ := bsoncore.ReadLength(raw); int(says) != len(raw) || raw.Validate() != nil {
			return
		}
		if elements, _ := raw.Elements(); err != nil || len(elements) != n {
			rt.Fatalf("%x: %d fields, %v; there are %d", []byte(raw), n, err, len(elements))
		}
	})
}
