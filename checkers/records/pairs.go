package records

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// Open is what a record leaves open, and until when. The zero value is of a record that leaves
// nothing open.
type Open struct {
	// Owners are the records of which one has to be there as long as this is open.
	Owners []Name
	// Operation is the number of the operation on a whole collection that has to be released, and
	// Released the record of the newest that was; zero for none.
	Operation int64
	Released  Name
	// Request is the record by which the request for this work is remembered once it is done, and
	// Txn the request's number; zero for none.
	Request Name
	Txn     int64
}

func (o *Open) leaves() bool { return len(o.Owners) > 0 || o.Operation != 0 }

// Entered judges what is open when all records of an entry of a set are written: a record and its
// owner may be written in one entry. Step is that at which a majority had the entry.
func (j *Judge) Entered(set string, index, step uint64) {
	j.judgeEnded(index, step)
	if len(j.open) == 0 {
		return
	}
	for _, n := range slices.SortedFunc(maps.Keys(j.open), compare) {
		if j.told[n] {
			continue
		}
		j.pairs.Checked++
		if lacks := j.lacks(&j.records[n].Open); lacks != "" {
			j.told[n] = true
			j.pairs.Add(verdict.Violation{
				Signature: ownerless,
				Broke: fmt.Sprintf("entry %d of %s leaves a record in %s of %s open", index, set, n.NS,
					n.Set),
				Because: []string{lacks},
				Events:  []uint64{step},
			})
		}
	}
}

// judgeEnded: the entry that removes the record of an operation remembers its request. If that took
// two entries, a failover between them would have a repetition of the request carried out again.
func (j *Judge) judgeEnded(index, step uint64) {
	for _, r := range j.ended {
		j.pairs.Checked++
		if is := j.records[r.Open.Request]; is != nil && is.Values[0].Number >= r.Open.Txn {
			continue
		}
		j.pairs.Add(verdict.Violation{
			Signature: unremembered,
			Broke: fmt.Sprintf("entry %d of %s removes a record in %s without remembering its request",
				index, r.Set, r.NS),
			Because: []string{fmt.Sprintf("%s has no request of that session as new as %d",
				r.Open.Request.NS, r.Open.Txn)},
			Events: []uint64{r.Step, step},
		})
	}
	j.ended = j.ended[:0]
}

func compare(a, b Name) int {
	return strings.Compare(a.Set+" "+a.NS+" "+a.ID, b.Set+" "+b.NS+" "+b.ID)
}

// lacks says which owner a record lacks; empty when it has one.
func (j *Judge) lacks(o *Open) string {
	if o.Operation != 0 {
		return j.lacksOperation(o)
	}
	var names []string
	for _, n := range o.Owners {
		if j.has(n) {
			return ""
		}
		names = append(names, n.NS)
	}
	return "it has no owner in " + strings.Join(names, " or ")
}

// lacksOperation: the config server has a record of an operation until every shard has released it.
func (j *Judge) lacksOperation(o *Open) string {
	if released := j.released(o.Released); released >= o.Operation {
		return fmt.Sprintf("it is of operation %d on the collection, and operation %d has been "+
			"released", o.Operation, released)
	}
	number := slices.Index(Fields(operations), "number")
	//shardproof:allow map any of them will do
	for n, r := range j.records {
		if n.NS == operations && r.Values[number].Number == o.Operation {
			return ""
		}
	}
	return fmt.Sprintf("it is of operation %d on the collection, and the config server has no record "+
		"of that", o.Operation)
}

func (j *Judge) has(n Name) bool {
	if n.Set != "" {
		return j.records[n] != nil
	}
	//shardproof:allow map any of them will do
	for known := range j.records {
		if known.NS == n.NS && known.ID == n.ID {
			return true
		}
	}
	return false
}

// released is the number of the newest operation that a record of participation says was released.
func (j *Judge) released(n Name) int64 {
	r, at := j.records[n], slices.Index(Fields(n.NS), "released")
	if r == nil || at < 0 {
		return 0
	}
	return r.Values[at].Number
}
