package query

import (
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// operator is what an operator of expressions makes of its operands, and how many it takes. An
// operand that does not exist is removedValue, and so is a result. Those without a function decide
// themselves which operands they evaluate.
type operator struct {
	least, most int
	of          func(op string, values []bson.RawValue) (bson.RawValue, error)
}

const anyNumber = math.MaxInt

var operators = map[string]operator{
	"$add":         {0, anyNumber, arithmetic},
	"$subtract":    {2, 2, arithmetic},
	"$multiply":    {0, anyNumber, arithmetic},
	"$mod":         {2, 2, arithmetic},
	"$eq":          {2, 2, comparison},
	"$ne":          {2, 2, comparison},
	"$gt":          {2, 2, comparison},
	"$gte":         {2, 2, comparison},
	"$lt":          {2, 2, comparison},
	"$lte":         {2, 2, comparison},
	"$concat":      {0, anyNumber, concat},
	"$toUpper":     {1, 1, letters},
	"$toLower":     {1, 1, letters},
	"$size":        {1, 1, size},
	"$arrayElemAt": {2, 2, element},
	"$type":        {1, 1, typeOf},
	"$not":         {1, 1, not},
	"$and":         {0, anyNumber, nil},
	"$or":          {0, anyNumber, nil},
	"$cond":        {3, 3, nil},
	"$ifNull":      {2, anyNumber, nil},
}

// isNothing reports whether a value is null or does not exist.
func isNothing(v bson.RawValue) bool {
	return v.Type == removedValue.Type || v.Type == bson.TypeNull || v.Type == bson.TypeUndefined
}

func comparison(op string, values []bson.RawValue) (bson.RawValue, error) {
	d := compareOperands(values[0], values[1])
	switch op {
	case "$eq":
		return boolean(d == 0), nil
	case "$ne":
		return boolean(d != 0), nil
	}
	return boolean(orderFulfils(d, op)), nil
}

// compareOperands is Compare, but what does not exist is another than null: it comes before
// everything except MinKey.
func compareOperands(a, b bson.RawValue) int {
	switch noA, noB := a.Type == removedValue.Type, b.Type == removedValue.Type; {
	case noA && noB:
		return 0
	case noA && b.Type == bson.TypeMinKey, noB && a.Type != bson.TypeMinKey:
		return 1
	case noA || noB:
		return -1
	}
	return Compare(a, b)
}

func boolean(b bool) bson.RawValue {
	v := bson.RawValue{Type: bson.TypeBoolean, Value: []byte{0}}
	if b {
		v.Value[0] = 1
	}
	return v
}

func text(s string) bson.RawValue {
	t, data, err := bson.MarshalValue(s)
	if err != nil {
		panic(err) // a string always has a value
	}
	return bson.RawValue{Type: t, Value: data}
}

func concat(op string, values []bson.RawValue) (bson.RawValue, error) {
	var all strings.Builder
	for _, v := range values {
		s, ok := v.StringValueOK()
		if isNothing(v) {
			return nullValue, nil
		}
		if !ok {
			return nullValue, badValue("%s takes texts, not %v", op, v)
		}
		all.WriteString(s)
	}
	return text(all.String()), nil
}

func letters(op string, values []bson.RawValue) (bson.RawValue, error) {
	s, ok := values[0].StringValueOK()
	if !ok && !isNothing(values[0]) {
		return nullValue, badValue("%s takes a text, not %v", op, values[0])
	}
	if op == "$toUpper" {
		return text(strings.ToUpper(s)), nil
	}
	return text(strings.ToLower(s)), nil
}

func size(op string, values []bson.RawValue) (bson.RawValue, error) {
	array, ok := values[0].ArrayOK()
	if !ok {
		return nullValue, badValue("The argument to %s must be an array, but was of type: %s",
			op, typeName(values[0].Type))
	}
	list, err := array.Values()
	return integerOf(int64(len(list)), false), err
}

func not(_ string, values []bson.RawValue) (bson.RawValue, error) {
	return boolean(!IsTrue(values[0])), nil
}

// element does not exist beyond the ends of the array.
func element(op string, values []bson.RawValue) (bson.RawValue, error) {
	if isNothing(values[0]) || isNothing(values[1]) {
		return nullValue, nil
	}
	array, ok := values[0].ArrayOK()
	i, whole := values[1].AsInt64OK()
	if !ok || !whole {
		return nullValue, badValue("%s takes an array and a number, not %v and %v",
			op, values[0], values[1])
	}
	list, err := array.Values()
	if i < 0 {
		i += int64(len(list))
	}
	if err != nil || i < 0 || i >= int64(len(list)) {
		return removedValue, err
	}
	return list[i], nil
}

func typeOf(_ string, values []bson.RawValue) (bson.RawValue, error) {
	return text(typeName(values[0].Type)), nil
}
