package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestResumeAtEnd: who resumes at the last change of a collection, its drop or its rename, is told
// that the stream is over, and nothing of the collection that has the name by then; who was told so
// before, and starts after it, is.
func TestResumeAtEnd(t *testing.T) {
	for _, end := range []bson.D{
		{{Key: "drop", Value: "plain"}},
		{{Key: "renameCollection", Value: "test.plain"}, {Key: "to", Value: "test.other"}},
	} {
		c := simulate(t, 1)
		ask := c.conversation(c.routers[0])
		watch := func(options bson.D) bson.Raw {
			return ask(bson.D{{Key: "aggregate", Value: "plain"}, {Key: "cursor", Value: bson.D{}},
				{Key: "pipeline", Value: bson.A{bson.D{{Key: "$changeStream", Value: options}}}}})
		}
		// first is the first change of a stream.
		first := func(opened bson.Raw) bson.Raw {
			doc, ok := opened.Lookup("cursor", "firstBatch", "0").DocumentOK()
			if !ok {
				more := ask(bson.D{{Key: "getMore", Value: opened.Lookup("cursor", "id")},
					{Key: "collection", Value: "plain"}, {Key: "batchSize", Value: 1}})
				doc, _ = more.Lookup("cursor", "nextBatch", "0").DocumentOK()
			}
			return doc
		}
		insert := func(id int) {
			c.wantOK(bson.D{{Key: "insert", Value: "plain"},
				{Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: id}}}}})
		}
		kind := func(change bson.Raw) string {
			what, _ := change.Lookup("operationType").StringValueOK()
			return what
		}
		insert(1)
		opened := watch(bson.D{})
		c.wantOK(end)
		insert(2)
		last := first(opened)
		over := first(watch(bson.D{{Key: "resumeAfter", Value: last.Lookup("_id")}}))
		if kind(over) != "invalidate" {
			t.Fatalf("the change after %v is %v", last, over)
		}
		started := first(watch(bson.D{{Key: "startAfter", Value: over.Lookup("_id")}}))
		if kind(started) != "insert" {
			t.Errorf("the change after %v is %v", over, started)
		}
	}
}
