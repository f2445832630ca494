package oracle

import (
	"fmt"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// ownershipRule is ownership: the truth is the routing table that a majority of the config server
// has.
var ownershipRule = verdict.Checker{
	Name: "ownership",
	Promise: "A client's write takes effect only on the shard that owns its key at that moment, " +
		"and a versioned query returns no document that its shard did not own when it was let in.",
	Signatures: verdict.Meanings{
		writeByStranger:  "a shard applied a client's write of a key that it does not own",
		readFromStranger: "a shard returned a document of a key that it does not own",
	},
}

var _ = declare(10, ownershipRule, func(o *Oracle) hooks {
	return hooks{event: o.judgeOwnership}
})

// writeByStranger is the signature of a write on a shard that does not own the key.
const writeByStranger verdict.Signature = "write-by-non-owner"

func (o *Oracle) judgeOwnership(e *trace.Event) {
	if e.Kind != trace.Applied || e.Actor != trace.User || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	table := o.world.Table(e.NS)
	if table == nil || e.Key == "" {
		return
	}
	if owner := table.Owner(e.Key); owner != e.Shard {
		o.report(ownershipRule, verdict.Violation{
			Signature: writeByStranger,
			NS:        e.NS,
			Key:       o.show(e.Key),
			Broke: fmt.Sprintf("%s, which leads %s, applied a client's write of key %s",
				e.Node, e.Shard, o.show(e.Key)),
			Because: []string{
				fmt.Sprintf("a majority of the config server says that %s owns the key", owner),
				fmt.Sprintf("%s is the leader of term %d, the newest, so the write counts",
					e.Node, e.Term),
			},
		})
	}
}

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
			Broke: fmt.Sprintf("%s of %s returned the document of key %s",
				q.Node, q.Shard, o.show(k)),
			Because: []string{
				fmt.Sprintf("its query was let in with version %d of %s", q.Version.Major, q.Shard),
				fmt.Sprintf("with that version %s owns the key", owner),
			},
		})
	}
}

// ReturnedByAnybody counts documents of answers that promise nothing about owners, or are of
// another time.
func (o *Oracle) ReturnedByAnybody(documents int) { o.returned.open += documents }

// returned counts the documents that shards have returned: those of which it was judged whose they
// are, and those of which nobody can say.
type returned struct{ judged, open int }
