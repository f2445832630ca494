// Package replies judges what an answer says by the request alone: every field of every reply to a
// client, also those of which histories know nothing.
//
// What a document held at some moment is for the history checkers. Here are the rules that hold
// whatever the state was: an update counts one document or none, an upsert that found nothing
// returns nothing, a scan's batch is no larger than it may be.
//
// Promise: each field of every answer to clients and operators has a judge in Fields, named as its
// checker is, or a reason there why it has none, and a test compares the two. What is told is a
// clause with the values in it.
//
// Refusal: only answers of the certainty OK are judged; others promise nothing.
package replies

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/client"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/document"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
)

// Write judges the answer to a write: at most one clause for each rule.
func Write(op *scenario.Op, c scenario.Collection, a *client.Answer) (flaws []string) {
	if a.Certainty != client.OK || a.Err != nil {
		return nil
	}
	w := &a.Written
	if flaw := outcomeFlaw(op, w); flaw != "" {
		flaws = append(flaws, flaw)
	}
	if w.Image != nil {
		flaws = append(flaws, Document(op, c, w.Image)...)
	}
	if w.Time == 0 || w.Time != a.Time || w.N > 0 && !w.Retried && a.Time <= a.After {
		flaws = append(flaws, fmt.Sprintf("its operation time is %v, and the client had known %v "+
			"before", a.Time, a.After))
	}
	return flaws
}

// Differing compares what a statement is answered when it is sent again with what it was answered
// first; empty when the two are the same.
func Differing(again, first *command.Written) string {
	says := func(w *command.Written) outcome {
		return outcome{w.N, w.Modified, w.Upserted, w.Image != nil}
	}
	switch {
	case says(again) != says(first):
		return fmt.Sprintf("%v, and it was answered %v", says(again), says(first))
	case !bytes.Equal(again.Image, first.Image):
		return fmt.Sprintf("the image %v, and it was answered %v", again.Image, first.Image)
	}
	return ""
}

// outcome is what counts and flags may be together.
type outcome struct {
	n, modified     int
	upserted, image bool
}

func (o outcome) String() string {
	return fmt.Sprintf("n %d, modified %d, upserted %t, an image %t", o.n, o.modified, o.upserted,
		o.image)
}

var (
	inserted = outcome{n: 1}
	nothing  = outcome{}
	updated  = outcome{n: 1, modified: 1}
	upserted = outcome{n: 1, upserted: true}
	replaced = outcome{n: 1, modified: 1, image: true}
	removed  = outcome{n: 1, image: true}
	deleted  = outcome{n: 1}
)

// outcomes are what an acknowledged operation may say that it did. Every write has a value that no
// document had before, so whatever is matched is modified.
func outcomes(op *scenario.Op) []outcome {
	kind := op.Kind.Of()
	creates := kind.Condition == opkind.DocumentMissing ||
		kind.Condition == opkind.DocumentExpected && op.Expect == ""
	switch {
	case creates:
		return []outcome{inserted}
	case kind.Effect == opkind.Remove && kind.Returns:
		return []outcome{removed, nothing}
	case kind.Effect == opkind.Remove:
		return []outcome{deleted, nothing}
	case kind.Expects():
		return []outcome{replaced, nothing}
	case kind.Returns:
		return []outcome{replaced, upserted}
	case kind.Tells:
		return []outcome{updated, upserted}
	}
	return []outcome{updated, nothing}
}

func outcomeFlaw(op *scenario.Op, w *command.Written) string {
	said := outcome{w.N, w.Modified, w.Upserted, w.Image != nil}
	var may []string
	for _, one := range outcomes(op) {
		if said == one {
			return ""
		}
		may = append(may, one.String())
	}
	return fmt.Sprintf("it says: %v; it may say: %s", said, strings.Join(may, ", or: "))
}

// Document judges a document that was returned: it is of the key that was asked for, and has the
// fields that clients have written.
func Document(op *scenario.Op, c scenario.Collection, doc bson.Raw) (flaws []string) {
	var id, k int64
	_, err := document.Fields(doc, func(name []byte, v bson.RawValue) bool {
		known := true
		switch string(name) {
		case "_id":
			id, known = v.AsInt64OK()
		case "k":
			k, known = v.AsInt64OK()
		case "v":
			_, known = v.StringValueOK()
			if text, _ := v.StringValueOK(); op.Kind.Of().Expects() && text != op.Expect {
				flaws = append(flaws, fmt.Sprintf("it returned the value %q as the %q that it "+
					"expected", text, op.Expect))
			}
		case "l":
			_, known = v.ArrayOK()
		default:
			known = false
		}
		if !known {
			flaws = append(flaws, fmt.Sprintf("a document has the field %s: %v", name, v))
		}
		return true
	})
	if err != nil {
		return append(flaws, fmt.Sprintf("a document cannot be read: %v", err))
	}
	key := scenario.KeyOf(id, k)
	if k != c.Place(key) || id != c.ID(key) || op.Kind.Of().Shape == opkind.Keyed && key != op.Key {
		flaws = append(flaws, fmt.Sprintf("it asked for k=%d and was returned _id %d, k %d", op.Key,
			id, k))
	}
	return flaws
}

// Read judges the answer to a point read.
func Read(op *scenario.Op, c scenario.Collection, a *client.Answer) (flaws []string) {
	if a.Certainty != client.OK {
		return nil
	}
	if len(a.Docs) > 1 {
		flaws = append(flaws, fmt.Sprintf("it returned %d documents of one key", len(a.Docs)))
	}
	for _, doc := range a.Docs {
		flaws = append(flaws, Document(op, c, doc)...)
	}
	return append(flaws, times(op, a)...)
}

// times judges the times of the answer to a query.
func times(op *scenario.Op, a *client.Answer) (flaws []string) {
	if a.Time == 0 {
		flaws = append(flaws, "it has no operation time")
	}
	if a.Since == 0 && op.Concern != string(command.Available) {
		flaws = append(flaws, "it does not say since when its documents were as returned")
	}
	return flaws
}

// Snapshot judges the times of the answer to a snapshot read by the request as it was sent: one
// state on all shards was read, that of the time that was asked for if one was.
func Snapshot(asked *command.Find, a *client.Answer) (flaws []string) {
	if asked.Concern != command.Snapshot || a.Certainty != client.OK {
		return nil
	}
	if asked.At != 0 && a.Time != asked.At {
		flaws = append(flaws, fmt.Sprintf("it asked for the state of %v and was returned that of "+
			"%v", asked.At, a.Time))
	}
	if a.Since != a.Time {
		flaws = append(flaws, fmt.Sprintf("its documents are as of %v on one shard and as of %v "+
			"on another", a.Since, a.Time))
	}
	return flaws
}

// Uncommitted judges as of which time a member answers a read of what is committed, by up to which
// time it knows its log to be: what comes behind may be undone.
func Uncommitted(asked *command.Find, of, committed hlc.Timestamp) (flaws []string) {
	switch asked.Concern {
	case command.Snapshot, command.MajorityRead:
		if of > committed {
			flaws = append(flaws, fmt.Sprintf("it returned the state of %v, and its log is "+
				"committed up to %v only", of, committed))
		}
	}
	return flaws
}

// Early judges the time of the state that a member returns to a causal read: never one before what
// the session has seen, whatever the read concern is, and even if the member believes that it is
// the primary.
func Early(asked *command.Find, of hlc.Timestamp) (flaws []string) {
	if asked.Concern != command.Snapshot && of < asked.After {
		flaws = append(flaws, fmt.Sprintf("it returned the state of %v, and the session has seen "+
			"that of %v", of, asked.After))
	}
	return flaws
}

// Scan judges the batches of a scan, one after the other.
type Scan struct {
	op *scenario.Op
	of scenario.Collection
	by key.Pattern
	// last is the shard key of the newest document.
	last key.Key
}

// NewScan begins a scan of a collection.
func NewScan(op *scenario.Op, c scenario.Collection) *Scan {
	return &Scan{op: op, of: c, by: key.Pattern{Field: "k", Hashed: c.Hashed}}
}

// Batch judges the next batch.
func (s *Scan) Batch(docs []bson.Raw) (flaws []string) {
	if s.op.Batch > 0 && len(docs) > s.op.Batch {
		flaws = append(flaws, fmt.Sprintf("a batch has %d documents and was to have %d at most",
			len(docs), s.op.Batch))
	}
	for _, doc := range docs {
		flaws = append(flaws, Document(s.op, s.of, doc)...)
		at, err := s.by.Of(doc)
		switch {
		case err != nil:
			flaws = append(flaws, fmt.Sprintf("a document has no shard key: %v", err))
		case s.ordered() && bytes.Compare([]byte(at), []byte(s.last)) < 0:
			flaws = append(flaws, fmt.Sprintf("%v came after a document with a higher shard key",
				doc))
		}
		s.last = max(s.last, at)
	}
	return flaws
}

// ordered: what is sharded in use, by a hash, comes in the order of one key or the other.
func (s *Scan) ordered() bool { return !s.of.Unsharded || !s.of.Hashed }

// End judges the answer to the scan as a whole.
func (s *Scan) End(a *client.Answer) (flaws []string) {
	if a.Certainty != client.OK {
		return nil
	}
	return times(s.op, a)
}

// Change judges a change that a stream delivered by itself: the document is of the key that is told
// beside it, and a rename is to a name that somebody gives.
func Change(c scenario.Collection, names []string, ch *command.Change) (flaws []string) {
	switch {
	case ch.Kind == command.ChangeRename && !slices.Contains(names, ch.To):
		flaws = append(flaws, fmt.Sprintf("it says that the collection is now called %q, and "+
			"operations rename it to %q", ch.To, names))
	case ch.Kind != command.ChangeRename && ch.To != "":
		flaws = append(flaws, fmt.Sprintf("it is a change of the kind %s to %q", ch.Kind, ch.To))
	case ch.Shard != "":
		flaws = append(flaws, fmt.Sprintf("it names the shard %q, which is for routers", ch.Shard))
	}
	if ch.Doc == nil {
		return flaws
	}
	id, _ := ch.Key.Lookup("_id").AsInt64OK()
	k, _ := ch.Key.Lookup("k").AsInt64OK()
	read := scenario.Op{Kind: scenario.Read, Key: scenario.KeyOf(id, k)}
	return append(flaws, Document(&read, c, ch.Doc)...)
}
