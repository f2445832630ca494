// Package reach looks whether what a shard's member has still reaches back to the time that a read
// or a change stream asks for.
//
// Promise: what it reports was so when the member decided, too: logs and stores only lose what is
// old, so what is there with the answer was there before it.
//
// Refusal: where the log begins at just the time that was asked for, nobody outside can know
// whether it reaches back so far, and nothing is reported; nor of what moved with its database.
package reach

import (
	"fmt"
	"slices"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// Member is what a member of a replica set has.
type Member interface {
	// Applied is the last entry of the log, and Entry any that is not forgotten.
	Applied() oplog.Time
	Entry(index uint64) (e *oplog.Entry, term uint64, ok bool)
	Store() *store.Store
}

// before is the newest entry of a time not after ts that the log still has; 0 for none.
func before(m Member, ts hlc.Timestamp) (index uint64, at hlc.Timestamp) {
	for i := m.Applied().Index; i > 0; i-- {
		e, _, kept := m.Entry(i)
		if !kept {
			break
		}
		if e.TS != 0 && e.TS <= ts {
			return i, e.TS
		}
	}
	return 0, 0
}

// Bounds are the times at which what is known begins: the first at which the owners of all chunks
// are, and the times of the oldest states that members have. Reads of just these times meet every
// bound that is off by one.
func Bounds(table *catalog.Table, members []Member) (all []hlc.Timestamp) {
	var first hlc.Timestamp
	for c := range table.Chunks() {
		if n := len(c.History); n > 0 {
			first = max(first, c.History[n-1].ValidAfter)
		}
	}
	all = append(all, first)
	for _, m := range members {
		if e, _, kept := m.Entry(m.Store().Oldest()); kept && e.TS > first {
			all = append(all, e.TS)
		}
	}
	return all
}

// State says that the member still has the state that a collection had at a time; empty when it may
// not have it, or has got the collection by a rename since. That has a time in the catalog, at
// which shards have the collection by its old name.
func State(m Member, ns string, ts hlc.Timestamp) string {
	index, at := before(m, ts)
	if oldest := m.Store().Oldest(); index > 0 && index >= oldest && !renamedTo(m, ns, index+1) {
		return fmt.Sprintf("the state of %v is that of entry %d, of %v, and there are states from "+
			"entry %d on", ts, index, at, oldest)
	}
	return ""
}

// renamedTo says whether the log has from an index on that a collection got the name.
func renamedTo(m Member, ns string, from uint64) bool {
	for i := from; i <= m.Applied().Index; i++ {
		e, _, kept := m.Entry(i)
		if kept && slices.ContainsFunc(e.Ops, func(op oplog.Op) bool {
			return op.Kind == oplog.Rename && op.ID == ns
		}) {
			return true
		}
	}
	return false
}

// Changes says that the member still has all changes of a collection since a time, and that it had
// the collection all the while, as an unsharded one or not; empty when it may not.
func Changes(m Member, ns string, unsharded bool, since hlc.Timestamp) string {
	index, at := before(m, since)
	if index == 0 {
		return ""
	}
	for i := index + 1; i <= m.Applied().Index; i++ {
		if e, _, kept := m.Entry(i); !kept || concerns(e, ns, unsharded) {
			return ""
		}
	}
	return fmt.Sprintf("the log has entry %d, of %v, and nothing after it says that %s came later",
		index, at, ns)
}

// concerns says whether an entry may be about a collection as a whole or, of an unsharded one,
// about its database. What became of a sharded one elsewhere, shards note in their logs, too.
func concerns(e *oplog.Entry, ns string, unsharded bool) bool {
	return slices.ContainsFunc(e.Ops, func(op oplog.Op) bool {
		switch op.Kind {
		case oplog.Insert, oplog.Update, oplog.Delete:
			return false
		case oplog.Noop:
			return unsharded && (op.NS == ns || op.NS == catalog.DatabaseOf(ns))
		}
		return op.NS == ns || op.ID == ns
	})
}
