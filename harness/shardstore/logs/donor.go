package logs

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
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

// Untouched is how many documents have been in a range of a collection in every state since an
// index of the log, and the size of the smallest document that the collection has now; false when
// the log does not reach back that far.
func Untouched(
	m Keeper, ns string, r key.Range, behind uint64,
) (documents int64, smallest int, known bool) {
	touched := map[string]bool{}
	for i := behind + 1; i <= m.Applied().Index; i++ {
		e, _, kept := m.Entry(i)
		if !kept {
			return 0, 0, false
		}
		for j := range e.Ops {
			touched[e.Ops[j].ID] = true
		}
	}
	smallest = math.MaxInt
	m.Store().ScanKey(ns, key.Everything, store.Latest, store.Place{},
		func(k key.Key, id string, doc bson.Raw) bool {
			smallest = min(smallest, len(doc))
			if r.Contains(k) && !touched[id] {
				documents++
			}
			return true
		})
	return documents, smallest, true
}
