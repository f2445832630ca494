// Package committed reads what replica sets have committed: each entry once, in order.
//
// Promise: what is shown to the judge of records is what a majority has, as the log has it.
//
// Refusal: when a log has forgotten an entry before it was read, nothing is judged any more: what
// the entry has written or removed is not known.
package committed

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/records"
	"github.com/shardproof/shardproof/system/changestream"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/migration"
	"github.com/shardproof/shardproof/system/moveprimary"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/shard"
)

// Log is that of a member of a replica set.
type Log interface {
	Entry(index uint64) (e *oplog.Entry, term uint64, ok bool)
}

// Reader reads the logs of replica sets. Make it with New.
type Reader struct {
	Records *records.Judge
	upto    map[string]uint64
	lost    bool
	// shares are what shards have recorded of collections by their names.
	shares map[records.Name]bson.Raw
	// arrivals are the movePrimaries whose arrival their recipients have noted.
	arrivals map[arrival]bool
	// receipts are the migrations of whose arrival recipients have a record in the newest entries.
	receipts []string
}

type arrival struct{ set, move string }

// Arrived reports whether a majority of a set has noted that a move has brought a database, or may
// have, when it is not known what all entries were.
func (r *Reader) Arrived(set, move string) bool { return r.lost || r.arrivals[arrival{set, move}] }

// New returns a reader that has read nothing.
func New() *Reader {
	return &Reader{
		Records: records.New(), upto: map[string]uint64{}, shares: map[records.Name]bson.Raw{},
		arrivals: map[arrival]bool{},
	}
}

// Committed reads the entries of a set up to an index, which a majority has since a step, and
// returns the migrations of which they say that everything has arrived.
func (r *Reader) Committed(set string, index, step uint64, log Log) (receipts []string) {
	r.receipts = nil
	for i := r.upto[set] + 1; i <= index && !r.lost; i++ {
		e, term, kept := log.Entry(i)
		if r.lost = !kept; kept {
			r.entry(set, i, step, e)
			r.count(set, i, step, term, e)
		}
	}
	r.upto[set] = max(r.upto[set], index)
	return r.receipts
}

func (r *Reader) entry(set string, index, step uint64, e *oplog.Entry) {
	renames := false
	for i := range e.Ops {
		renames = renames || e.Ops[i].Kind == oplog.Rename
	}
	for i := range e.Ops {
		op := &e.Ops[i]
		names := records.Fields(op.NS)
		name := records.Name{Set: set, NS: op.NS, ID: op.ID}
		switch {
		case len(names) == 0:
		case op.Kind == oplog.Delete:
			r.Records.Removed(name)
		case op.Kind == oplog.Insert || op.Kind == oplog.Update:
			r.Records.Written(&records.Record{
				Name: name, Index: index, Step: step, Renames: renames,
				Values: valuesOf(op.Doc, names), Open: leftOpen(name, op.Doc),
			})
		}
		if op.NS == migration.RecipientsNS && op.Kind == oplog.Insert {
			id, _ := op.Doc.Lookup("_id").StringValueOK()
			r.receipts = append(r.receipts, id)
		}
		if changestream.IsArrival(op) {
			r.arrivals[arrival{set, op.Tag}] = true
		}
		if op.NS == shard.ParticipationsNS {
			r.share(name, index, step, op.Doc, e)
		}
	}
	r.Records.Entered(set, index, step)
}

// count has the count of commits in progress judged that an entry of a shard of 4.2 writes.
func (r *Reader) count(set string, index, step, term uint64, e *oplog.Entry) {
	for i := range e.Ops {
		if op := &e.Ops[i]; op.NS == shard.VersionNS && op.Doc != nil {
			if n, counts := op.Doc.Lookup("minOpTimeUpdaters").AsInt64OK(); counts {
				r.Records.Counted(set, index, step, term, n)
			}
		}
	}
}

// share judges, and keeps, what a shard records of a collection by its name. An entry that renames
// it notes as well that the former name has ended.
func (r *Reader) share(n records.Name, index, step uint64, doc bson.Raw, e *oplog.Entry) {
	names := formerly(doc)
	for _, former := range names {
		from := records.Name{Set: n.Set, NS: n.NS, ID: string(key.String(former))}
		if from != n && shard.WasSharded(former, e) {
			r.Records.Renamed(n, index, step, lacks(doc, names, r.shares[from], former))
		}
	}
	r.shares[n] = doc
}

// lacks says what a record of a new name lacks of the one of the former name; empty for nothing.
// names are those that it says its collection had before.
func lacks(doc bson.Raw, names []string, was bson.Raw, former string) string {
	is, _ := doc.Lookup("keyedAt").AsInt64OK()
	if keyed, _ := was.Lookup("keyedAt").AsInt64OK(); keyed != is {
		return fmt.Sprintf("keyedAt is %d, and was %d under the name %s", is, keyed, former)
	}
	for _, name := range formerly(was) {
		if !slices.Contains(names, name) {
			return fmt.Sprintf("it lacks the name %s, which the collection had before it was %s",
				name, former)
		}
	}
	return ""
}

// formerly are the names that a record says its collection had before.
func formerly(doc bson.Raw) (names []string) {
	array, _ := doc.Lookup("formerly").ArrayOK()
	values, _ := array.Values()
	for _, v := range values {
		names = append(names, v.StringValue())
	}
	return names
}

// leftOpen is what a record leaves open: a critical section, a range deletion that waits for the
// outcome of a migration, of which the donor has a record, too, or the memory of a request.
func leftOpen(n records.Name, doc bson.Raw) (o records.Open) {
	switch n.NS {
	case shard.SectionsNS:
		holder, _ := doc.Lookup("reason").StringValueOK()
		if rest, operation := strings.CutPrefix(holder, "operation "); operation {
			_, number, _ := strings.Cut(rest, " ")
			o.Operation, _ = strconv.ParseInt(number, 10, 64)
			o.Released = records.Name{Set: n.Set, NS: shard.ParticipationsNS, ID: n.ID}
			return o
		}
		id := string(key.String(holder))
		o.Owners = []records.Name{
			{Set: n.Set, NS: migration.RecipientsNS, ID: id},
			{Set: n.Set, NS: moveprimary.Namespace, ID: id},
		}
	case configsvr.Operations:
		if session, _ := doc.Lookup("session").StringValueOK(); session != "" {
			o.Request = records.Name{
				Set: n.Set, NS: configsvr.RequestsNS, ID: string(key.String(session)),
			}
			o.Txn, _ = doc.Lookup("txn").AsInt64OK()
		}
	case rangedel.Namespace:
		if pending, _ := doc.Lookup("pending").BooleanOK(); pending {
			o.Owners = []records.Name{
				{NS: migration.CoordinatorsNS, ID: n.ID}, {NS: migration.RecipientsNS, ID: n.ID},
			}
		}
	}
	return o
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
