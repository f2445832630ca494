package splitvector

import "github.com/shardproof/shardproof/system/key"

// Upper completes a moveRange of which only the lower bound is known (protocol 13.3): rng reaches
// from there to the end of the chunk, and what moves is its first part, or all of it when it is no
// bigger than one.
func Upper(index Index, rng key.Range, collection Extent, chunkBytes int64) key.Range {
	return key.Range{
		Min: rng.Min,
		Max: firstPoint(index, Request{rng, collection, chunkBytes, 1, false}, rng.Max),
	}
}

// Lower completes a moveRange of which only the upper bound is known: rng reaches from the start of
// the chunk to there.
func Lower(index Index, rng key.Range, collection Extent, chunkBytes int64) key.Range {
	return key.Range{
		Min: firstPoint(index, Request{rng, collection, chunkBytes, 1, true}, rng.Min),
		Max: rng.Max,
	}
}

func firstPoint(index Index, req Request, otherwise key.Key) key.Key {
	if points := Points(index, req); len(points) > 0 {
		return points[0]
	}
	return otherwise
}

// Top is the optimisation of 4.2 for keys that grow or shrink: when the first or the last chunk of
// a collection is split, the point next to the end of all keys moves to the outermost document, so
// that almost nothing is in the part at the end, and that part is to be given to the shard with the
// fewest chunks. It returns the points to split at and the part to give away, which is empty when
// the chunk is at neither end. The outermost documents are those of the whole chunk; for a chunk
// that is the whole collection the lower end counts. Hashed keys do not grow: they are not asked
// for.
func Top(index Index, chunk key.Range, points []key.Key) ([]key.Key, key.Range) {
	lower, upper := chunk.Min == key.Min, chunk.Max == key.Max
	if len(points) == 0 || !lower && !upper {
		return points, key.Range{}
	}
	moved := append([]key.Key(nil), points...)
	outer, _ := firstKeyFrom(index, chunk, !lower)
	if lower {
		if chunk.Min < outer && outer < moved[0] {
			moved[0] = outer
		}
		return moved, key.Range{Min: chunk.Min, Max: moved[0]}
	}
	last := len(moved) - 1
	moved[last] = max(moved[last], outer)
	return moved, key.Range{Min: moved[last], Max: chunk.Max}
}
