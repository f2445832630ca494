package wire_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/wire/dispatch"
	"github.com/shardproof/shardproof/system/wire/failcommand"
	"github.com/shardproof/shardproof/system/wire/frame"
	"github.com/shardproof/shardproof/system/wire/request"
)

// TestIndexConflict: an index is not acknowledged while another one has its name, and that one
// stays; the same index again is.
func TestIndexConflict(t *testing.T) {
	c := simulate(t, 1)
	c.answer(c.routers[0], bson.D{{Key: "shardCollection", Value: "test.sharded"},
		{Key: "key", Value: bson.D{{Key: "k", Value: 1}}}})
	for _, coll := range []string{"sharded", "plain"} {
		create := func(field string, order any) bson.Raw {
			t.Helper()
			keys := bson.D{{Key: field, Value: order}}
			return c.answer(c.routers[0], bson.D{{Key: "createIndexes", Value: coll},
				{Key: "indexes", Value: bson.A{
					bson.D{{Key: "name", Value: "mine"}, {Key: "key", Value: keys}}}}})
		}
		for _, order := range []any{1, int64(1), 1.0} {
			answer := create("a", order)
			if ok, _ := answer.Lookup("ok").DoubleOK(); ok != 1 {
				t.Errorf("the index of %s was answered with %v", coll, answer)
			}
		}
		other := create("b", 1)
		const indexKeySpecsConflict = 86
		if n, _ := other.Lookup("code").AsInt64OK(); n != indexKeySpecsConflict {
			t.Errorf("another index of %s was answered with %v", coll, other)
		}
		list := c.answer(c.routers[0], bson.D{{Key: "listIndexes", Value: coll}})
		if _, err := list.LookupErr("cursor", "firstBatch", "1", "key", "a"); err != nil {
			t.Errorf("the indexes of %s are %v", coll, list)
		}
	}
}

// TestIndexConflictOfTwoCommands: of two indexes of one name that are asked for at once, by one
// command or by two, one is not acknowledged; a command that is refused makes none of its indexes.
func TestIndexConflictOfTwoCommands(t *testing.T) {
	c := simulate(t, 1)
	index := func(name, field string) bson.D {
		return bson.D{{Key: "name", Value: name},
			{Key: "key", Value: bson.D{{Key: field, Value: 1}}}}
	}
	create := func(specs ...bson.D) bson.D {
		return bson.D{{Key: "createIndexes", Value: "plain"}, {Key: "indexes", Value: specs}}
	}
	const indexKeySpecsConflict = 86
	c.wantCode(indexKeySpecsConflict, create(index("x", "x"), index("mine", "a"), index("mine", "b")))
	list := c.answer(c.routers[0], bson.D{{Key: "listIndexes", Value: "plain"}})
	if _, err := list.LookupErr("cursor", "firstBatch", "1"); err == nil {
		t.Errorf("the indexes after the first command are %v", list)
	}
	acknowledged, over := 0, 0
	for i, field := range []string{"a", "b"} {
		served := dispatch.New(c.behind(c.routers[i]), false)
		req, err := request.Parse(&frame.Message{Body: marshal(t, append(
			create(index("mine", field)), bson.E{Key: "$db", Value: "test"}))})
		if err != nil {
			t.Fatal(err)
		}
		c.world.Node(c.routers[i]).Spawn(nil, "test", func(task env.Task) {
			answer := marshal(t, served.Answer(task, req, failcommand.Fate{}))
			if answer.Lookup("ok").Double() == 1 {
				acknowledged++
			}
			over++
		})
	}
	c.until("both commands are answered", func() bool { return over == 2 })
	if acknowledged != 1 {
		t.Errorf("%d of two indexes of one name are acknowledged", acknowledged)
	}
}
