package runner

import (
	"slices"

	"github.com/shardproof/shardproof/histories/scenario"
)

// raises reports whether splits or merges may have given a new major version to a shard whose chunks stay where they are. They
// number their chunks above the whole collection's version (protocol 3.2), so they do whenever the last migration was between
// others, and not only when they are set to raise the major version themselves.
func (r *run) raises() bool {
	return !protocolOf(r.scenario).MovesPartOfChunk() || slices.ContainsFunc(r.scenario.Commands, func(c scenario.Command) bool {
		return c.Do == scenario.SplitChunk || c.Do == scenario.MergeChunks
	})
}
