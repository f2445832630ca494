package migration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
)

// sides is a donor's and a recipient's documents by _id; the shard key is k, the range [0, 10).
type sides struct {
	capture      changeCapture
	donor, other map[string]bson.Raw
}

func newSides() *sides {
	rng := key.Range{Min: key.Int(0), Max: key.Int(10)}
	return &sides{
		capture: changeCapture{rng: rng, pattern: key.Pattern{Field: "k"}},
		donor:   map[string]bson.Raw{}, other: map[string]bson.Raw{},
	}
}

func document(id string, k, v int64) bson.Raw {
	doc, err := bson.Marshal(bson.D{
		{Key: "_id", Value: id},
		{Key: "k", Value: k},
		{Key: "v", Value: v},
	})
	if err != nil {
		panic(err)
	}
	return doc
}

// write changes or, with a nil document, deletes on the donor, as a user would.
func (s *sides) write(id string, doc bson.Raw) {
	before := s.donor[id]
	kind := oplog.Update
	if doc == nil {
		kind = oplog.Delete
		delete(s.donor, id)
	} else {
		s.donor[id] = doc
	}
	s.capture.OnWrite(&oplog.Op{Kind: kind, ID: id, Doc: doc}, before, oplog.Time{})
}

func (s *sides) read(id string) bson.Raw {
	if doc := s.donor[id]; s.capture.covers(doc) {
		return doc
	}
	return nil
}

// begin takes the lists, and end, perhaps after other writes, hands over what fits.
func (s *sides) begin() (deletes, reloads []string) { return s.capture.splice() }

func (s *sides) end(room int, deletes, reloads []string) command.Mods {
	b := modsBatch{room: room}
	restDeletes, restReloads := b.takeDeletes(deletes), reloads
	if len(restDeletes) == 0 {
		restReloads = b.takeReloads(reloads, s.read)
	}
	s.capture.pushBack(restDeletes, restReloads)
	return b.mods
}

// apply is what a recipient does.
func (s *sides) apply(m command.Mods) {
	for _, id := range m.Deletes {
		delete(s.other, id)
	}
	for _, doc := range m.Reloads {
		s.other[doc.Lookup("_id").StringValue()] = doc
	}
}

// TestCapturedChangesMakeSidesEqual: whatever is written, and however it is cut into batches, the
// recipient ends up with the donor's documents of the range. Writes fall between taking the lists
// and reading documents, and an answer may fail after that.
func TestCapturedChangesMakeSidesEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSides()
		write := func() {
			id := fmt.Sprint(rapid.IntRange(0, 4).Draw(t, "id"))
			if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
				s.write(id, nil)
				return
			}
			s.write(id, document(id, rapid.Int64Range(-3, 12).Draw(t, "k"),
				rapid.Int64().Draw(t, "v")))
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				write()
			case 2:
				deletes, reloads := s.begin()
				write()
				s.apply(s.end(rapid.IntRange(1, 200).Draw(t, "room"), deletes, reloads))
			case 3:
				deletes, reloads := s.begin()
				write()
				s.capture.pushBack(deletes, reloads)
			}
		}
		for !s.capture.empty() {
			deletes, reloads := s.begin()
			s.apply(s.end(100, deletes, reloads))
		}
		if s.capture.bytes != 0 {
			t.Fatalf("%d bytes are counted of empty lists", s.capture.bytes)
		}
		want := map[string]bson.Raw{}
		for id := range s.donor {
			if doc := s.read(id); doc != nil {
				want[id] = doc
			}
		}
		if diff := cmp.Diff(want, s.other); diff != "" {
			t.Fatalf("donor (-) and recipient (+):\n%s", diff)
		}
	})
}

// TestDeletesGoFirst: while a delete is left, no document is read: the delete might be older than
// the document.
func TestDeletesGoFirst(t *testing.T) {
	s := newSides()
	for _, id := range []string{"aaaa", "bbbb"} {
		s.write(id, document(id, 1, 1))
		s.write(id, nil)
	}
	s.write("aaaa", document("aaaa", 2, 2))
	deletes, reloads := s.begin()
	got := s.end(4, deletes, reloads)
	if len(got.Deletes) != 1 || len(got.Reloads) != 0 {
		t.Errorf("in a small batch: %+v", got)
	}
	deletes, reloads = s.begin()
	got = s.end(1000, deletes, reloads)
	if len(got.Deletes) != 1 || len(got.Reloads) != 1 {
		t.Errorf("in the next batch: %+v", got)
	}
}

// TestOutOfRange: a document that leaves the range is a delete, one that was never in it is
// nothing.
func TestOutOfRange(t *testing.T) {
	s := newSides()
	s.write("in", document("in", 3, 1))
	s.write("out", document("out", 30, 1))
	s.write("in", document("in", 30, 2))
	s.write("out", nil)
	if diff := cmp.Diff([]string{"in"}, s.capture.deletes); diff != "" {
		t.Errorf("deletes: %s", diff)
	}
	if diff := cmp.Diff([]string{"in"}, s.capture.reloads); diff != "" {
		t.Errorf("reloads: %s", diff)
	}
}
