package logs

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/warnings"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/rangedel"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// Keeper is a member with its log and the documents that the log has made.
type Keeper interface {
	Member
	Store() *store.Store
}

// Deleter is the log of a member of a shard that deletes ranges. Records says whether range
// deletion tasks are on record: if so, the mark of a task announces its deletion; otherwise, as in
// 4.2, a document is written for that.
type Deleter struct {
	Keeper
	Records bool
}

// Last is the index of the newest entry, 0 for none.
func (d Deleter) Last() uint64 { return d.Applied().Index }

// Announced says whether the deletion of a task is announced before an entry of a term. A task that
// is not on record there counts as announced: other checkers judge it.
func (d Deleter) Announced(task string, term, before uint64) bool {
	if !d.Records {
		return d.warned(task, term, before)
	}
	if before == 0 || before-1 < d.Store().Oldest() {
		return true
	}
	doc := d.Store().Get(rangedel.Namespace, string(key.String(task)), before-1)
	if doc == nil {
		return true
	}
	k, err := rangedel.Decode(doc)
	return err != nil || k.Processing
}

// warned: a deletion that exists only in the memory of a primary is announced in its own term.
func (d Deleter) warned(task string, term, before uint64) bool {
	for i := before; i > 1; i-- {
		e, of, kept := d.Entry(i - 1)
		if !kept {
			return true
		}
		if of != term {
			return false
		}
		for j := range e.Ops {
			if op := &e.Ops[j]; op.NS == shard.VersionNS && op.Tag == task {
				return true
			}
		}
	}
	return false
}

// Announces are the ranges of a collection whose deletion is announced in the entries after one
// index and up to another, inclusive. What is announced of a former collection of the name concerns
// nobody who reads this one.
func (d Deleter) Announces(ns string, behind, last uint64) (all []warnings.Range) {
	identity := d.identity(ns)
	for i := behind + 1; i <= last; i++ {
		e, _, kept := d.Entry(i)
		if !kept {
			continue
		}
		for j := range e.Ops {
			op := &e.Ops[j]
			if op.Doc == nil || !announces(op) {
				continue
			}
			name, uuid := "nss", "collectionUuid"
			if op.NS == shard.VersionNS {
				name, uuid = "ns", "uuid"
			}
			if text(op.Doc, name) == ns && text(op.Doc, uuid) == identity {
				all = append(all, warnings.Range{Min: bytesOf(op.Doc, "min"), Max: bytesOf(op.Doc, "max")})
			}
		}
	}
	return all
}

// identity is the UUID of the collection of that name, empty when there is none.
func (d Deleter) identity(ns string) string {
	options, exists := d.Store().Options(ns)
	if !exists {
		return ""
	}
	uuid, _, err := store.DecodeOptions(options)
	if err != nil {
		return ""
	}
	return uuid
}

// announces says whether secondaries learn from an operation that a range will be deleted.
func announces(op *oplog.Op) bool {
	switch op.NS {
	case rangedel.Namespace:
		k, err := rangedel.Decode(op.Doc)
		return err == nil && k.Processing
	case shard.VersionNS:
		return op.ID == string(key.String("startRangeDeletion"))
	}
	return false
}

func bytesOf(doc bson.Raw, field string) string {
	_, b, _ := doc.Lookup(field).BinaryOK()
	return string(b)
}
