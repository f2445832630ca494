package key_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/key"
)

// TestIn: a field that is null is there, and one that is missing, at any depth, is not.
func TestIn(t *testing.T) {
	for _, c := range []struct {
		field string
		doc   bson.D
		want  bool
	}{
		{"k", bson.D{{Key: "k", Value: 1}}, true},
		{"k", bson.D{{Key: "k", Value: nil}}, true},
		{"k", bson.D{{Key: "_id", Value: 1}}, false},
		{"a.k", bson.D{{Key: "a", Value: bson.D{{Key: "k", Value: 1}}}}, true},
		{"a.k", bson.D{{Key: "a", Value: bson.D{}}}, false},
		{"a.k", bson.D{{Key: "a", Value: 1}}, false},
	} {
		doc, err := bson.Marshal(c.doc)
		if err != nil {
			t.Fatal(err)
		}
		if got := (key.Pattern{Field: c.field}).In(doc); got != c.want {
			t.Errorf("%s in %v: %v, want %v", c.field, c.doc, got, c.want)
		}
	}
}
