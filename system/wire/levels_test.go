package wire_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestLevels: no write makes a document that is nested deeper than a client may send one.
func TestLevels(t *testing.T) {
	c := simulate(t, 1)
	one := bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: 1}}
	c.answer(c.routers[0], bson.D{{Key: "insert", Value: "docs"},
		{Key: "documents", Value: bson.A{one}}})
	path := func(names int) string { return strings.Repeat("a.", names-1) + "a" }
	var nested any = 1
	for range 100 {
		nested = bson.D{{Key: "a", Value: nested}}
	}
	set := func(names int, v any) bson.D {
		return bson.D{{Key: "$set", Value: bson.D{{Key: path(names), Value: v}}}}
	}
	for name, test := range map[string]struct {
		change any
		fits   bool
	}{
		"as deep as may be": {set(180, 1), true},
		"one more":          {set(181, 1), false},
		"very deep":         {set(20_000, 1), false},
		"nested value":      {set(81, nested), false},
		"pushed": {bson.D{{Key: "$push", Value: bson.D{{Key: path(90), Value: nested}}}},
			false},
		"stage": {bson.A{bson.D{{Key: "$set", Value: bson.D{{Key: path(90), Value: nested}}}}},
			false},
		"renamed": {bson.D{{Key: "$rename", Value: bson.D{{Key: "k", Value: path(181)}}}}, false},
	} {
		answer := c.answer(c.routers[0], bson.D{{Key: "update", Value: "docs"},
			{Key: "updates", Value: bson.A{bson.D{
				{Key: "q", Value: one}, {Key: "u", Value: test.change}}}}})
		const tooLarge = 10334
		n, _ := answer.Lookup("writeErrors", "0", "code").AsInt64OK()
		if made, _ := answer.Lookup("n").AsInt64OK(); (made == 1) != test.fits ||
			!test.fits && n != tooLarge {
			t.Errorf("%s was answered with %.300v", name, answer)
		}
		c.answer(c.routers[0], bson.D{{Key: "update", Value: "docs"},
			{Key: "updates", Value: bson.A{bson.D{
				{Key: "q", Value: one}, {Key: "u", Value: one}}}}})
	}
}
