package checkers

import (
	"fmt"

	"github.com/shardproof/shardproof/histories/trace"
)

// ownership is ownership: the truth is the routing table that a majority of the config server has.
var ownership = Checker{
	Name:    "ownership",
	Promise: "A client's write takes effect only on the shard that owns its key at that moment.",
}

// WriteByStranger is the signature of a write on a shard that does not own the key.
const WriteByStranger = "write-by-non-owner"

func (o *Oracle) judgeOwnership(e *trace.Event) {
	if e.Kind != trace.Applied || e.Actor != trace.User || !o.world.Set(e.Shard).Leads(e) {
		return
	}
	table := o.world.Table(e.NS)
	if table == nil || e.Key == "" {
		return
	}
	if owner := table.Owner(e.Key); owner != e.Shard {
		o.report(ownership, Violation{
			Signature: WriteByStranger, NS: e.NS, Key: o.show(e.Key),
			Broke: fmt.Sprintf("%s, which leads %s, applied a client's write of key %s", e.Node, e.Shard, o.show(e.Key)),
			Because: []string{
				fmt.Sprintf("a majority of the config server says that %s owns the key", owner),
				fmt.Sprintf("%s is the leader of term %d, the newest, so the write counts", e.Node, e.Term),
			},
		})
	}
}
