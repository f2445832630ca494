package query_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/query"
)

// expressionOf draws an expression of values, fields and operators on each other, also on too many
// or on none.
func expressionOf(t *rapid.T, depth int) string {
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom([]string{
			`"$x"`, `"$none"`, `"$l"`, `"$l.a"`, `"$d"`, `"$$REMOVE"`, `"$$ROOT"`, `"text"`, "null",
			"0", "0.5", "-1", `{"$numberLong": "-9223372036854775808"}`, "true", "[]", "{}",
			`{"$minKey": 1}`, `{"$numberDecimal": "0"}`,
		}).Draw(t, "value")
	}
	var operands []string
	for range rapid.IntRange(0, 3).Draw(t, "operands") {
		operands = append(operands, expressionOf(t, depth-1))
	}
	list := "[" + strings.Join(operands, ", ") + "]"
	op := rapid.SampledFrom([]string{
		"$add", "$subtract", "$multiply", "$mod", "$eq", "$ne", "$gt", "$gte", "$lt", "$lte",
		"$concat", "$toUpper", "$toLower", "$size", "$arrayElemAt", "$type", "$not", "$and", "$or",
		"$cond", "$ifNull", "$literal", "array", "field", "$setField", "$unknown",
	}).Draw(t, "operator")
	switch {
	case op == "array":
		return list
	case op == "field" && len(operands) > 0:
		return fmt.Sprintf(`{"f": %s}`, operands[0])
	case op == "$setField" && len(operands) > 1:
		return fmt.Sprintf(`{"$setField": {"field": "f", "input": %s, "value": %s}}`,
			operands[0], operands[1])
	case op == "$cond" && len(operands) == 3 && rapid.Bool().Draw(t, "named"):
		return fmt.Sprintf(`{"$cond": {"if": %s, "then": %s, "else": %s}}`,
			operands[0], operands[1], operands[2])
	case len(operands) == 1 && rapid.Bool().Draw(t, "bare"):
		return fmt.Sprintf(`{%q: %s}`, op, operands[0])
	}
	return fmt.Sprintf(`{%q: %s}`, op, list)
}

// TestExpressionsMakeDocuments: an expression is refused, has no value, or one that documents can
// hold; as a projection it makes a document that is whole.
func TestExpressionsMakeDocuments(t *testing.T) {
	doc := parse(t, `{"_id": 1, "x": 5, "l": [{"a": 1}, {"a": "b"}, 3], "d": {"e": null}}`)
	rapid.Check(t, func(rt *rapid.T) {
		text := expressionOf(rt, 3)
		e := parse(t, `{"e": `+text+`}`)
		v, found, err := query.Evaluate(e.Lookup("e"), doc)
		if err != nil {
			if !errcode.Is(err, errcode.BadValue) {
				rt.Fatalf("%s is refused with %v", text, err)
			}
			return
		}
		if found && v.Validate() != nil || !found && v.Type == 0 {
			rt.Fatalf("%s is %v (%t)", text, v, found)
		}
		shown, err := query.ParseProjection(parse(t, `{"a": {"b": `+text+`}, "l.c": `+text+`}`))
		if err != nil {
			return // it has fields that no projection has
		}
		made, err := shown.Apply(doc)
		if err == nil {
			err = made.Validate()
		}
		if err != nil && !errcode.Is(err, errcode.BadValue) {
			rt.Fatalf("%s is shown as %v (%v)", text, made, err)
		}
	})
}
