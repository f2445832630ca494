package endstate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/trace"
)

// The signatures of collections that differ between shards (K-IDX).
const (
	uuidDiffers    verdict.Signature = "collection-uuid-mismatch"
	indexesDiffer  verdict.Signature = "index-mismatch"
	collectionGone verdict.Signature = "collection-missing-on-owner"
	indexMissing   verdict.Signature = "index-missing"
	indexKept      verdict.Signature = "index-not-dropped"
	optionsDiffer  verdict.Signature = "options-mismatch"
)

// checkIncarnations is K-IDX: every shard that owns a part of the collection has it, as the
// incarnation that the catalog knows and with the same indexes, those that clients have made; and
// nobody has another incarnation. Of an unsharded collection the catalog knows nothing: there it is
// the indexes alone. A shard that owns nothing any more may keep an empty collection;
// a replica set that is no shard has its collections dropped when it joins (protocol 14.4).
func (a *Audit) checkIncarnations(v *verdict.Verdict) {
	if a.UUID == "" && !a.Unsharded {
		return
	}
	var first *Member
	made, known := a.indexed()
	for i := range a.Members {
		m := &a.Members[i]
		owner := slices.ContainsFunc(a.Table, func(c trace.Chunk) bool {
			return c.Shard == m.Shard
		})
		switch {
		case m.Unreachable || m.Outside && !owner:
		case m.UUID != "" && m.UUID != a.UUID && !a.Unsharded:
			a.add(v, uuidDiffers, "", fmt.Sprintf("%s has %s with UUID %s", m.Node, a.NS, m.UUID),
				"the catalog has UUID "+a.UUID)
		case owner && m.UUID == "" && !a.Unsharded:
			a.add(v, collectionGone, "", fmt.Sprintf("%s has no collection %s", m.Node, a.NS),
				m.Shard+" owns chunks of it")
		case !owner:
		case known && made && !m.indexed(a.Index):
			a.add(v, indexMissing, "", fmt.Sprintf("%s has no index on %s", m.Node, a.NS),
				"the index was created, and nothing dropped it afterwards")
		case known && !made && m.indexed(a.Index):
			a.add(v, indexKept, "",
				fmt.Sprintf("%s has indexes {%s} on %s", m.Node, strings.Join(m.Indexes, ", "),
					a.NS), "they were dropped, and nothing created them afterwards")
		case first == nil:
			first = m
		case !slices.Equal(first.Indexes, m.Indexes):
			a.add(v, indexesDiffer, "", fmt.Sprintf("%s has indexes {%s} on %s",
				m.Node, strings.Join(m.Indexes, ", "), a.NS),
				fmt.Sprintf("%s has {%s}, and both own chunks of it",
					first.Node, strings.Join(first.Indexes, ", ")))
		}
	}
}

// checkOptions: of one incarnation every member has the same options, whether it owns any of it or
// not, and those that were asked for.
func (a *Audit) checkOptions(v *verdict.Verdict) {
	first := map[string]*Member{}
	for i := range a.Members {
		m := &a.Members[i]
		if m.Unreachable || m.UUID == "" {
			continue
		}
		asked, known := a.Options[m.UUID]
		other := first[m.UUID]
		switch {
		case known && m.Options != asked:
			a.add(v, optionsDiffer, "", fmt.Sprintf("%s has %s with the options %q", m.Node, m.UUID,
				m.Options), fmt.Sprintf("it was made with %q", asked))
		case other == nil:
			first[m.UUID] = m
		case other.Options != m.Options:
			a.add(v, optionsDiffer, "", fmt.Sprintf("%s has %s with the options %q", m.Node, m.UUID,
				m.Options), fmt.Sprintf("%s has it with %q", other.Node, other.Options))
		}
	}
}

// checkDescribed: every index is as one who made it has described it.
func (a *Audit) checkDescribed(v *verdict.Verdict) {
	for i := range a.Members {
		m := &a.Members[i]
		for _, index := range m.Indexes {
			name, is, _ := strings.Cut(index, " ")
			if may, known := a.Described[name]; known && !slices.Contains(may, is) {
				a.add(v, indexesDiffer, "", fmt.Sprintf("%s has index %s of %s as %s", m.Node, name,
					a.NS, is), fmt.Sprintf("it was made as %q", may))
			}
		}
	}
}

// indexed says whether the member has an index of that name, or with an empty one any.
func (m *Member) indexed(name string) bool {
	if name == "" {
		return len(m.Indexes) > 0
	}
	return slices.ContainsFunc(m.Indexes, func(one string) bool {
		return strings.HasPrefix(one, name+" ")
	})
}

// indexed says whether the collection has its index in the end, which is known when the last
// operation to make or remove it was acknowledged, began after all others had ended, and was not
// beside a copy.
func (a *Audit) indexed() (made, known bool) {
	for i := range a.Whole {
		op := &a.Whole[i]
		index := op.Kind.Of().Index
		makes, removes := index == opkind.IndexMade, index == opkind.IndexRemoved
		if (makes || removes) && op.Outcome == histories.OK && last(op, a.Whole) {
			return makes, !slices.ContainsFunc(a.Copied, func(span [2]int64) bool {
				return op.CallAt <= span[1] && op.ReturnAt >= span[0]
			})
		}
	}
	return false, false
}

// last says whether the operation began after every other one had ended that changes indexes.
func last(op *histories.Op, ops []histories.Op) bool {
	return !slices.ContainsFunc(ops, func(other histories.Op) bool {
		changes := other.Kind.Of().Index != opkind.IndexUntouched &&
			other.Outcome != histories.Failed && other.ID != op.ID
		return changes && (other.Outcome == histories.Unknown || other.Return >= op.Call)
	})
}
