package wire_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestNamesThatAreNone: no collection gets a name that no command can say, or that is taken for a
// part of what another collection has.
func TestNamesThatAreNone(t *testing.T) {
	c := simulate(t, 1)
	c.answer(c.routers[0], bson.D{{Key: "create", Value: "plain"}})
	const invalidNamespace = 73
	for _, to := range []string{"test.", "test..plain", "test.a\x00b", "test"} {
		answer := c.answer(c.routers[0], bson.D{
			{Key: "renameCollection", Value: "test.plain"}, {Key: "to", Value: to}})
		if code, _ := answer.Lookup("code").AsInt64OK(); code != invalidNamespace {
			t.Errorf("to %q: answered with %v", to, answer)
		}
		answer = c.answer(c.routers[0], bson.D{{Key: "shardCollection", Value: to},
			{Key: "key", Value: bson.D{{Key: "k", Value: 1}}}})
		if code, _ := answer.Lookup("code").AsInt64OK(); code != invalidNamespace {
			t.Errorf("a sharded %q: answered with %v", to, answer)
		}
		_, name, _ := strings.Cut(to, ".")
		answer = c.answer(c.routers[0], bson.D{{Key: "aggregate", Value: "plain"},
			{Key: "cursor", Value: bson.D{}},
			{Key: "pipeline", Value: bson.A{bson.D{{Key: "$out", Value: name}}}}})
		if ok, _ := answer.Lookup("ok").AsInt64OK(); ok == 1 {
			t.Errorf("$out to %q: answered with %v", name, answer)
		}
	}
}

// TestRenameTarget: no collection, sharded or not, gets a name by which no command finds it.
func TestRenameTarget(t *testing.T) {
	c := simulate(t, 1)
	for _, coll := range []string{"docs", "plain"} {
		c.answer(c.routers[0], bson.D{{Key: "insert", Value: coll}, {Key: "documents", Value: bson.A{
			bson.D{{Key: "_id", Value: 1}, {Key: "k", Value: 1}}}}})
		for _, to := range []string{"test", "test.", "test..docs", "test.a\x00b", ""} {
			answer := c.answer(c.routers[0], bson.D{
				{Key: "renameCollection", Value: "test." + coll}, {Key: "to", Value: to}})
			const invalidNamespace = 73
			if n, _ := answer.Lookup("code").AsInt64OK(); n != invalidNamespace {
				t.Errorf("the rename of %s to %q was answered with %v", coll, to, answer)
			}
		}
		count := c.answer(c.routers[0], bson.D{{Key: "count", Value: coll}})
		if n, _ := count.Lookup("n").AsInt64OK(); n != 1 {
			t.Errorf("%s has %d documents", coll, n)
		}
	}
}

// TestRenameToSharded: an unsharded collection does not get the name of a sharded one, and the
// answer says why. It does not say that there is no such collection.
func TestRenameToSharded(t *testing.T) {
	c := simulate(t, 1)
	c.wantOK(bson.D{{Key: "create", Value: "plain"}})
	const illegalOperation = 20
	for _, drop := range []bool{false, true} {
		c.wantCode(illegalOperation, bson.D{{Key: "renameCollection", Value: "test.plain"},
			{Key: "to", Value: "test.docs"}, {Key: "dropTarget", Value: drop}})
	}
	c.wantNames("docs", "plain")
}
