package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestZoneArgument: a range leaves its zone when a client says so by null, and not when it names no
// zone.
func TestZoneArgument(t *testing.T) {
	c := simulate(t, 1)
	update := func(zone ...bson.E) bson.Raw {
		t.Helper()
		k := func(n int) bson.D { return bson.D{{Key: "k", Value: n}} }
		return c.answer(c.routers[0], append(bson.D{
			{Key: "updateZoneKeyRange", Value: "test.docs"},
			{Key: "min", Value: k(1)}, {Key: "max", Value: k(3)}}, zone...))
	}
	ranges := func() int {
		t.Helper()
		found := c.answer(c.routers[0], bson.D{{Key: "count", Value: "tags"},
			{Key: "$db", Value: "config"}}) // the first of its name counts
		n, _ := found.Lookup("n").AsInt64OK()
		return int(n)
	}
	c.answer(c.routers[0], bson.D{{Key: "addShardToZone", Value: "shard-a"},
		{Key: "zone", Value: "west"}})
	update(bson.E{Key: "zone", Value: "west"})
	for _, zone := range []bson.D{
		nil, {{Key: "zone", Value: bson.A{"west"}}}, {{Key: "zone", Value: 5}},
		{{Key: "zone", Value: ""}},
	} {
		answer := update(zone...)
		const badValue = 2
		if n, _ := answer.Lookup("code").AsInt64OK(); n != badValue || ranges() != 1 {
			t.Errorf("%v was answered with %v, and %d ranges are of a zone", zone, answer, ranges())
		}
	}
	if update(bson.E{Key: "zone", Value: nil}); ranges() != 0 {
		t.Errorf("%d ranges are of a zone", ranges())
	}
}
