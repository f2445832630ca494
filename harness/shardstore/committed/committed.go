// Package committed reads what replica sets have committed: each entry once, in order.
//
// Promise: what is shown to the judge of records is what a majority has, as the log has it.
//
// Refusal: entries that the log has forgotten before they were read are left out.
package committed

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/records"
	"github.com/shardproof/shardproof/system/oplog"
)

// Log is that of a member of a replica set.
type Log interface {
	Entry(index uint64) (e *oplog.Entry, term uint64, ok bool)
}

// Reader reads the logs of replica sets. Make it with New.
type Reader struct {
	Records *records.Judge
	upto    map[string]uint64
}

// New returns a reader that has read nothing.
func New() *Reader { return &Reader{Records: records.New(), upto: map[string]uint64{}} }

// Committed reads the entries of a set up to an index, which a majority has.
func (r *Reader) Committed(set string, index uint64, log Log) {
	for i := r.upto[set] + 1; i <= index; i++ {
		if e, _, ok := log.Entry(i); ok {
			r.entry(set, i, e)
		}
	}
	r.upto[set] = max(r.upto[set], index)
}

func (r *Reader) entry(set string, index uint64, e *oplog.Entry) {
	renames := false
	for i := range e.Ops {
		renames = renames || e.Ops[i].Kind == oplog.Rename
	}
	for i := range e.Ops {
		op := &e.Ops[i]
		names := records.Fields(op.NS)
		switch {
		case len(names) == 0:
		case op.Kind == oplog.Delete:
			r.Records.Removed(set, op.NS, op.ID)
		case op.Kind == oplog.Insert || op.Kind == oplog.Update:
			r.Records.Written(&records.Record{
				Set: set, NS: op.NS, ID: op.ID, Index: index, Renames: renames,
				Values: valuesOf(op.Doc, names),
			})
		}
	}
}

func valuesOf(doc bson.Raw, names []string) []records.Value {
	all := make([]records.Value, len(names))
	for i, n := range names {
		v, err := doc.LookupErr(n)
		if err != nil {
			continue
		}
		all[i].Bytes = string(v.Value)
		switch v.Type {
		case bson.TypeBoolean:
			if v.Boolean() {
				all[i].Number = 1
			}
		case bson.TypeInt32, bson.TypeInt64:
			all[i].Number = v.AsInt64()
		case bson.TypeTimestamp:
			t, inc := v.Timestamp()
			all[i].Number = int64(t)<<32 | int64(inc)
		}
	}
	return all
}
