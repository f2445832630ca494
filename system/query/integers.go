package query

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// incrementValue adds integers. A sum of two int32 that does not fit becomes an int64; doubles are
// refused, as their sums are not associative.
func incrementValue(
	old bson.RawValue, exists bool, by bson.RawValue, path string,
) (bson.RawValue, error) {
	if !isInteger(by) || exists && !isInteger(old) {
		return removedValue, badValue("$inc adds whole numbers only, not %v to %v in %s",
			by, old, path)
	}
	if !exists {
		return by, nil
	}
	a, b := old.AsInt64(), by.AsInt64()
	sum, ok := plus(a, b)
	if !ok {
		return removedValue, badValue("$inc of %s from %d by %d overflows", path, a, b)
	}
	return integerOf(sum, isLong(old) || isLong(by)), nil
}

func multiplyValue(
	old bson.RawValue, exists bool, by bson.RawValue, path string,
) (bson.RawValue, error) {
	if !isInteger(by) || exists && !isInteger(old) {
		return removedValue, badValue("$mul multiplies whole numbers only, not %v in %s by %v",
			old, path, by)
	}
	if !exists {
		return integerOf(0, isLong(by)), nil
	}
	a, b := old.AsInt64(), by.AsInt64()
	product, ok := times(a, b)
	if !ok {
		return removedValue, badValue("$mul of %s from %d by %d overflows", path, a, b)
	}
	return integerOf(product, isLong(old) || isLong(by)), nil
}

// Sum adds whole numbers and ignores what is no number; doubles and decimals are refused, as their
// sums depend on the order.
func Sum(values []bson.RawValue) (bson.RawValue, error) {
	var total int64
	wide := false
	for _, v := range values {
		if isNumber(v.Type) && !isInteger(v) {
			return nullValue, badValue("$sum adds whole numbers only, not %v", v)
		}
		if !isInteger(v) {
			continue
		}
		sum, ok := plus(total, v.AsInt64())
		if !ok {
			return nullValue, badValue("$sum of %d and %v overflows", total, v)
		}
		total, wide = sum, wide || isLong(v)
	}
	return integerOf(total, wide), nil
}

// arithmetic is null when an operand is, or does not exist. Of an int64 it makes an int64.
func arithmetic(op string, values []bson.RawValue) (bson.RawValue, error) {
	var result int64
	if op == "$multiply" {
		result = 1
	}
	wide := false
	for i, v := range values {
		if isNothing(v) {
			return nullValue, nil
		}
		if !isInteger(v) {
			return nullValue, badValue("%s takes whole numbers, not %v", op, v)
		}
		if wide = wide || isLong(v); i == 0 {
			result = v.AsInt64()
			continue
		}
		next, ok := calculate(op, result, v.AsInt64())
		switch {
		case op == "$mod" && !ok:
			return nullValue, badValue("can't $mod %d by zero", result)
		case !ok:
			return nullValue, badValue("%s of %d and %v overflows", op, result, v)
		}
		result = next
	}
	return integerOf(result, wide), nil
}

// calculate is false where there is no result, or none of 64 bits.
func calculate(op string, a, b int64) (result int64, ok bool) {
	switch op {
	case "$add":
		return plus(a, b)
	case "$subtract":
		return a - b, (a-b < a) == (b > 0)
	case "$multiply":
		return times(a, b)
	}
	if b == 0 {
		return 0, false
	}
	return a % b, true
}

// plus is false when the sum overflows.
func plus(a, b int64) (int64, bool) { return a + b, (a+b > a) == (b > 0) }

// times is false when the product overflows.
func times(a, b int64) (int64, bool) {
	return a * b, a == 0 || a*b/a == b && (a != -1 || b != math.MinInt64)
}

// Integer is an int32 if the number fits, and else an int64.
func Integer(n int64) bson.RawValue { return integerOf(n, false) }

// integerOf is an int32 if the number fits and wide is false, and else an int64.
func integerOf(n int64, wide bool) bson.RawValue {
	if !wide && int64(int32(n)) == n {
		return bson.RawValue{Type: bson.TypeInt32, Value: bsoncore.AppendInt32(nil, int32(n))}
	}
	return bson.RawValue{Type: bson.TypeInt64, Value: bsoncore.AppendInt64(nil, n)}
}

func isInteger(v bson.RawValue) bool { return v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64 }

func isLong(v bson.RawValue) bool { return v.Type == bson.TypeInt64 }
