package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestSplitAtBound: a chunk is not split where it begins, and that is not acknowledged.
func TestSplitAtBound(t *testing.T) {
	c := simulate(t, 1)
	const badValue = 2
	split := func(at any) bson.D {
		return bson.D{{Key: "split", Value: "test.docs"},
			{Key: "middle", Value: bson.D{{Key: "k", Value: at}}}}
	}
	c.wantOK(split(5))
	for _, at := range []any{5, 10, bson.MinKey{}, bson.MaxKey{}} {
		c.wantCode(badValue, split(at))
	}
}
