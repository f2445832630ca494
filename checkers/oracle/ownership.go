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
	Promise: "A client's write takes effect only on the shard that owns its key at that moment, and " +
		"a versioned query returns no document that its shard did not own when it was let in.",
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
