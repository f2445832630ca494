package catalog

import (
	"math"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
)

// First returns the chunks of a new collection: bounds are the inner bounds, chunk i has version
// 1|i and goes to shards[i mod len(shards)].
func First(coll Collection, bounds []key.Key, shards []string) ([]Chunk, error) {
	if len(shards) == 0 {
		return nil, errcode.New(errcode.BadValue, "collection %s needs a shard", coll.NS)
	}
	if err := checkInnerPoints(key.Everything, bounds); err != nil {
		return nil, err
	}
	chunks := make([]Chunk, 0, len(bounds)+1)
	for i, piece := range cutRange(key.Everything, bounds) {
		chunks = append(chunks, coll.first(i, piece, shards[i%len(shards)]))
	}
	return chunks, nil
}

func (c Collection) first(i int, rng key.Range, shard string) Chunk {
	return Chunk{
		Range:               rng,
		Shard:               shard,
		Version:             c.Version().with(1, uint32(i)),
		History:             []Placement{{c.Timestamp, shard}},
		OnCurrentShardSince: c.Timestamp,
	}
}

// FirstHashed returns the chunks of a new collection with a hashed shard key: each shard gets so
// many chunks next to each other, of equal shares of the hashes.
func FirstHashed(coll Collection, shards []string, each int) ([]Chunk, error) {
	n := len(shards) * each
	if n <= 0 {
		return nil, errcode.New(errcode.BadValue, "%d chunks for each of %d shards are none",
			each, len(shards))
	}
	chunks := make([]Chunk, 0, n)
	for i, piece := range cutRange(key.Everything, HashedBounds(n)) {
		chunks = append(chunks, coll.first(i, piece, shards[i/each]))
	}
	return chunks, nil
}

// HashedBounds returns the inner bounds of n chunks of equal shares of the hashes, symmetric around
// 0.
func HashedBounds(n int) []key.Key {
	bounds := make([]key.Key, 0, n-1)
	half := math.MaxInt64 / int64(n)
	for i := 2 - n; i < n; i += 2 {
		bounds = append(bounds, key.Int(int64(i)*half))
	}
	return bounds
}

// FirstZoned returns the chunks of a new collection with zones: one for each zone's range and one
// for each gap. The ranges of a zone take the shards of the zone in turn, the gaps take all shards
// in turn; members[""] are all shards. It is an errcode.BadValue when a zone has no shard.
func FirstZoned(coll Collection, zones Zones, members map[string][]string) ([]Chunk, error) {
	var chunks []Chunk
	turn := make(map[string]int, len(members))
	for piece := range zones.Pieces() {
		shards := members[piece.Name]
		if len(shards) == 0 {
			return nil, errcode.New(errcode.BadValue, "zone %q of collection %s has no shard",
				piece.Name, coll.NS)
		}
		chunks = append(chunks,
			coll.first(len(chunks), piece.Range, shards[turn[piece.Name]%len(shards)]))
		turn[piece.Name]++
	}
	return chunks, nil
}
