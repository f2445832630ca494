package query

import (
	"cmp"
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Decimals have no keys, so they are compared by their values here.

// decimals reports whether both are numbers, and one of them a decimal.
func decimals(a, b bson.RawValue) bool {
	return isNumber(a.Type) && isNumber(b.Type) &&
		(a.Type == bson.TypeDecimal128 || b.Type == bson.TypeDecimal128)
}

// compareNumbers is exact. NaN is below all other numbers.
func compareNumbers(a, b bson.RawValue) int {
	infiniteA, x := valueOf(a)
	infiniteB, y := valueOf(b)
	if d := cmp.Compare(infiniteA, infiniteB); d != 0 || x == nil || y == nil {
		return d
	}
	return x.Cmp(y)
}

// The place of a number among those that are infinite or none.
const (
	noNumber = iota
	belowAll
	finite
	aboveAll
)

// valueOf is the value of a number that is finite, and its place.
func valueOf(v bson.RawValue) (place int, value *big.Rat) {
	if d, ok := v.Decimal128OK(); ok {
		digits, exponent, err := d.BigInt()
		switch {
		case d.IsNaN():
			return noNumber, nil
		case err != nil:
			return finite + d.IsInf(), nil
		}
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
		if exponent < 0 {
			return finite, new(big.Rat).SetFrac(digits, power)
		}
		return finite, new(big.Rat).SetInt(digits.Mul(digits, power))
	}
	f, ok := v.DoubleOK()
	switch {
	case !ok:
		return finite, new(big.Rat).SetInt64(v.AsInt64())
	case math.IsNaN(f):
		return noNumber, nil
	case math.IsInf(f, -1):
		return belowAll, nil
	case math.IsInf(f, 1):
		return aboveAll, nil
	}
	return finite, new(big.Rat).SetFloat64(f)
}
