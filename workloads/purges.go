package workloads

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/scenario"
)

// PurgeParams say which documents are deleted at once, and when.
type PurgeParams struct {
	NS      string
	Keys    int
	Clients int
	Moves   []scenario.Migration
	// Count is how often.
	Count   int
	FirstID int
}

// DrawPurges plans that all documents that come and go are deleted at once when a migration has
// just begun: it has then more deletions to hand over than fit into one message. They are not
// ordered.
func DrawPurges(source Source, p PurgeParams) (ops []scenario.Op) {
	for n := range p.Count {
		pick := func(what string, of int) int {
			return source(fmt.Sprintf("purge/%d/%s", n, what), of)
		}
		at := p.Moves[pick("move", len(p.Moves))].At
		at += time.Duration(pick("into", 30)) * time.Millisecond
		for key := int64(lifeKeys); key < int64(p.Keys); key += int64(classes) {
			ops = append(ops, scenario.Op{
				ID: p.FirstID + len(ops), At: at, NS: p.NS, Client: len(ops) % p.Clients,
				Key: key, Kind: scenario.Delete,
			})
		}
	}
	return ops
}
