// Package splitvector finds where a range of a collection can be split so that the parts have the
// size that balancing aims at (autoSplitVector, protocol 13.1 and 13.3), and which part to give
// away when keys grow at an end (4.2). It is pure: what it reads is an index handed in.
//
// Promise: points strictly increase inside the range and no part between them is without documents.
//
// Refusal: it does not look at the size of single documents; all are taken to be of the average
// size on the shard, as in the sources.
package splitvector

import (
	"iter"
	"slices"

	"github.com/shardproof/shardproof/system/key"
)

// Index gives the shard keys and sizes of the documents in a range that a shard has, equal keys as
// often as there are documents, upwards or downwards. It may be asked several times and left at any
// point.
type Index func(rng key.Range, down bool) iter.Seq2[key.Key, int]

// Extent is how much of a collection a shard has.
type Extent struct{ Documents, Bytes int64 }

// Request is what Points is asked for.
type Request struct {
	Range key.Range
	// Collection is what the shard has of the whole collection, inside the range or not.
	Collection Extent
	// ChunkBytes is the size of a part that is aimed at.
	ChunkBytes int64
	// Limit is how many points are wanted at most; 0 is no limit.
	Limit int
	// Down looks for points from the upper end of the range, so that a limit keeps the upper ones.
	Down bool
}

// Points returns where to split the range, in increasing order. There are none when the shard has
// less of the collection than one chunk should have, and none when all documents in the range have
// the same key.
func Points(index Index, req Request) []key.Key {
	if req.Collection.Documents == 0 || req.Collection.Bytes < req.ChunkBytes {
		return nil
	}
	lowest, some := firstKeyFrom(index, req.Range, false)
	highest, _ := firstKeyFrom(index, req.Range, true)
	if !some || lowest == highest {
		return nil
	}
	every := req.ChunkBytes / max(1, req.Collection.Bytes/req.Collection.Documents)
	s := pointScan{index: index, Request: req, lowest: lowest}
	found := s.evenTail(s.points(every), every)
	if req.Limit > 0 && len(found) > req.Limit {
		found = found[:req.Limit]
	}
	if req.Down {
		slices.Reverse(found)
	}
	return found
}

// firstKeyFrom is the first key of the range in a direction.
func firstKeyFrom(index Index, rng key.Range, down bool) (key.Key, bool) {
	for k := range index(rng, down) {
		return k, true
	}
	return "", false
}

// pointScan is one search for points, in the direction of the request.
type pointScan struct {
	Request
	index Index
	// lowest is the first key of the range, which is no point: nothing would be below it.
	lowest key.Key
	// counted is how many documents follow the last point.
	counted int64
}

// resultBytes is the most that the points may take together, that of a document; beside its key a
// point takes so much as an element of an array.
const (
	resultBytes = 16 << 20
	pointBytes  = 16
)

// points takes every so many documents a key. The first document is counted before any is looked
// at, so the first part has one document less than the others. One point more than wanted is looked
// for, so that the part behind the last is no small one.
func (s *pointScan) points(every int64) []key.Key {
	most := 0
	if s.Limit > 0 {
		most = s.Limit + 1
	}
	return s.walk(nil, every, most)
}

// evenTail avoids a small last part (protocol 13.1): below 80 % of the others it is joined to the
// part before, or, when that would be too uneven, the last points, at most three, are moved so that
// all parts between them are equal.
func (s *pointScan) evenTail(found []key.Key, every int64) []key.Key {
	if len(found) == 0 || 5*s.counted >= 4*every {
		return found
	}
	moved := min(3, len(found))
	even := every - (every-s.counted)/int64(moved+1)
	if s.counted < every-even {
		return found[:len(found)-1]
	}
	kept := found[:len(found)-moved]
	return s.walk(kept, even, len(found))
}

// walk adds points behind those found until there are most of them; 0 is no limit. A key that is
// the last point already cannot be the next one, however many documents have it.
func (s *pointScan) walk(found []key.Key, every int64, most int) []key.Key {
	last, rest := s.behind(found)
	if s.counted = 0; len(found) == 0 {
		s.counted = 1
	}
	bytes := 0
	for k := range rest {
		if s.Down && k == last {
			continue // it is above the point
		}
		if s.counted++; s.counted < every || k == last || k == s.lowest {
			continue
		}
		if bytes += len(k) + pointBytes; bytes > resultBytes && len(found) > 0 {
			break
		}
		found, last, s.counted = append(found, k), k, 0
		if len(found) == most {
			break
		}
	}
	return found
}

// behind gives the last of the points found and the documents that follow on it in the direction of
// the search, without the first of all, which counts as looked at, and without the first of an
// upward point, which is the one that it was found by.
func (s *pointScan) behind(found []key.Key) (last key.Key, rest iter.Seq[key.Key]) {
	rng, skip := s.Range, true
	if len(found) > 0 {
		last = found[len(found)-1]
		if s.Down {
			rng.Max, skip = last, false
		} else {
			rng.Min = last
		}
	}
	return last, func(yield func(key.Key) bool) {
		for k := range s.index(rng, s.Down) {
			if skip {
				skip = false
			} else if !yield(k) {
				return
			}
		}
	}
}
