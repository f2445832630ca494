package oracle

import (
	"maps"
	"slices"
)

// MayForget reports whether a shard whose range deletions live in its primary's memory (protocol
// 10.2) may have forgotten that it has to delete what it holds of a key: since a migration that
// gave the key away, or began to bring it, another primary was elected, or the collection dropped.
// Nor does a donor know that never read what became of its commit, or had given the migration up
// before it was committed, or that an operator or an error stopped before it began the deletion
// (protocol 4), or a recipient that had everything and was never told that the commit had failed.
func (o *Oracle) MayForget(ns, shard, key string) bool {
	for _, id := range slices.Sorted(maps.Keys(o.moves)) {
		m := o.moves[id]
		same := m.ns == ns || m.life != 0 && m.life == o.lives[ns] // it may have been renamed
		if same && m.min <= key && key < m.max && o.forgets(m, shard) {
			return true
		}
	}
	return false
}

func (o *Oracle) forgets(m *move, shard string) bool {
	switch {
	case m.began == 0:
		return false
	case o.drops[m.ns] > m.began:
		return true
	case shard == m.from:
		return o.elections[shard] > m.began || !m.reported ||
			!m.swept && (o.killed > m.began || o.isUnfenced(m.id))
	case shard == m.to:
		return o.elections[shard] > m.began || m.arrived && m.committed == 0
	}
	return false
}
