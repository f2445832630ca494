// Package query evaluates filters, updates and projections on one document. It is pure.
//
// Promise: documents are never changed, a change gives a new one; comparisons are those of package
// key, so a filter selects only documents whose keys are within its Bounds. Everything that is not
// supported is refused with errcode.BadValue.
//
// Refusal: no server-side script; regular expressions are those of RE2, which need no backtracking.
package query

import (
	"bytes"
	"cmp"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
)

var nullValue = bson.RawValue{Type: bson.TypeNull}

func badValue(format string, args ...any) error {
	return errcode.New(errcode.BadValue, format, args...)
}

// Match reports whether the document satisfies every condition of the filter: {field: value},
// {field: {$op: value}}, $and, $or and $nor of filters, and {$expr: expression}; fields may be
// dotted paths. The operators are $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $exists, $not, $size,
// $all, $elemMatch, $mod, $type and $regex. A nil filter selects everything.
//
// Only values of one class compare; a missing field is null; an array also satisfies a condition
// when one of its elements does, even in the middle of a path.
func Match(filter, doc bson.Raw) (bool, error) {
	return everyElement(filter, func(name string, want bson.RawValue) (bool, error) {
		switch {
		case name == "$comment":
			return true, nil
		case name == "$and" || name == "$or":
			return matchList(name == "$or", want, doc)
		case name == "$nor":
			any, err := matchList(true, want, doc)
			return !any, err
		case name == "$expr":
			v, found, err := Evaluate(want, doc)
			return found && IsTrue(v), err
		case strings.HasPrefix(name, "$"):
			return false, badValue("unknown top level operator: %s", name)
		}
		return matchField(want, fieldAt(doc, name))
	})
}

// everyElement calls fn for the elements of a document until one returns false or an error.
func everyElement(doc bson.Raw, fn func(name string, v bson.RawValue) (bool, error)) (bool, error) {
	var failed error
	all, err := document.Fields(doc, func(name []byte, v bson.RawValue) (ok bool) {
		ok, failed = fn(string(name), v)
		return ok && failed == nil
	})
	return all, cmp.Or(err, failed)
}

func matchList(any bool, list bson.RawValue, doc bson.Raw) (bool, error) {
	filters, ok := list.ArrayOK()
	if !ok {
		return false, badValue("$and and $or take an array of filters, not %v", list)
	}
	all, err := everyElement(bson.Raw(filters), func(_ string, f bson.RawValue) (bool, error) {
		filter, ok := f.DocumentOK()
		if !ok {
			return false, badValue("$and and $or take an array of filters, not %v", list)
		}
		matches, err := Match(filter, doc)
		return matches != any, err
	})
	return all != any, err
}

// operatorsOf returns the conditions when the value is a document of operators.
func operatorsOf(v bson.RawValue) (bson.Raw, bool) {
	doc, ok := v.DocumentOK()
	if !ok {
		return nil, false
	}
	first, err := doc.IndexErr(0)
	return doc, err == nil && strings.HasPrefix(first.Key(), "$")
}

func matchField(want bson.RawValue, got field) (bool, error) {
	conditions, ok := operatorsOf(want)
	if !ok {
		if want.Type == bson.TypeRegex {
			return matchRegex(want, bson.RawValue{}, got)
		}
		return got.any(func(v bson.RawValue) bool { return equalValues(v, want) }), nil
	}
	return everyElement(conditions, func(op string, operand bson.RawValue) (bool, error) {
		if op == "$regex" {
			return matchRegex(operand, conditions.Lookup("$options"), got)
		}
		return matchOperator(op, operand, got)
	})
}

func matchOperator(op string, operand bson.RawValue, got field) (bool, error) {
	switch op {
	case "$eq", "$ne":
		return got.any(func(v bson.RawValue) bool {
			return equalValues(v, operand)
		}) == (op == "$eq"), nil
	case "$in", "$nin":
		in, err := matchIn(operand, got)
		return in == (op == "$in"), err
	case "$exists":
		return got.exists() == IsTrue(operand), nil
	case "$gt", "$gte", "$lt", "$lte":
		return matchOrder(op, operand, got)
	case "$options":
		return true, nil
	}
	return matchRare(op, operand, got)
}

func matchIn(list bson.RawValue, got field) (bool, error) {
	wanted, ok := list.ArrayOK()
	if !ok {
		return false, badValue("$in takes an array, not %v", list)
	}
	none, err := everyElement(bson.Raw(wanted), func(_ string, want bson.RawValue) (bool, error) {
		if want.Type == bson.TypeRegex {
			matches, err := matchRegex(want, bson.RawValue{}, got)
			return !matches, err
		}
		return !got.any(func(v bson.RawValue) bool { return equalValues(v, want) }), nil
	})
	return !none, err
}

// IsTrue is what a value means as a condition: 0, null, false and what does not exist are not true.
func IsTrue(v bson.RawValue) bool {
	if isNothing(v) {
		return false
	}
	if b, ok := v.BooleanOK(); ok {
		return b
	}
	if f, ok := v.DoubleOK(); ok {
		return f != 0
	}
	if d, ok := v.Decimal128OK(); ok {
		digits, _, err := d.BigInt()
		return err != nil || digits.Sign() != 0 // an error means that it is infinite or no number
	}
	n, ok := v.AsInt64OK()
	return !ok || n != 0
}

func matchOrder(op string, operand bson.RawValue, got field) (bool, error) {
	var space [40]byte
	bound, err := key.Append(space[:0], operand)
	if err != nil && operand.Type != bson.TypeDecimal128 {
		return false, err
	}
	return got.any(func(v bson.RawValue) bool {
		if decimals(v, operand) {
			return decimalFulfils(v, operand, op)
		}
		if operand.Type == bson.TypeDecimal128 {
			return false
		}
		var space [40]byte
		k, err := key.Append(space[:0], v)
		return err == nil && orderFulfils(bytes.Compare(k, bound), op) && sameClass(k, bound) &&
			comparableNumbers(k, bound)
	}), nil
}

// decimalFulfils: NaN compares with no other number, though sorts place it.
func decimalFulfils(v, bound bson.RawValue, op string) bool {
	x, _ := valueOf(v)
	y, _ := valueOf(bound)
	return (x == noNumber) == (y == noNumber) && orderFulfils(compareNumbers(v, bound), op)
}

// orderFulfils reports whether a comparison with that outcome fulfils the operator.
func orderFulfils(compared int, op string) bool {
	switch op {
	case "$gt":
		return compared > 0
	case "$gte":
		return compared >= 0
	case "$lt":
		return compared < 0
	}
	return compared <= 0
}

// comparable: MinKey and MaxKey compare with everything, all else with its own class.
func sameClass(a, b []byte) bool {
	bound := key.Key(b)
	return bound == key.Min || bound == key.Max || key.Key(a).Class() == bound.Class()
}

// notANumber is the key of NaN, which is below all numbers in the order of keys.
var notANumber = func() key.Key {
	k, err := key.Encode(bson.RawValue{
		Type: bson.TypeDouble, Value: bsoncore.AppendDouble(nil, math.NaN()),
	})
	if err != nil {
		panic(err) // every double has a key
	}
	return k
}()

// comparableNumbers: NaN compares with no other number, though sorts place it.
func comparableNumbers(a, b []byte) bool {
	x, y := key.Key(a), key.Key(b)
	return x == y || x != notANumber && y != notANumber || x.Class() != y.Class()
}

// equalValues compares by key where there is one, documents and arrays field by field.
func equalValues(a, b bson.RawValue) bool {
	if a.Type == b.Type && bytes.Equal(a.Value, b.Value) {
		return true
	}
	if isContainer(a) && a.Type == b.Type {
		return Compare(a, b) == 0
	}
	if decimals(a, b) {
		return compareNumbers(a, b) == 0
	}
	var spaceA, spaceB [40]byte
	ka, err := key.Append(spaceA[:0], a)
	if err != nil {
		return false
	}
	kb, err := key.Append(spaceB[:0], b)
	return err == nil && bytes.Equal(ka, kb)
}
