package splitvector_test

import (
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/splitvector"
)

// documents are shard keys in order, each document of 10 bytes.
type documents []int64

const size = 10

func (d documents) index(rng key.Range, down bool) iter.Seq2[key.Key, int] {
	from := sort.Search(len(d), func(i int) bool { return key.Int(d[i]) >= rng.Min })
	to := sort.Search(len(d), func(i int) bool { return key.Int(d[i]) >= rng.Max })
	return func(yield func(key.Key, int) bool) {
		for i := from; i < to; i++ {
			at := i
			if down {
				at = from + to - 1 - i
			}
			if !yield(key.Int(d[at]), size) {
				return
			}
		}
	}
}

func (d documents) in(rng key.Range) (n int) {
	for range d.index(rng, false) {
		n++
	}
	return n
}

// upTo are the keys 0 to n-1.
func upTo(n int64) documents {
	d := make(documents, n)
	for i := range d {
		d[i] = int64(i)
	}
	return d
}

// repeated are so many documents of each of these keys.
func repeated(each int, keys ...int64) documents {
	var d documents
	for _, k := range keys {
		for range each {
			d = append(d, k)
		}
	}
	return d
}

func (d documents) extent() (e splitvector.Extent) {
	for _, size := range d.index(key.Everything, false) {
		e.Documents++
		e.Bytes += int64(size)
	}
	return e
}

func between(min, max int64) key.Range { return key.Range{Min: key.Int(min), Max: key.Int(max)} }

// TestPoints: the examples of the sources (a chunk of 1000 documents of which 100 fit, one of
// 10,001 documents) and every branch of protocol 13.1.
func TestPoints(t *testing.T) {
	for name, c := range map[string]struct {
		docs  documents
		rng   key.Range
		fit   int64 // documents in a chunk
		limit int
		down  bool
		want  string
	}{
		"1000 documents, three points": {
			docs:  upTo(1000),
			rng:   key.Everything,
			fit:   100,
			limit: 3,
			want:  "[99 199 299]",
		},
		"1000 documents": {
			docs: upTo(1000),
			rng:  key.Everything,
			fit:  100,
			want: "[99 199 299 399 499 599 699 799 899]",
		},
		"1001 documents": {
			docs: upTo(1001),
			rng:  key.Everything,
			fit:  100,
			want: "[99 199 299 399 499 599 699 799 899]",
		},
		"a tail of a fifth is shared": {
			docs: upTo(1020),
			rng:  key.Everything,
			fit:  100,
			want: "[99 199 299 399 499 599 699 779 859 939]",
		},
		"a tail of a half is shared": {
			docs: upTo(1050),
			rng:  key.Everything,
			fit:  100,
			want: "[99 199 299 399 499 599 699 787 875 963]",
		},
		"a tail of four fifths stays": {
			docs: upTo(1080),
			rng:  key.Everything,
			fit:  100,
			want: "[99 199 299 399 499 599 699 799 899 999]",
		},
		"shared by all when there are few": {
			docs: upTo(150),
			rng:  key.Everything,
			fit:  100,
			want: "[74]",
		},
		"too little to share": {
			docs: upTo(130),
			rng:  key.Everything,
			fit:  100,
			want: "[]",
		},
		"the first part, to be moved": {
			docs:  upTo(1000),
			rng:   key.Everything,
			fit:   100,
			limit: 1,
			want:  "[99]",
		},
		"the first of two parts": {
			docs:  upTo(160),
			rng:   key.Everything,
			fit:   100,
			limit: 1,
			want:  "[79]",
		},
		"the last part, to be moved": {
			docs:  upTo(1000),
			rng:   key.Everything,
			fit:   100,
			limit: 1,
			down:  true,
			want:  "[900]",
		},
		"the last three parts": {
			docs:  upTo(1000),
			rng:   key.Everything,
			fit:   100,
			limit: 3,
			down:  true,
			want:  "[700 800 900]",
		},
		"inside a range": {
			docs: upTo(1000),
			rng:  between(300, 620),
			fit:  100,
			want: "[379 459 539]",
		},
		"less than a chunk on the shard": {
			docs: upTo(99),
			rng:  key.Everything,
			fit:  100,
			want: "[]",
		},
		"an empty shard": {rng: key.Everything, fit: 100, want: "[]"},
		"an empty range": {
			docs: upTo(1000),
			rng:  between(2000, 3000),
			fit:  100,
			want: "[]",
		},
		"one key": {
			docs: repeated(1000, 7),
			rng:  key.Everything,
			fit:  100,
			want: "[]",
		},
		"two keys": {
			docs: repeated(500, 7, 8),
			rng:  key.Everything,
			fit:  100,
			want: "[8]",
		},
		"two keys, from above": {
			docs: repeated(500, 7, 8),
			rng:  key.Everything,
			fit:  100,
			down: true,
			want: "[8]",
		},
		"a frequent key": {
			docs: append(append(upTo(50), repeated(300, 50)...), 51, 52, 53),
			rng:  key.Everything,
			fit:  100,
			want: "[50]",
		},
		"a frequent key, then others": {
			docs: append(repeated(300, 0), upTo(300)[1:]...),
			rng:  key.Everything,
			fit:  100,
			want: "[1 101 201]",
		},
		"documents that are bigger than all": {
			docs: upTo(5),
			rng:  key.Everything,
			fit:  0,
			want: "[1 2 3 4]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := splitvector.Points(c.docs.index, splitvector.Request{
				Range:      c.rng,
				Collection: c.docs.extent(),
				ChunkBytes: c.fit*size + 1,
				Limit:      c.limit,
				Down:       c.down,
			})
			if fmt.Sprint(got) != c.want {
				t.Errorf("split at %v, want %s", got, c.want)
			}
		})
	}
}

// TestTenThousandAndOne is the sources' example of a last part with one document: it is joined to
// the one before.
func TestTenThousandAndOne(t *testing.T) {
	docs := upTo(10_001)
	points := splitvector.Points(docs.index, splitvector.Request{
		Range:      key.Everything,
		Collection: docs.extent(),
		ChunkBytes: 100 * size,
	})
	if n := len(points); n != 99 || points[n-1] != key.Int(9899) {
		t.Errorf("%d points, the last %v", n, points[n-1])
	}
}

func TestResultStaysADocument(t *testing.T) {
	long := func(n int) key.Key {
		return key.String(strings.Repeat("x", 1<<20) + fmt.Sprintf("%03d", n))
	}
	index := func(rng key.Range, down bool) iter.Seq2[key.Key, int] {
		return func(yield func(key.Key, int) bool) {
			for n := range 40 {
				if down {
					n = 39 - n
				}
				if k := long(n); rng.Contains(k) && !yield(k, size) {
					return
				}
			}
		}
	}
	points := splitvector.Points(index, splitvector.Request{
		Range:      key.Everything,
		Collection: splitvector.Extent{Documents: 40, Bytes: 40 * size},
		ChunkBytes: size,
	})
	if len(points) != 15 {
		t.Errorf("%d points of a megabyte each", len(points))
	}
}

// TestFirstPointMayBeLong: one point there is, however much of a document it takes.
func TestFirstPointMayBeLong(t *testing.T) {
	long := []key.Key{key.String("a"), key.String(strings.Repeat("b", 16<<20))}
	index := func(rng key.Range, down bool) iter.Seq2[key.Key, int] {
		return func(yield func(key.Key, int) bool) {
			for n := range long {
				if down {
					n = 1 - n
				}
				if rng.Contains(long[n]) && !yield(long[n], size) {
					return
				}
			}
		}
	}
	points := splitvector.Points(index, splitvector.Request{
		Range:      key.Everything,
		Collection: splitvector.Extent{Documents: 2, Bytes: 2 * size},
		ChunkBytes: size,
	})
	if !slices.Equal(points, long[1:]) {
		t.Errorf("%d points of a key that fills a document, want that key", len(points))
	}
}

func TestMoveRangeBounds(t *testing.T) {
	docs := upTo(1000)
	chunk := between(100, 900)
	for _, c := range []struct {
		fit          int64
		upper, lower string
	}{
		{100, "199", "800"},
		{500, "499", "500"}, // 800 documents are 500 and a tail of 300: both parts get as many
		{700, "900", "100"}, // 700 and a tail of 100 are not worth a split
		{2000, "900", "100"},
	} {
		upper := splitvector.Upper(docs.index, chunk, docs.extent(), c.fit*size)
		lower := splitvector.Lower(docs.index, chunk, docs.extent(), c.fit*size)
		if upper.Max.String() != c.upper || lower.Min.String() != c.lower {
			t.Errorf("of %v at %d a chunk moves [100, %v) or [%v, 900), want %s and %s",
				chunk, c.fit, upper, lower, c.upper, c.lower)
		}
	}
}

func TestTop(t *testing.T) {
	docs := upTo(1000)
	low, high := key.Range{Min: key.Min, Max: key.Int(500)},
		key.Range{Min: key.Int(500), Max: key.Max}
	for _, c := range []struct {
		chunk  key.Range
		points []key.Key
		want   string
	}{
		{high, []key.Key{key.Int(600), key.Int(700)}, "[600 999] [999, MaxKey)"},
		{high, []key.Key{key.Int(600)}, "[999] [999, MaxKey)"},
		{low, []key.Key{key.Int(100), key.Int(200)}, "[0 200] [MinKey, 0)"},
		{key.Everything, []key.Key{key.Int(100), key.Int(200)}, "[0 200] [MinKey, 0)"},
		{between(100, 500), []key.Key{key.Int(200)}, "[200] [0x, 0x)"},
		{high, nil, "[] [0x, 0x)"},
		{
			key.Range{Min: key.Int(2000), Max: key.Max},
			[]key.Key{key.Int(2100)},
			"[2100] [2100, MaxKey)",
		},
	} {
		before := fmt.Sprint(c.points)
		points, part := splitvector.Top(docs.index, c.chunk, c.points)
		if got := fmt.Sprint(points, part); got != c.want || fmt.Sprint(c.points) != before {
			t.Errorf("%v split at %s: %s, want %s", c.chunk, before, got, c.want)
		}
	}
	least := func(key.Range, bool) iter.Seq2[key.Key, int] {
		return func(yield func(key.Key, int) bool) { yield(key.Min, size) }
	}
	points, part := splitvector.Top(least, low, []key.Key{key.Int(100)})
	if got := fmt.Sprint(points, part); got != "[100] [MinKey, 100)" {
		t.Errorf("below a document with the least of all keys nothing can be split off: %s", got)
	}
}

// drawn are documents of keys that repeat now and then, and a request for them.
func drawn(t *rapid.T) (documents, splitvector.Request) {
	docs := documents(rapid.SliceOfN(rapid.Int64Range(0,
		rapid.SampledFrom([]int64{3, 40, 5000}).Draw(t, "keys")), 0, 400).Draw(t, "docs"))
	slices.Sort(docs)
	a, b := rapid.Int64Range(-5, 300).Draw(t, "min"), rapid.Int64Range(-5, 6000).Draw(t, "max")
	return docs, splitvector.Request{
		Range:      between(min(a, b), max(a, b)),
		Collection: docs.extent(),
		ChunkBytes: rapid.Int64Range(1, 60*size).Draw(t, "chunk"),
		Limit:      rapid.IntRange(0, 4).Draw(t, "limit"),
		Down:       rapid.Bool().Draw(t, "down"),
	}
}

// TestPointsAreValid: points strictly increase inside the range, no part is empty, at most as many
// as wanted, and no point at all splits documents of one key.
func TestPointsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs, req := drawn(t)
		points := splitvector.Points(docs.index, req)
		if req.Limit > 0 && len(points) > req.Limit {
			t.Fatalf("%d points: %v", len(points), points)
		}
		last := req.Range.Min
		for _, p := range append(points, req.Range.Max) {
			if len(points) > 0 && (p <= last || docs.in(key.Range{Min: last, Max: p}) == 0) {
				t.Fatalf("%v cannot be split at %v: nothing in [%v, %v)",
					req.Range, points, last, p)
			}
			last = p
		}
	})
}

// TestPartsAreEven: with keys that differ, no part is bigger than a chunk by more than a third, and
// none smaller than two thirds but for the roundings.
func TestPartsAreEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := upTo(rapid.Int64Range(0, 3000).Draw(t, "documents"))
		fit := rapid.Int64Range(3, 500).Draw(t, "fit")
		req := splitvector.Request{
			Range:      key.Everything,
			Collection: docs.extent(),
			ChunkBytes: fit * size,
			Down:       rapid.Bool().Draw(t, "down"),
		}
		points := splitvector.Points(docs.index, req)
		if int64(len(docs)) > fit+fit/3+3 && len(points) == 0 {
			t.Fatalf("%d documents stay together though %d fit", len(docs), fit)
		}
		last := key.Min
		for _, p := range append(points, key.Max) {
			n := int64(docs.in(key.Range{Min: last, Max: p}))
			if len(points) > 0 && (3*n > 4*fit+6 || 3*n < 2*fit-6) {
				t.Fatalf("a part of %d documents where %d fit: %v of %d", n, fit, points, len(docs))
			}
			last = p
		}
	})
}

// TestBoundsOfMoves: what moves is at the known end of the range, has documents, and never leaves a
// remainder without any.
func TestBoundsOfMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs, req := drawn(t)
		upper := splitvector.Upper(docs.index, req.Range, req.Collection, req.ChunkBytes)
		lower := splitvector.Lower(docs.index, req.Range, req.Collection, req.ChunkBytes)
		if upper.Min != req.Range.Min || lower.Max != req.Range.Max {
			t.Fatalf("of %v move %v and %v", req.Range, upper, lower)
		}
		for _, parts := range [][2]key.Range{
			{upper, {Min: upper.Max, Max: req.Range.Max}},
			{{Min: req.Range.Min, Max: lower.Min}, lower},
		} {
			if parts[0].Empty() || parts[1].Empty() {
				continue // all of it moves
			}
			if docs.in(parts[0]) == 0 || docs.in(parts[1]) == 0 {
				t.Fatalf("%v is cut into %v", req.Range, parts)
			}
		}
	})
}

// BenchmarkPoints finds the points of a million documents.
func BenchmarkPoints(b *testing.B) {
	keys := make([]key.Key, 1_000_000)
	for i := range keys {
		keys[i] = key.Int(int64(i))
	}
	index := func(rng key.Range, down bool) iter.Seq2[key.Key, int] {
		from, _ := slices.BinarySearch(keys, rng.Min)
		to, _ := slices.BinarySearch(keys, rng.Max)
		return func(yield func(key.Key, int) bool) {
			for i := from; i < to; i++ {
				at := i
				if down {
					at = from + to - 1 - i
				}
				if !yield(keys[at], size) {
					return
				}
			}
		}
	}
	req := splitvector.Request{
		Range:      key.Everything,
		Collection: splitvector.Extent{Documents: 1_000_000, Bytes: 1_000_000 * size},
		ChunkBytes: 1_000 * size,
	}
	for _, limit := range []int{0, 1} {
		req.Limit = limit
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n := len(splitvector.Points(index, req)); n == 0 {
					b.Fatal("no points")
				}
			}
		})
	}
}
