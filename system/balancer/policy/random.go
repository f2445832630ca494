package policy

import (
	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/system/catalog"
)

// Shuffled is a permutation of 0 to n-1 that depends on nothing but the seed: the order in which a
// round looks at collections.
func Shuffled(n int, seed uint64) []int {
	order := make([]int, n)
	for i := range order {
		j := int(keyedRandom(seed).number(uint64(i)) % uint64(i+1))
		order[i], order[j] = order[j], i
	}
	return order
}

// AtRandom chooses for a collection by the seed alone, whether that balances anything or not: it
// makes the balancer a source of chaos. What holds for every round holds for it too.
func (r *Round) AtRandom(c *Collection, seed uint64, open bool) {
	if c.fixed() || r.Exhausted() {
		return
	}
	d := keyedRandom(keyedRandom(seed).text(c.Table.Collection().NS))
	picked := r.pick(c, d)
	for _, i := range Shuffled(len(r.shards), uint64(d)) {
		chunk := picked[i].chunk
		if r.used[i] || chunk.Shard == "" {
			continue
		}
		if to := r.anyReceiver(i, c.Zones.Of(chunk.Range), d); to >= 0 {
			r.choose(c, chunk, to, AtRandom, open)
		}
	}
}

type candidate struct {
	chunk catalog.Chunk
	rank  uint64
}

// pick takes from each shard the chunk whose bound draws the lowest number.
func (r *Round) pick(c *Collection, d keyedRandom) []candidate {
	picked := make([]candidate, len(r.shards))
	for chunk := range c.Table.Chunks() {
		i, known := r.index[chunk.Shard]
		if !known || chunk.Jumbo || c.Zones.Crosses(chunk.Range) {
			continue
		}
		if rank := d.text(string(chunk.Min)); picked[i].chunk.Shard == "" || rank < picked[i].rank {
			picked[i] = candidate{chunk, rank}
		}
	}
	return picked
}

// anyReceiver is a shard that takes the zone, other than the one that gives.
func (r *Round) anyReceiver(from int, zone string, d keyedRandom) int {
	best, lowest := -1, uint64(0)
	for i := range r.shards {
		if i == from || r.used[i] || !r.shards[i].takes(zone) {
			continue
		}
		if rank := d.number(uint64(from)<<32 | uint64(i)); best < 0 || rank < lowest {
			best, lowest = i, rank
		}
	}
	return best
}

// keyedRandom makes numbers out of a seed and of what they are for.
type keyedRandom uint64

func (d keyedRandom) text(s string) uint64 { return d.number(keyed.Text(keyed.Basis, s)) }

func (d keyedRandom) number(n uint64) uint64 {
	return keyed.Mix((uint64(d) + keyed.Golden) ^ n*0xd1342543de82ef95)
}
