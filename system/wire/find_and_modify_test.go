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
