// Package statedoc keeps the durable records of protocols: typed documents in a namespace of a
// replica set, one for each identity.
//
// Promise: reading a record sees what this member has applied, and between reading and writing
// nothing happens unless the caller waits. A record that cannot be read is a broken invariant, not
// an error.
//
// Refusal: it decides nothing about durability; callers wait for the write concern their protocol
// wants.
package statedoc

import (
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// noTimeout is longer than any term without a majority: protocol steps wait until the term ends,
// not for a time.
const noTimeout = 1000 * time.Hour

// Log is the replica set that holds the records.
type Log interface {
	Write(t env.Task, ops ...oplog.Op) (oplog.Time, error)
	Await(t env.Task, at oplog.Time, wc command.WriteConcern) error
	Applied() oplog.Time
	Store() *store.Store
}

// Journal is the records of one namespace. Type T is a struct whose bson field _id is the record's
// identity.
type Journal[T any] struct {
	log     Log
	ns      string
	actor   trace.Actor
	decoded document.Memo[bson.Raw, T]
}

// New returns the journal in a namespace; actor is on whose behalf it is written.
func New[T any](log Log, ns string, actor trace.Actor) *Journal[T] {
	return &Journal[T]{log: log, ns: ns, actor: actor}
}

// Put returns the operation that writes the record, new or not.
func (j *Journal[T]) Put(id string, record T) oplog.Op {
	doc, err := bson.Marshal(record)
	if err != nil {
		panic(fmt.Sprintf("record %q of %s cannot be encoded: %v", id, j.ns, err))
	}
	if own, _ := bson.Raw(doc).Lookup("_id").StringValueOK(); own != id {
		panic(fmt.Sprintf("record %q of %s says that it is %q", id, j.ns, own))
	}
	kind := oplog.Insert
	if j.Has(id) {
		kind = oplog.Update
	}
	return oplog.Op{Kind: kind, NS: j.ns, ID: docID(id), Doc: doc, Actor: uint8(j.actor), Tag: id}
}

// Remove returns the operation that deletes the record.
func (j *Journal[T]) Remove(id string) oplog.Op {
	return oplog.Op{Kind: oplog.Delete, NS: j.ns, ID: docID(id), Actor: uint8(j.actor), Tag: id}
}

// Get returns the record; false when there is none.
func (j *Journal[T]) Get(id string) (record T, ok bool) {
	doc := j.log.Store().Get(j.ns, docID(id), store.Latest)
	if doc == nil {
		return record, false
	}
	return j.Decode(doc), true
}

// Has reports whether there is such a record.
func (j *Journal[T]) Has(id string) bool {
	return j.log.Store().Get(j.ns, docID(id), store.Latest) != nil
}

// All returns every record, by identity.
func (j *Journal[T]) All() []T {
	var all []T
	j.log.Store().Scan(j.ns, store.Latest, func(_ string, doc bson.Raw) bool {
		all = append(all, j.Decode(doc))
		return true
	})
	return all
}

// Raw returns every record as it is stored, for audits.
func (j *Journal[T]) Raw() []bson.Raw {
	var all []bson.Raw
	j.log.Store().Scan(j.ns, store.Latest, func(_ string, doc bson.Raw) bool {
		all = append(all, doc)
		return true
	})
	return all
}

// Decode reads a record as it is stored. What the record refers to must not be changed.
func (j *Journal[T]) Decode(doc bson.Raw) (record T) {
	record, err := j.decoded.Read(doc, func(doc bson.Raw) (record T, err error) {
		err = bson.Unmarshal(doc, &record)
		return record, err
	})
	if err != nil {
		panic(fmt.Sprintf("record %v of %s cannot be decoded: %v", doc, j.ns, err))
	}
	return record
}

// Commit writes the operations as one entry and waits until a majority has it.
func Commit(t env.Task, log Log, ops ...oplog.Op) error {
	at, err := log.Write(t, ops...)
	if err != nil {
		return err
	}
	return AwaitMajority(t, log, at)
}

// AwaitMajority waits until a majority has everything up to at, or the term or the task ends.
func AwaitMajority(t env.Task, log Log, at oplog.Time) error {
	return log.Await(t, at, command.WriteConcern{Majority: true, Timeout: noTimeout})
}

func docID(id string) string { return string(key.String(id)) }
