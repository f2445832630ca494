package changestream

import (
	"testing"

	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
)

// TestSuspension: an answer goes up to the beginning of an operation on the whole collection, but
// reaches every change that it contains.
func TestSuspension(t *testing.T) {
	const ns, after, committed = "test.docs", hlc.Timestamp(10), hlc.Timestamp(90)
	block := oplog.Op{Kind: oplog.Insert, NS: shard.SectionsNS, ID: string(key.String(ns))}
	other := oplog.Op{Kind: oplog.Insert, NS: shard.SectionsNS, ID: string(key.String("test.more"))}
	write := oplog.Op{Kind: oplog.Delete, NS: ns, ID: string(key.Int(1))}
	drop := oplog.Op{Kind: oplog.Drop, NS: ns}
	for name, c := range map[string]struct {
		held bool
		log  []oplog.Op // at 20, 30, and so on
		upto hlc.Timestamp
	}{
		"nothing holds it":              {false, []oplog.Op{block, write}, committed},
		"the operation began before":    {true, nil, after},
		"it begins":                     {true, []oplog.Op{write, block}, 30},
		"it begins again":               {true, []oplog.Op{block, write, block}, 40},
		"another collection's":          {true, []oplog.Op{other}, after},
		"its beginning is not read yet": {true, []oplog.Op{write}, 20},
		"the end is told":               {true, []oplog.Op{block, drop}, committed},
		"and the next one begins":       {true, []oplog.Op{block, drop, block}, 40},
	} {
		w := suspension{ns: ns, since: after, held: c.held}
		for i, op := range c.log {
			e := &oplog.Entry{TS: after * hlc.Timestamp(i+2), Ops: []oplog.Op{op}}
			w.pass(e, Changes("shard-a", ns, e))
		}
		if got := w.limit(committed); got != c.upto {
			t.Errorf("%s: up to %d, not %d", name, got, c.upto)
		}
	}
}
