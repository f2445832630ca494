package wire_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// nested is a document {_id, k: {in}, x: 1} of a collection that is sharded by k.in.
func nested(id int, more ...bson.E) bson.D {
	doc := has(id, bson.D{{Key: "in", Value: id}}, bson.E{Key: "x", Value: 1})
	return append(doc, more...)
}

// TestStatementsByNestedKey: statements without the shard key find the documents of a collection
// whose shard key lies in embedded documents, and write to them.
func TestStatementsByNestedKey(t *testing.T) {
	x := bson.D{{Key: "x", Value: 1}}
	y := bson.E{Key: "y", Value: 2}
	set := bson.D{{Key: "$set", Value: bson.D{y}}}
	update := func(multi bool) bson.D {
		return bson.D{{Key: "update", Value: "deep"}, {Key: "updates", Value: bson.A{bson.D{
			{Key: "q", Value: x}, {Key: "u", Value: set}, {Key: "multi", Value: multi}}}}}
	}
	remove := func(limit int) bson.D {
		return bson.D{{Key: "delete", Value: "deep"}, {Key: "deletes", Value: bson.A{
			bson.D{{Key: "q", Value: x}, {Key: "limit", Value: limit}}}}}
	}
	for name, c := range map[string]struct {
		cmd     bson.D
		left, y int64
	}{
		"updateOne": {update(false), 4, 1}, "updateMany": {update(true), 4, 4},
		"deleteOne": {remove(1), 3, 0}, "deleteMany": {remove(0), 0, 0},
		"findAndModify": {bson.D{{Key: "findAndModify", Value: "deep"}, {Key: "query", Value: x},
			{Key: "update", Value: set}}, 4, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := simulate(t, 1)
			s.wantOK(bson.D{{Key: "shardCollection", Value: "test.deep"},
				{Key: "key", Value: bson.D{{Key: "k.in", Value: 1}}}})
			s.wantOK(bson.D{{Key: "insert", Value: "deep"},
				{Key: "documents", Value: []bson.D{nested(1), nested(2), nested(3), nested(4)}}})
			s.wantOK(c.cmd)
			s.wantCount(c.left, "deep", nil)
			s.wantCount(c.y, "deep", bson.D{y})
		})
	}
}

func (c *simulated) wantCount(want int64, coll string, filter bson.D) {
	c.Helper()
	cmd := bson.D{{Key: "count", Value: coll}}
	if filter != nil {
		cmd = append(cmd, bson.E{Key: "query", Value: filter})
	}
	answer := c.answer(c.routers[0], cmd)
	if n, ok := answer.Lookup("n").AsInt64OK(); n != want || !ok {
		c.Errorf("%v counts %v, not %d", cmd, answer, want)
	}
}

// TestTooLarge: no document of more than 16 MiB is stored, be it inserted or grown.
func TestTooLarge(t *testing.T) {
	c := simulate(t, 1)
	const tooLarge = 10334
	text := func(n int) bson.E { return bson.E{Key: "s", Value: strings.Repeat("s", n)} }
	codeOf := func(cmd bson.D) int32 {
		answer := c.answer(c.routers[0], cmd)
		if code, ok := answer.Lookup("code").Int32OK(); ok {
			return code
		}
		code, _ := answer.Lookup("writeErrors", "0", "code").Int32OK()
		return code
	}
	insert := func(doc bson.D) bson.D {
		return bson.D{{Key: "insert", Value: "docs"}, {Key: "documents", Value: []bson.D{doc}}}
	}
	update := func(k int, u bson.D) bson.D {
		return bson.D{{Key: "update", Value: "docs"}, {Key: "updates", Value: bson.A{bson.D{
			{Key: "q", Value: bson.D{{Key: "k", Value: k}}}, {Key: "u", Value: u},
			{Key: "upsert", Value: true}}}}}
	}
	grow := bson.D{{Key: "$set", Value: bson.D{{Key: "t", Value: strings.Repeat("t", 9<<20)}}}}
	for _, cmd := range []bson.D{
		insert(has(1, 1, text(16<<20))),
		update(2, append(bson.D{{Key: "k", Value: 2}}, text(16<<20))),
	} {
		if code := codeOf(cmd); code != tooLarge {
			t.Errorf("the code is %d, not %d", code, tooLarge)
		}
	}
	if code := codeOf(insert(has(3, 3, text(8<<20)))); code != 0 {
		t.Errorf("a document of 8 MiB: code %d", code)
	}
	if code := codeOf(update(3, grow)); code != tooLarge {
		t.Errorf("a document that grows: code %d, not %d", code, tooLarge)
	}
	modify := bson.D{{Key: "findAndModify", Value: "docs"}, {Key: "update", Value: grow},
		{Key: "query", Value: bson.D{{Key: "k", Value: 3}}}}
	if code := codeOf(modify); code != tooLarge {
		t.Errorf("a document that findAndModify grows: code %d, not %d", code, tooLarge)
	}
	c.wantCount(1, "docs", nil)
}

// TestOrdersRefused: what would have to be compared or bounded otherwise is refused.
func TestOrdersRefused(t *testing.T) {
	c := simulate(t, 1)
	const notSupported = 115
	german := bson.E{Key: "collation", Value: bson.D{{Key: "locale", Value: "de"}}}
	simple := bson.E{Key: "collation", Value: bson.D{{Key: "locale", Value: "simple"}}}
	one := bson.E{Key: "update", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: 1}}}}}
	commands := func(with bson.E) []bson.D {
		return []bson.D{
			{{Key: "find", Value: "docs"}, with},
			{{Key: "count", Value: "docs"}, with},
			{{Key: "distinct", Value: "docs"}, {Key: "key", Value: "x"}, with},
			{{Key: "aggregate", Value: "docs"}, {Key: "pipeline", Value: bson.A{}},
				{Key: "cursor", Value: bson.D{}}, with},
			{{Key: "findAndModify", Value: "docs"}, one, with},
			{{Key: "create", Value: "more"}, with},
		}
	}
	for _, cmd := range commands(german) {
		c.wantCode(notSupported, cmd)
	}
	for _, cmd := range commands(simple) {
		c.wantOK(cmd)
	}
	bounds := bson.D{{Key: "x", Value: 1}}
	for _, name := range []string{"min", "max"} {
		c.wantCode(notSupported, bson.D{{Key: "find", Value: "docs"}, {Key: name, Value: bounds}})
	}
	for _, cmd := range []bson.D{
		{{Key: "update", Value: "docs"}, {Key: "updates", Value: bson.A{bson.D{
			{Key: "q", Value: bson.D{}}, {Key: "u", Value: one.Value}, german}}}},
		{{Key: "delete", Value: "docs"}, {Key: "deletes", Value: bson.A{bson.D{
			{Key: "q", Value: bson.D{}}, {Key: "limit", Value: 0}, german}}}},
	} {
		answer := c.answer(c.routers[0], cmd)
		code, _ := answer.Lookup("writeErrors", "0", "code").Int32OK()
		if code == 0 {
			code, _ = answer.Lookup("code").Int32OK()
		}
		if code != notSupported {
			t.Errorf("%v was answered with %v", cmd, answer)
		}
	}
}

// TestScatteredStatementAgain: a numbered statement without the shard key that is sent again is not
// executed again, though the document that it has changed does not match any more, and one on
// another shard does.
func TestScatteredStatementAgain(t *testing.T) {
	x := bson.D{{Key: "x", Value: 1}}
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: 2}}}}
	statement := bson.D{
		{Key: "lsid", Value: bson.D{{Key: "id", Value: bson.Binary{Subtype: 4, Data: make([]byte, 16)}}}},
		{Key: "txnNumber", Value: int64(1)},
	}
	for name, cmd := range map[string]bson.D{
		"updateOne": {{Key: "update", Value: "docs"}, {Key: "updates", Value: bson.A{
			bson.D{{Key: "q", Value: x}, {Key: "u", Value: set}}}}},
		"deleteOne": {{Key: "delete", Value: "docs"}, {Key: "deletes", Value: bson.A{
			bson.D{{Key: "q", Value: x}, {Key: "limit", Value: 1}}}}},
		"findAndModify": {{Key: "findAndModify", Value: "docs"}, {Key: "query", Value: x},
			{Key: "update", Value: set}},
	} {
		t.Run(name, func(t *testing.T) {
			c := simulate(t, 1)
			c.wantOK(bson.D{{Key: "insert", Value: "docs"}, {Key: "documents", Value: []bson.D{
				{{Key: "_id", Value: 1}, {Key: "k", Value: 1}, {Key: "x", Value: 1}},
				{{Key: "_id", Value: 2}, {Key: "k", Value: 12}, {Key: "x", Value: 1}},
			}}})
			cmd := append(cmd, statement...)
			first := c.answer(c.routers[0], cmd)
			again := c.answer(c.routers[1], cmd)
			c.wantCount(1, "docs", x)
			for _, part := range []string{"n", "value", "lastErrorObject"} {
				if was, is := first.Lookup(part), again.Lookup(part); !was.Equal(is) {
					t.Errorf("%s was %v and is %v", part, was, is)
				}
			}
		})
	}
}
