package migration

import (
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/splitvector"
)

// computeBound completes a range of which one bound is open: the donor gives as much as makes a
// chunk (protocol 13.3). That is the range of the migration from then on; a request that repeats
// the open bound joins it, and one that comes after its end may get another range.
func (d *donorMigration) computeBound(t env.Task) error {
	left := d.s.coordinators.All()
	d.s.node.Assert(len(left) == 0, "migration %s begins while records of %d others exist: %v",
		d.record.Migration, len(left), left)
	md, err := d.placement()
	if err != nil {
		return err
	}
	lower, upper := d.req.Min, d.req.Max
	switch {
	case lower == "" && upper == "":
		return errcode.New(errcode.BadValue,
			"a range of %s without bounds is to be moved", d.req.NS)
	case upper == "":
		chunk := md.Table.Owner(lower)
		return d.complete(t, chunk, key.Range{Min: lower, Max: chunk.Max}, splitvector.Upper)
	case lower == "":
		chunk := md.Table.Below(upper)
		return d.complete(t, chunk, key.Range{Min: chunk.Min, Max: upper}, splitvector.Lower)
	}
	return nil
}

// cutFunc cuts from a range what is to move: package splitvector has one for either end.
type cutFunc func(splitvector.Index, key.Range, splitvector.Extent, int64) key.Range

// complete cuts from the known end of the range, which is a part of the chunk.
func (d *donorMigration) complete(
	t env.Task, chunk catalog.Chunk, rng key.Range, part cutFunc,
) error {
	if chunk.Shard != d.s.shard.Name() {
		return errcode.New(errcode.IncompatibleShardingMetadata, "%v of %s is not on %s",
			chunk, d.req.NS, d.s.shard.Name())
	}
	note := env.Note{ID: d.record.Migration}
	if err := t.Point(failpoint.SplitAutoScan, note); err != nil {
		return err
	}
	if d.s.settings.RandomSplit > 0 {
		part = d.atRandom
	}
	moves := part(d.s.shard.Index(d.req.NS), rng, d.s.shard.Extent(d.req.NS), d.chunkBytes())
	d.record.Min, d.record.Max = []byte(moves.Min), []byte(moves.Max)
	return t.Point(failpoint.SplitPickPoints, note)
}

// chunkBytes is the size of a chunk that the request aims at.
func (d *donorMigration) chunkBytes() int64 {
	if d.req.ChunkBytes > 0 {
		return d.req.ChunkBytes
	}
	return int64(d.s.settings.MaxChunkBytes)
}

const chooseBound env.Choice = "migration.bound"

// atRandom ends the range at any of its documents, or at its end: for a test of everything else.
func (d *donorMigration) atRandom(
	index splitvector.Index, rng key.Range, _ splitvector.Extent, _ int64,
) key.Range {
	ends := []key.Key{rng.Max}
	if d.req.Min == "" {
		ends[0] = rng.Min
	}
	for k := range index(rng, false) {
		if k > rng.Min && k != ends[len(ends)-1] {
			ends = append(ends, k)
		}
	}
	end := ends[d.s.node.Choose(chooseBound, d.record.Migration, len(ends))]
	if d.req.Min == "" {
		return key.Range{Min: end, Max: rng.Max}
	}
	return key.Range{Min: rng.Min, Max: end}
}
