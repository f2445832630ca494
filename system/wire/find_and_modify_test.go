package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestRemoveExcludes: a findAndModify that is to remove and asks for something else as well is
// refused: it cannot give both, and what it removes would be gone without anybody having seen it.
func TestRemoveExcludes(t *testing.T) {
	c := simulate(t, 1)
	c.wantOK(bson.D{{Key: "insert", Value: "docs"}, {Key: "documents", Value: []bson.D{has(1, 1)}}})
	const failedToParse = 9
	for _, other := range []bson.E{
		{Key: "new", Value: true}, {Key: "upsert", Value: true},
		{Key: "update", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: 1}}}}},
	} {
		c.wantCode(failedToParse, bson.D{{Key: "findAndModify", Value: "docs"},
			{Key: "query", Value: bson.D{{Key: "k", Value: 1}}}, {Key: "remove", Value: true}, other})
		c.wantDocs("docs", has(1, 1))
	}
}

// TestImpossibleProjection: a findAndModify whose document cannot be shown as it is asked for is
// refused, and changes nothing.
func TestImpossibleProjection(t *testing.T) {
	c := simulate(t, 1)
	text := bson.E{Key: "x", Value: "text"}
	c.wantOK(bson.D{{Key: "insert", Value: "docs"},
		{Key: "documents", Value: []bson.D{has(1, 1, text)}}})
	sum := bson.D{{Key: "$add", Value: bson.A{"$x", 1}}}
	const badValue = 2
	for _, change := range []bson.E{
		{Key: "remove", Value: true},
		{Key: "update", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "y", Value: 1}}}}},
	} {
		for _, filter := range []bson.D{{{Key: "k", Value: 1}}, {text}} {
			c.wantCode(badValue, bson.D{{Key: "findAndModify", Value: "docs"},
				{Key: "query", Value: filter}, change,
				{Key: "fields", Value: bson.D{{Key: "sum", Value: sum}}}})
			c.wantDocs("docs", has(1, 1, text))
		}
	}
}
