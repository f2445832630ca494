package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestInternalDatabases: no write of a client gets to the records that shards keep for themselves.
func TestInternalDatabases(t *testing.T) {
	doc := bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: 1}}
	upsert := bson.D{
		{Key: "q", Value: doc[:1]}, {Key: "u", Value: doc}, {Key: "upsert", Value: true}}
	for _, ns := range []struct{ db, coll string }{
		{"config", "collection_critical_sections"}, {"config", "ddlParticipations"},
		{"config", "transactions"}, {"config", "settings"}, {"admin", "system.version"},
	} {
		for _, cmd := range []bson.D{
			{{Key: "insert", Value: ns.coll}, {Key: "documents", Value: bson.A{doc}}},
			{{Key: "update", Value: ns.coll}, {Key: "updates", Value: bson.A{upsert}}},
			{{Key: "findAndModify", Value: ns.coll}, {Key: "query", Value: doc[:1]},
				{Key: "update", Value: doc}, {Key: "upsert", Value: true}},
			{{Key: "create", Value: ns.coll}},
			{{Key: "createIndexes", Value: ns.coll}, {Key: "indexes", Value: bson.A{bson.D{
				{Key: "name", Value: "x_1"}, {Key: "key", Value: bson.D{{Key: "x", Value: 1}}}}}}},
			{{Key: "aggregate", Value: 1}, {Key: "cursor", Value: bson.D{}},
				{Key: "pipeline", Value: bson.A{
					bson.D{{Key: "$documents", Value: bson.A{doc}}},
					bson.D{{Key: "$out", Value: ns.coll}}}}},
		} {
			c := simulate(t, 1)
			answer := c.answer(c.routers[0], of(ns.db, cmd))
			if n, _ := answer.Lookup("code").AsInt64OK(); n != badValue {
				t.Errorf("%s of %s.%s was answered with %v", cmd[0].Key, ns.db, ns.coll, answer)
			}
		}
	}
	c := simulate(t, 1)
	answer := c.answer(c.routers[0], bson.D{{Key: "enableSharding", Value: "config"}})
	if n, _ := answer.Lookup("code").AsInt64OK(); n != badValue {
		t.Errorf("the database config was made: %v", answer)
	}
}

const badValue = 2

// of is the command on a database: the first one that it names counts.
func of(db string, cmd bson.D) bson.D { return append(cmd, bson.E{Key: "$db", Value: db}) }

// TestCatalogIsReadOnly: what a client cannot change in the catalog is not acknowledged.
func TestCatalogIsReadOnly(t *testing.T) {
	c := simulate(t, 1)
	balancer := bson.D{{Key: "_id", Value: "balancer"}}
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "stopped", Value: false}}}}
	for _, cmd := range []bson.D{
		{{Key: "update", Value: "settings"}, {Key: "updates", Value: bson.A{
			bson.D{{Key: "q", Value: balancer}, {Key: "u", Value: set}}}}},
		{{Key: "delete", Value: "settings"}, {Key: "deletes", Value: bson.A{
			bson.D{{Key: "q", Value: balancer}, {Key: "limit", Value: 1}}}}},
		{{Key: "drop", Value: "settings"}},
	} {
		answer := c.answer(c.routers[0], of("config", cmd))
		if n, _ := answer.Lookup("code").AsInt64OK(); n != badValue {
			t.Errorf("%s of config.settings was answered with %v", cmd[0].Key, answer)
		}
	}
}
