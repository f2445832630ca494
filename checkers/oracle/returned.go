package oracle

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// readFromStranger is the signature of an answer with a document that its shard does not own.
const readFromStranger verdict.Signature = "read-from-non-owner"

// Admitted is a query as a shard let it in.
type Admitted struct {
	// Node answers for Shard. Version is the placement that the query came with; only its epoch and
	// its major version count.
	Node, Shard, NS string
	Version         trace.Chunk
}

// Returned judges the documents of an answer, by their encoded keys: what a shard owned when the
// query was let in follows from the version that the query came with, whatever was written since.
// So an orphan is told from the owner's document also when its value is one that the owner has just
// had. A version that no majority has had says nothing.
func (o *Oracle) Returned(q *Admitted, keys ...string) {
	p := o.causes.placementAt(q.Shard, q.NS, &q.Version)
	if p == nil {
		o.returned.open += len(keys)
		return
	}
	o.returned.judged += len(keys)
	for _, k := range keys {
		owner := p.table.Owner(k)
		if owner == q.Shard {
			continue
		}
		o.report(ownershipRule, verdict.Violation{
			Signature: readFromStranger,
			NS:        q.NS,
			Key:       o.show(k),
			Broke:     fmt.Sprintf("%s of %s returned the document of key %s", q.Node, q.Shard, o.show(k)),
			Because: []string{
				fmt.Sprintf("its query was let in with version %d of %s", q.Version.Major, q.Shard),
				fmt.Sprintf("with that version %s owns the key", owner),
			},
		})
	}
}

// ReturnedByAnybody counts documents of answers that promise nothing about owners, or are of another
// time.
func (o *Oracle) ReturnedByAnybody(documents int) { o.returned.open += documents }

// returned counts the documents that shards have returned: those of which it was judged whose they
// are, and those of which nobody can say.
type returned struct{ judged, open int }

// placementAt is who owned what at the version that a shard had of itself, nil when no majority of
// the config server has had it.
func (c *causes) placementAt(shard, ns string, v *trace.Chunk) *placement {
	all := c.placements[ns]
	for i := range slices.Backward(all) {
		if all[i].epoch == v.Epoch && all[i].majors[shard] == v.Major {
			return &all[i]
		}
	}
	return nil
}
