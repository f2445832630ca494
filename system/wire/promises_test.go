package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestPromisesRefused: what would promise something of a collection's documents that nobody sees to
// is refused: a client would rely on it.
func TestPromisesRefused(t *testing.T) {
	c := simulate(t, 1)
	index := func(field string) bson.D {
		return bson.D{{Key: "createIndexes", Value: "plain"}, {Key: "indexes", Value: []bson.D{{
			{Key: "name", Value: "mine"}, {Key: "key", Value: bson.D{{Key: field, Value: 1}}},
			{Key: "unique", Value: true}}}}}
	}
	with := func(name string, more bson.E) bson.D {
		return bson.D{{Key: name, Value: "plain"}, more}
	}
	shard := func(field string) bson.D {
		return bson.D{{Key: "shardCollection", Value: "test." + field}, {Key: "unique", Value: true},
			{Key: "key", Value: bson.D{{Key: field, Value: 1}}}}
	}
	c.wantOK(index("_id"))
	c.wantOK(shard("_id"))
	validator := bson.E{Key: "validator", Value: bson.D{{Key: "x", Value: 1}}}
	const commandNotSupported = 115
	for _, cmd := range []bson.D{
		index("x"), shard("x"), with("collMod", validator), with("create", validator),
		with("create", bson.E{Key: "capped", Value: true}),
	} {
		c.wantCode(commandNotSupported, cmd)
	}
}
