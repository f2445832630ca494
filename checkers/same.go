package checkers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/event"
)

// The signatures of collections that differ between shards (K-IDX).
const (
	UUIDDiffers    = "collection-uuid-differs"
	IndexesDiffer  = "indexes-differ"
	CollectionGone = "collection-missing-on-owner"
)

// checkIncarnations is K-IDX: every shard that owns a part of the collection has it, as the incarnation that the catalogue
// knows and with the same indexes; and nobody has another incarnation. A shard that owns nothing any more may keep an
// empty collection.
func (a *Audit) checkIncarnations(v *Verdict) {
	if a.UUID == "" {
		return
	}
	var first *Member
	for i := range a.Members {
		m := &a.Members[i]
		owner := slices.ContainsFunc(a.Table, func(c event.Chunk) bool { return c.Shard == m.Shard })
		switch {
		case m.Unreachable:
		case m.UUID != "" && m.UUID != a.UUID:
			a.add(v, UUIDDiffers, "", fmt.Sprintf("%s has %s as %s", m.Node, a.NS, m.UUID), "the catalogue knows it as "+a.UUID)
		case owner && m.UUID == "":
			a.add(v, CollectionGone, "", fmt.Sprintf("%s has no collection %s", m.Node, a.NS), m.Shard+" owns a part of it")
		case !owner:
		case first == nil:
			first = m
		case !slices.Equal(first.Indexes, m.Indexes):
			a.add(v, IndexesDiffer, "", fmt.Sprintf("%s has indexes {%s} on %s", m.Node, strings.Join(m.Indexes, ", "), a.NS),
				fmt.Sprintf("%s has {%s}, and both own a part of it", first.Node, strings.Join(first.Indexes, ", ")))
		}
	}
}
