package balance

import (
	"fmt"
	"slices"
	"strings"
)

// Extent is the part of a collection on a shard: the sorted shard keys of its documents, with
// duplicates, and their total size in bytes.
type Extent struct {
	Keys  []string
	Bytes int64
}

// Within are the keys of a range.
func (x Extent) Within(lo, hi string) []string {
	from, _ := slices.BinarySearch(x.Keys, lo)
	to, _ := slices.BinarySearch(x.Keys, hi)
	return x.Keys[from:to]
}

// Points is where a range is to be split into parts of that size (protocol 13.1). All documents
// count as having the average size.
func (x Extent) Points(lo, hi string, chunkBytes int64) []string {
	keys, n := x.Within(lo, hi), int64(len(x.Keys))
	if n == 0 || x.Bytes < chunkBytes || len(keys) == 0 || keys[0] == keys[len(keys)-1] {
		return nil
	}
	every := chunkBytes / max(1, x.Bytes/n)
	points, rest := scan(keys, nil, every, len(keys))
	if len(points) == 0 || 5*rest >= 4*every {
		return points
	}
	again := min(3, len(points))
	smaller := every - (every-rest)/int64(again+1)
	if rest < every-smaller {
		return points[:len(points)-1]
	}
	points, _ = scan(keys, points[:len(points)-again], smaller, again)
	return points
}

// Cut tells what there is to be cut, and how many documents the parts of a cut would have.
func (x Extent) Cut(lo, hi string, points []string, chunkBytes int64) string {
	var parts []string
	for _, to := range append(slices.Clone(points), hi) {
		parts = append(parts, fmt.Sprint(len(x.Within(lo, to))))
		lo = to
	}
	text := fmt.Sprintf("%d documents of %d bytes in all, and a chunk has %d bytes",
		len(x.Keys), x.Bytes, chunkBytes)
	if x.Bytes > 0 {
		text += fmt.Sprintf(", which is %d documents", chunkBytes*int64(len(x.Keys))/x.Bytes)
	}
	return text + "; the parts of this chunk would have " + strings.Join(parts, ", ")
}

// scan adds at most atMost points after the last one, one after every so many documents, and
// returns how many documents remain after the last.
func scan(keys, points []string, every int64, atMost int) (all []string, rest int64) {
	at, last := 0, ""
	if n := len(points); n > 0 {
		last = points[n-1]
		at, _ = slices.BinarySearch(keys, last)
	} else {
		rest = 1
	}
	for _, k := range keys[min(at+1, len(keys)):] {
		if atMost == 0 {
			break
		}
		if rest++; rest < every || k == last || k == keys[0] {
			continue
		}
		points, last, rest = append(points, k), k, 0
		atMost--
	}
	return points, rest
}

// Automatic is where 4.2 splits a chunk automatically (protocol 13.2): into halves of the target
// size, at two points at least. A point next to MinKey or MaxKey moves to the outermost document,
// except for a hashed key, which does not grow; that one is looked up afterwards.
func (x Extent) Automatic(
	after Extent, lo, hi string, chunkBytes int64, first, last, hashed bool,
) []string {
	points := slices.Clone(x.Points(lo, hi, chunkBytes/2))
	if len(points) < 2 {
		return nil
	}
	keys := after.Within(lo, hi)
	switch outer := len(keys) - 1; {
	case hashed || outer < 0:
	case first && lo < keys[0]:
		points[0] = min(points[0], keys[0])
	case last && !first:
		points[len(points)-1] = max(points[len(points)-1], keys[outer])
	}
	return points
}
