package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestStatsOnDeposedPrimary: the statistics of a collection are not those of a primary that was
// deposed and does not know it.
func TestStatsOnDeposedPrimary(t *testing.T) {
	c := deposed(t, bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: 1}})
	answer := c.answer(c.routers[0], bson.D{{Key: "collStats", Value: "docs"}})
	if n, _ := answer.Lookup("count").AsInt64OK(); n != 1 {
		t.Errorf("the statistics of one document are %v", answer)
	}
}
