package key_test

import (
	"cmp"
	"math"
	"math/big"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/key"
)

func toValue(t testing.TB, v any) bson.RawValue {
	t.Helper()
	if v == nil {
		return bson.RawValue{Type: bson.TypeNull}
	}
	kind, data, err := bson.MarshalValue(v)
	if err != nil {
		t.Fatal(err)
	}
	return bson.RawValue{Type: kind, Value: data}
}

func encode(t testing.TB, v any) key.Key {
	t.Helper()
	k, err := key.Encode(toValue(t, v))
	if err != nil {
		t.Fatalf("encode %v: %v", v, err)
	}
	return k
}

// ascending holds values in the order that MongoDB documents; values in one row are equal.
var ascending = [][]any{
	{bson.MinKey{}},
	{nil},
	{math.NaN()},
	{math.Inf(-1)},
	{-math.MaxFloat64},
	{-9.3e18},
	{int64(math.MinInt64), float64(math.MinInt64)},
	{int64(math.MinInt64 + 1)},
	{int64(-1<<53 - 1)},
	{int64(-1 << 53), -0x1p53},
	{-1.5},
	{int32(-1), int64(-1), -1.0},
	{-math.SmallestNonzeroFloat64},
	{int32(0), int64(0), 0.0, math.Copysign(0, -1)},
	{math.SmallestNonzeroFloat64},
	{0x1p-1022},
	{0.5},
	{int32(1), int64(1), 1.0},
	{1.5},
	{int32(2)},
	{int64(1 << 53), 0x1p53},
	{int64(1<<53 + 1)},
	{int64(math.MaxInt64)},
	{0x1p63},
	{math.MaxFloat64},
	{math.Inf(1)},
	{""},
	{"\x00"},
	{"\x00\x00"},
	{"\x00a"},
	{"\x01"},
	{"\x01\x00"},
	{"\x02"},
	{"a"},
	{"a\x00"},
	{"aa"},
	{"b"},
	{"\u00ff"},
	{bson.Binary{Data: []byte{}}},
	{bson.Binary{Data: []byte{9}}},
	{bson.Binary{Subtype: 4, Data: []byte{1}}},
	{bson.Binary{Data: []byte{0, 0}}},
	{bson.ObjectID{1}},
	{bson.ObjectID{2}},
	{false},
	{true},
	{bson.DateTime(-1)},
	{bson.DateTime(0)},
	{bson.DateTime(1)},
	{bson.Timestamp{T: 1, I: 2}},
	{bson.Timestamp{T: 2, I: 1}},
	{bson.MaxKey{}},
}

func TestOrder(t *testing.T) {
	for i, row := range ascending {
		for _, v := range row {
			for j, other := range ascending {
				for _, u := range other {
					if got := cmp.Compare(encode(t, v), encode(t, u)); got != cmp.Compare(i, j) {
						t.Errorf("%v (%T) and %v (%T) compare as %d", v, v, u, u, got)
					}
				}
			}
		}
	}
	if encode(t, bson.MinKey{}) != key.Min || encode(t, bson.MaxKey{}) != key.Max {
		t.Error("the ends of the order are not MinKey and MaxKey")
	}
}

func TestDecode(t *testing.T) {
	for _, row := range ascending {
		for _, v := range row {
			k := encode(t, v)
			got, err := key.Decode(k)
			if err != nil {
				t.Fatalf("decode %v: %v", v, err)
			}
			if again, err := key.Encode(got); err != nil || again != k {
				t.Errorf("%v became %v", v, got)
			}
		}
	}
}

func TestString(t *testing.T) {
	for want, v := range map[string]any{
		"MinKey": bson.MinKey{},
		"MaxKey": bson.MaxKey{},
		"null":   nil,
		"17":     int32(17),
		"-3":     -3.0,
		"1.5":    1.5,
		`"abc"`:  "abc",
		"true":   true,
		"NaN":    math.NaN(),
		"+Inf":   math.Inf(1),
	} {
		if got := encode(t, v).String(); got != want {
			t.Errorf("%v is written %s, not %s", v, got, want)
		}
	}
	if got := key.After(key.Int(3)).String(); got != "3+" {
		t.Errorf("the bound after 3 is written %s", got)
	}
	if got := (key.Range{Min: key.Int(3), Max: key.Int(17)}).String(); got != "[3, 17)" {
		t.Errorf("a range is written %s", got)
	}
}

func TestRefused(t *testing.T) {
	for _, v := range []any{bson.D{}, bson.A{}, bson.Regex{}, bson.Undefined{}, bson.Decimal128{}} {
		if k, err := key.Encode(toValue(t, v)); err == nil {
			t.Errorf("%T became the key %v", v, k)
		}
	}
	if _, err := key.Encode(bson.RawValue{Type: bson.TypeInt64, Value: []byte{1}}); err == nil {
		t.Error("a malformed value became a key")
	}
}

// TestBrokenKeys: no bytes make Decode panic, whatever it accepts has a key, and no key is a prefix
// of another.
func TestBrokenKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := key.Key(rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(t, "bytes"))
		if v, err := key.Decode(k); err == nil {
			if _, err := key.Encode(v); err != nil {
				t.Fatalf("%x became %v, which has no key", string(k), v)
			}
		}
	})
	for _, row := range ascending {
		k := encode(t, row[0])
		for n := range len(k) {
			if _, err := key.Decode(k[:n]); err == nil {
				t.Errorf("the first %d bytes of %x are a key", n, string(k))
			}
		}
	}
}

// number draws numbers near to each other's representations, where rounding would show.
var number = rapid.Custom(func(t *rapid.T) any {
	n := rapid.Int64().Draw(t, "n")
	switch rapid.IntRange(0, 3).Draw(t, "type") {
	case 0:
		return int32(n)
	case 1:
		return n
	case 2:
		return float64(n)
	}
	return rapid.Float64().Draw(t, "f")
})

func exact(v any) *big.Float {
	f := new(big.Float).SetPrec(2048)
	switch v := v.(type) {
	case int32:
		return f.SetInt64(int64(v))
	case int64:
		return f.SetInt64(v)
	}
	return f.SetFloat64(v.(float64))
}

func TestNumbersCompareExactly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := number.Draw(rt, "a"), number.Draw(rt, "b")
		if rapid.Bool().Draw(rt, "near") {
			b, _ = exact(a).Float64()
		}
		got, want := cmp.Compare(encode(t, a), encode(t, b)), exact(a).Cmp(exact(b))
		if got != want {
			rt.Fatalf("%v (%T) and %v (%T) compare as %d, not %d", a, a, b, b, got, want)
		}
		v, err := key.Decode(encode(t, a))
		if err != nil {
			rt.Fatal(err)
		}
		var back any
		if err := v.Unmarshal(&back); err != nil {
			rt.Fatal(err)
		}
		if exact(back).Cmp(exact(a)) != 0 {
			rt.Fatalf("%v (%T) became %v", a, a, back)
		}
	})
}

var anyValue = rapid.Custom(func(t *rapid.T) any {
	text := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 'a', 255}), 0, 4)
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return number.Draw(t, "number")
	case 1:
		return string(text.Draw(t, "text"))
	case 2:
		return bson.Binary{Subtype: rapid.Byte().Draw(t, "subtype"), Data: text.Draw(t, "data")}
	case 3:
		return rapid.Bool().Draw(t, "bool")
	}
	return nil
})

// TestConcatenation: pairs of keys sort by the first, then the second.
func TestConcatenation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var k [4]key.Key
		for i := range k {
			k[i] = encode(t, anyValue.Draw(rt, "value"))
		}
		if rapid.Bool().Draw(rt, "same first") {
			k[2] = k[0]
		}
		want := cmp.Or(cmp.Compare(k[0], k[2]), cmp.Compare(k[1], k[3]))
		if got := cmp.Compare(k[0]+k[1], k[2]+k[3]); got != want {
			rt.Fatalf("(%v, %v) and (%v, %v) compare as %d, not %d",
				k[0], k[1], k[2], k[3], got, want)
		}
	})
}

func BenchmarkInt(b *testing.B) {
	for b.Loop() {
		key.Int(123456)
	}
}
