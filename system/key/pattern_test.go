package key_test

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/key"
)

func document(t testing.TB, d bson.D) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestPatternOf(t *testing.T) {
	doc := document(t, bson.D{{Key: "_id", Value: 4}, {Key: "k", Value: int32(7)},
		{Key: "a", Value: bson.D{{Key: "b", Value: "x"}, {Key: "m", Value: bson.MaxKey{}}}},
		{Key: "l", Value: bson.A{1}}})
	for field, want := range map[string]key.Key{
		"k":    key.Int(7),
		"a.b":  key.String("x"),
		"a.c":  encode(t, nil),
		"k.x":  encode(t, nil),
		"none": encode(t, nil),
	} {
		if got, err := (key.Pattern{Field: field}).Of(doc); err != nil || got != want {
			t.Errorf("%s is %v (%v), not %v", field, got, err, want)
		}
	}
	for _, field := range []string{"l", "l.0", "a", "a.m"} {
		if got, err := (key.Pattern{Field: field}).Of(doc); err == nil {
			t.Errorf("%s is a shard key: %v", field, got)
		}
	}
}

func TestHashed(t *testing.T) {
	p := key.Pattern{Field: "k", Hashed: true}
	sum := md5.Sum([]byte(key.Int(7)))
	want := key.Int(int64(binary.LittleEndian.Uint64(sum[:8])))
	for _, v := range []any{int32(7), int64(7), 7.0} {
		got, err := p.Of(document(t, bson.D{{Key: "k", Value: v}}))
		if err != nil || got != want {
			t.Errorf("%v (%T) has the hash %v (%v), not %v", v, v, got, err, want)
		}
	}
}

func TestPatternDocument(t *testing.T) {
	for _, p := range []key.Pattern{{Field: "k"}, {Field: "a.b", Hashed: true}} {
		if got, err := key.PatternOf(p.Document()); err != nil || got != p {
			t.Errorf("%v became %v (%v)", p, got, err)
		}
	}
	for _, d := range []bson.D{
		{},
		{{Key: "k", Value: -1}},
		{{Key: "k", Value: "text"}},
		{{Key: "a", Value: 1}, {Key: "b", Value: 1}},
	} {
		if p, err := key.PatternOf(document(t, d)); err == nil {
			t.Errorf("%v became %v", d, p)
		}
	}
}

func TestDocumentKey(t *testing.T) {
	doc := document(t, bson.D{
		{Key: "_id", Value: 7}, {Key: "k", Value: "x"}, {Key: "a", Value: bson.D{{Key: "b", Value: 1}}},
	})
	for _, c := range []struct {
		pattern key.Pattern
		want    bson.D
	}{
		{key.Pattern{Field: "k"}, bson.D{{Key: "k", Value: "x"}, {Key: "_id", Value: 7}}},
		{key.Pattern{Field: "k", Hashed: true}, bson.D{{Key: "k", Value: "x"}, {Key: "_id", Value: 7}}},
		{key.Pattern{Field: "a.b"}, bson.D{{Key: "a.b", Value: 1}, {Key: "_id", Value: 7}}},
		{key.Pattern{Field: "_id"}, nil},
		{key.Pattern{Field: "k", Unsharded: true}, nil},
		{key.Pattern{Field: "missing"}, nil},
		{key.Pattern{}, nil},
	} {
		want := bson.Raw(nil)
		if c.want != nil {
			want = document(t, c.want)
		}
		if got := c.pattern.DocumentKey(doc); !bytes.Equal(got, want) {
			t.Errorf("by %v the key is %v, not %v", c.pattern, got, want)
		}
	}
}

func TestRangeAlgebra(t *testing.T) {
	bound := rapid.Map(rapid.Int64Range(0, 8), key.Int)
	draw := func(t *rapid.T) key.Range {
		return key.Range{Min: bound.Draw(t, "min"), Max: bound.Draw(t, "max")}
	}
	rapid.Check(t, func(t *rapid.T) {
		r, s := draw(t), draw(t)
		within, both := true, false
		for n := range int64(9) {
			k := key.Int(n)
			within = within && (!s.Contains(k) || r.Contains(k))
			both = both || r.Contains(k) && s.Contains(k)
			if r.Intersect(s).Contains(k) != (r.Contains(k) && s.Contains(k)) {
				t.Fatalf("%v in %v and %v, but not so in the intersection", k, r, s)
			}
		}
		if r.ContainsRange(s) != within || r.Overlaps(s) != both {
			t.Fatalf("%v contains %v: %v, not %v; overlaps: %v, not %v",
				r, s, r.ContainsRange(s), within, r.Overlaps(s), both)
		}
	})
}
