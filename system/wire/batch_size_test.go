package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestNegativeBatchSize: a batch cannot have less than no documents, and no command takes that for
// a size that it likes better.
func TestNegativeBatchSize(t *testing.T) {
	c := simulate(t, 1)
	const badValue = 2
	size := bson.E{Key: "batchSize", Value: -1}
	for _, cmd := range []bson.D{
		{{Key: "find", Value: "docs"}, size},
		{{Key: "aggregate", Value: "docs"}, {Key: "pipeline", Value: bson.A{}},
			{Key: "cursor", Value: bson.D{size}}},
		{{Key: "getMore", Value: int64(1)}, {Key: "collection", Value: "docs"}, size},
	} {
		c.wantCode(badValue, cmd)
	}
}
