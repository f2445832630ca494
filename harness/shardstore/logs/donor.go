package logs

import (
	"slices"

	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
)

// Member is a member of a replica set and its log.
type Member interface {
	// Applied is the last entry of the log, and Entry any that is not forgotten.
	Applied() oplog.Time
	Entry(index uint64) (e *oplog.Entry, term uint64, ok bool)
}

// Donor is the log of a member that donates.
type Donor struct{ Member }

// Last is the index of the newest entry, 0 for none.
func (d Donor) Last() uint64 { return d.Applied().Index }

// Tells says whether one of the entries behind an index has secondaries forget the placement of a
// collection, or whether one of them is forgotten.
func (d Donor) Tells(ns string, behind uint64) bool {
	id := string(key.String(ns))
	for i := d.Last(); i > behind; i-- {
		e, _, kept := d.Entry(i)
		if !kept || slices.ContainsFunc(e.Ops, func(op oplog.Op) bool {
			return op.NS == shard.CacheNS && op.ID == id && op.Tag == shard.InvalidateTag
		}) {
			return true
		}
	}
	return false
}
