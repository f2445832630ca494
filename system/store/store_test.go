package store_test

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// state is what a store holds at one index, in the plainest form: the model.
type state map[string]*content

type content struct {
	options bson.Raw
	docs    map[string]bson.Raw
}

func (s state) copy() state {
	c := make(state, len(s))
	for ns, from := range s {
		c[ns] = &content{from.options, maps.Clone(from.docs)}
	}
	return c
}

func (s state) apply(ops []oplog.Op) {
	for _, op := range ops {
		c := s[op.NS]
		switch op.Kind {
		case oplog.Create:
			if c == nil {
				s[op.NS] = &content{op.Doc, map[string]bson.Raw{}}
			}
		case oplog.Drop:
			delete(s, op.NS)
		case oplog.Insert, oplog.Update:
			if c == nil {
				c = &content{nil, map[string]bson.Raw{}}
				s[op.NS] = c
			}
			c.docs[op.ID] = op.Doc
		case oplog.Delete:
			if c != nil {
				delete(c.docs, op.ID)
			}
		}
	}
}

// indexEntry is a line of a scan.
type indexEntry struct {
	Key key.Key
	ID  string
	Doc string
}

// scan is the model of ScanKey.
func (s state) scan(ns string, rng key.Range, after store.Place) []indexEntry {
	var found []indexEntry
	c := s[ns]
	if c == nil {
		return nil
	}
	_, pattern, _ := store.DecodeOptions(c.options)
	for id, doc := range c.docs {
		k := key.Key(id)
		if !pattern.IsZero() {
			k, _ = pattern.Of(doc)
		}
		behind := k > after.Key || k == after.Key && id > after.ID
		if rng.Contains(k) && behind {
			found = append(found, indexEntry{k, id, string(doc)})
		}
	}
	slices.SortFunc(found, func(a, b indexEntry) int {
		return cmp.Compare(string(a.Key)+a.ID, string(b.Key)+b.ID)
	})
	return found
}

func scanned(s *store.Store, ns string, rng key.Range, at uint64, after store.Place) []indexEntry {
	var found []indexEntry
	s.ScanKey(ns, rng, at, after, func(k key.Key, id string, doc bson.Raw) bool {
		found = append(found, indexEntry{k, id, string(doc)})
		return true
	})
	return found
}

func document(id, k, v int64) bson.Raw {
	return bson.Raw(bsoncore.NewDocumentBuilder().AppendInt64("_id", id).AppendInt64("k",
		k).AppendInt64("v", v).Build())
}

func id(n int64) string { return string(key.Int(n)) }

var (
	ranged = store.EncodeOptions("u1", key.Pattern{Field: "k"})
	hashed = store.EncodeOptions("u2", key.Pattern{Field: "k", Hashed: true})
)

var (
	namespaces    = []string{"config.rangeDeletions", "test.docs", "test.hashed"}
	createOptions = map[string]bson.Raw{
		"test.docs":             ranged,
		"test.hashed":           hashed,
		"config.rangeDeletions": nil,
	}
)

const keys = 5

// universe is a store under test and the model of each index that can still be read.
type universe struct {
	store  *store.Store
	states map[uint64]state
	oldest uint64
	last   uint64
}

// TestAgainstCopies compares the store with a copy of everything at every index, after any sequence
// of entries, rollbacks, trimmings and restored snapshots.
func TestAgainstCopies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := &universe{store: store.New(), states: map[uint64]state{0: {}}}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			u.step(t)
		}
		for at := u.oldest; at <= u.last; at++ {
			u.check(t, at)
		}
		u.check(t, store.Latest)
		u.checkExtents(t)
		u.checkWeight(t)
	})
}

// checkWeight: once only the latest state can be read, nothing else is kept.
func (u *universe) checkWeight(t *rapid.T) {
	u.store.SetOldest(u.last)
	var want, got [4]int
	for _, c := range u.states[u.last] {
		want[0]++
		want[1] += len(c.docs)
		if c.options != nil {
			want[2] += len(c.docs)
		}
	}
	got[0], got[1], got[2], got[3] = u.store.Weight()
	if got != want {
		t.Fatalf("collections, versions, index entries and changes are %v, not %v", got, want)
	}
}

// checkExtents: what is counted along is what is there, and a range is the same from both ends.
func (u *universe) checkExtents(t *rapid.T) {
	for _, ns := range namespaces {
		documents, bytes := u.store.Extent(ns)
		c := u.states[u.last][ns]
		if c == nil {
			c = &content{}
		}
		size := 0
		for _, doc := range c.docs {
			size += len(doc)
		}
		if int(documents) != len(c.docs) || int(bytes) != size {
			t.Fatalf("%s has %d documents of %d bytes, not %d of %d",
				ns, len(c.docs), size, documents, bytes)
		}
		rng := key.Range{
			Min: key.Int(rapid.Int64Range(-1, 3).Draw(t, "min")),
			Max: key.Int(rapid.Int64Range(0, 5).Draw(t, "max")),
		}
		if up, down := sizes(u.store, ns, rng, false),
			sizes(u.store, ns, rng, true); !slices.Equal(up, backwards(down)) {
			t.Fatalf("%s in %v is %v, and from above %v", ns, rng, up, down)
		}
		if up := sizes(
			u.store, ns, rng, false,
		); len(up) != len(u.states[u.last].scan(ns, rng, store.Place{})) {
			t.Fatalf("%s in %v is %v", ns, rng, up)
		}
	}
}

func backwards(keys []key.Key) []key.Key {
	slices.Reverse(keys)
	return keys
}

func sizes(s *store.Store, ns string, rng key.Range, down bool) (keys []key.Key) {
	for k := range s.Sizes(ns, rng, down) {
		keys = append(keys, k)
	}
	return keys
}

func (u *universe) step(t *rapid.T) {
	u.checkExtents(t)
	switch rapid.IntRange(0, 12).Draw(t, "step") {
	case 0:
		u.rollback(t)
	case 1:
		u.oldest = rapid.Uint64Range(u.oldest, u.last).Draw(t, "oldest")
		u.store.SetOldest(u.oldest)
	case 2:
		u.check(t, rapid.Uint64Range(u.oldest, u.last).Draw(t, "at"))
	case 3:
		u.restore(t)
	default:
		u.apply(t)
	}
}

func (u *universe) rollback(t *rapid.T) {
	to := rapid.Uint64Range(u.oldest, u.last).Draw(t, "to")
	u.store.Rollback(to)
	u.last = to
}

func (u *universe) restore(t *rapid.T) {
	at := rapid.Uint64Range(u.oldest, u.last).Draw(t, "snapshot")
	snapshot, err := u.store.Snapshot(nil, at)
	if err != nil {
		t.Fatal(err)
	}
	fresh := store.New()
	if err := fresh.Restore(snapshot, at); err != nil {
		t.Fatal(err)
	}
	if fresh.Checksum(at) != u.store.Checksum(at) {
		t.Fatalf("the checksum of the snapshot of %d differs", at)
	}
	u.store, u.oldest, u.last = fresh, at, at
}

func (u *universe) apply(t *rapid.T) {
	next := u.states[u.last].copy()
	var ops []oplog.Op
	for range rapid.IntRange(1, 3).Draw(t, "ops") {
		ops = append(ops, drawOp(t, next))
		next.apply(ops[len(ops)-1:])
	}
	index := u.last + rapid.Uint64Range(1, 2).Draw(t, "gap")
	if err := u.store.Apply(index, ops); err != nil {
		t.Fatal(err)
	}
	for i := u.last + 1; i < index; i++ {
		u.states[i] = u.states[u.last]
	}
	u.states[index], u.last = next, index
}

func drawOp(t *rapid.T, now state) oplog.Op {
	ns := rapid.SampledFrom(namespaces).Draw(t, "ns")
	n := rapid.Int64Range(0, keys-1).Draw(t, "id")
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	switch {
	case kind == 0:
		return oplog.Op{Kind: oplog.Drop, NS: ns}
	case kind <= 3:
		return oplog.Op{Kind: oplog.Delete, NS: ns, ID: id(n)}
	case kind == 4 || now[ns] == nil && createOptions[ns] != nil:
		return oplog.Op{Kind: oplog.Create, NS: ns, Doc: createOptions[ns]}
	}
	k := rapid.Int64Range(0, 3).Draw(t, "k")
	return oplog.Op{
		Kind: oplog.Insert,
		NS:   ns,
		ID:   id(n),
		Doc:  document(n, k, rapid.Int64Range(0, 9).Draw(t, "v")),
	}
}

func (u *universe) check(t *rapid.T, at uint64) {
	model := u.states[min(at, u.last)]
	if diff := gocmp.Diff(slices.Sorted(maps.Keys(model)), u.store.Collections(at)); diff != "" {
		t.Fatalf("collections at %d:\n%s", at, diff)
	}
	rng := key.Range{Min: key.Min, Max: key.Max}
	var after store.Place
	if rapid.Bool().Draw(t, "part") {
		rng = key.Range{
			Min: key.Int(rapid.Int64Range(0, 3).Draw(t, "min")),
			Max: key.Int(rapid.Int64Range(0, 4).Draw(t, "max")),
		}
		after = store.Place{
			Key: key.Int(rapid.Int64Range(0, 3).Draw(t, "after")),
			ID:  id(rapid.Int64Range(0, keys).Draw(t, "after id")),
		}
	}
	for _, ns := range namespaces {
		diff := gocmp.Diff(model.scan(ns, rng, after), scanned(u.store, ns, rng, at, after))
		if diff != "" {
			t.Fatalf("%s in %v after %v at %d:\n%s", ns, rng, after, at, diff)
		}
		u.checkByID(t, ns, at, model[ns])
	}
}

func (u *universe) checkByID(t *rapid.T, ns string, at uint64, c *content) {
	if c == nil {
		c = &content{}
	}
	got := map[string]bson.Raw{}
	last := ""
	u.store.Scan(ns, at, func(id string, doc bson.Raw) bool {
		if id <= last {
			t.Fatalf("%x follows %x", id, last)
		}
		last, got[id] = id, doc
		return true
	})
	if !maps.EqualFunc(got, c.docs, func(a, b bson.Raw) bool { return bytes.Equal(a, b) }) ||
		u.store.Count(ns, at) != len(c.docs) {
		t.Fatalf("%s at %d holds %v, not %v", ns, at, got, c.docs)
	}
	for n := range int64(keys) {
		if doc := u.store.Get(ns, id(n), at); !bytes.Equal(doc, c.docs[id(n)]) {
			t.Fatalf("%s %d at %d is %v, not %v", ns, n, at, doc, c.docs[id(n)])
		}
	}
}

func TestEntriesThatDoNotFit(t *testing.T) {
	good := oplog.Op{Kind: oplog.Insert, NS: "test.docs", ID: id(1), Doc: document(1, 1, 1)}
	array := bson.Raw(bsoncore.NewDocumentBuilder().AppendArray("k",
		bsoncore.BuildDocument(nil)).Build())
	for name, c := range map[string]struct {
		index uint64
		ops   []oplog.Op
		code  errcode.Code
	}{
		"old index": {1, []oplog.Op{good}, errcode.Internal},
		"no collection": {
			2, []oplog.Op{
				good, {Kind: oplog.Insert, NS: "test.none", ID: id(1), Doc: document(1, 1, 1)},
			}, errcode.NamespaceNotFound,
		},
		"no document": {
			2, []oplog.Op{good, {Kind: oplog.Insert, NS: "test.docs", ID: id(1)}}, errcode.Internal,
		},
		"array as key": {
			2, []oplog.Op{good, {Kind: oplog.Insert, NS: "test.docs", ID: id(2), Doc: array}},
			errcode.BadValue,
		},
		"created again": {
			2, []oplog.Op{good, {Kind: oplog.Create, NS: "test.docs", Doc: hashed}},
			errcode.Internal,
		},
		"unknown kind": {2, []oplog.Op{good, {Kind: 99}}, errcode.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			s := store.New()
			if err := s.Apply(
				1, []oplog.Op{{Kind: oplog.Create, NS: "test.docs", Doc: ranged}},
			); err != nil {
				t.Fatal(err)
			}
			before := s.Checksum(store.Latest)
			if err := s.Apply(c.index, c.ops); !errcode.Is(err, c.code) {
				t.Errorf("got %v, want %s", err, c.code)
			}
			if s.Checksum(store.Latest) != before || s.Applied() != 1 {
				t.Error("the entry left something behind")
			}
		})
	}
}

func TestSnapshotIsDeterministic(t *testing.T) {
	create := oplog.Op{Kind: oplog.Create, NS: "test.docs", Doc: ranged}
	var ops []oplog.Op
	for n := range int64(20) {
		ops = append(ops, oplog.Op{
			Kind: oplog.Insert,
			NS:   "test.docs",
			ID:   id(n),
			Doc:  document(n, n%3, n),
		})
	}
	backwards := slices.Clone(ops)
	slices.Reverse(backwards)
	var snapshots [][]byte
	for _, order := range [][]oplog.Op{ops, backwards} {
		s := store.New()
		for i, op := range append([]oplog.Op{create}, order...) {
			if err := s.Apply(uint64(i+1), []oplog.Op{op}); err != nil {
				t.Fatal(err)
			}
		}
		snapshot, err := s.Snapshot(nil, store.Latest)
		if err != nil {
			t.Fatal(err)
		}
		snapshots = append(snapshots, snapshot)
	}
	if !bytes.Equal(snapshots[0], snapshots[1]) {
		t.Error("the order of insertion shows in the snapshot")
	}
	if err := store.New().Restore(snapshots[0][1:], 9); err == nil {
		t.Error("a broken snapshot was restored")
	}
	if err := store.New().Restore(snapshots[0], 0); !errcode.Is(err, errcode.BadValue) {
		t.Errorf("a snapshot from before the first entry has documents: %v", err)
	}
}

func TestForgottenHistory(t *testing.T) {
	s := store.New()
	for i := range uint64(3) {
		err := s.Apply(i+1, []oplog.Op{{
			Kind: oplog.Insert,
			NS:   "config.x",
			ID:   id(1),
			Doc:  document(1, 1, int64(i)),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.SetOldest(2)
	for name, use := range map[string]func(){
		"read":     func() { s.Get("config.x", id(1), 1) },
		"rollback": func() { s.Rollback(1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("history that was dropped was used")
				}
			}()
			use()
		})
	}
}

// TestRoomOfThePast: however long a store lives, its past takes no more than twice the room of what
// can be undone.
func TestRoomOfThePast(t *testing.T) {
	for _, kept := range []uint64{0, 1, 10} {
		s := store.New()
		for index := uint64(1); index <= 100; index++ {
			if err := s.Apply(index, []oplog.Op{{
				Kind: oplog.Insert, NS: "config.x", ID: id(1), Doc: document(1, 1, int64(index)),
			}}); err != nil {
				t.Fatal(err)
			}
			s.SetOldest(index - min(index, kept))
			if room := s.Room(); room > 2*int(kept) {
				t.Fatalf("of %d entries %d can be undone, which take the room of %d",
					index, kept, room)
			}
		}
	}
}

// TestShadowOfTheDead: a document that lived within one entry only, and whose name was used again
// and rolled back, does not take its successor along when its history is dropped.
func TestShadowOfTheDead(t *testing.T) {
	s := store.New()
	born := oplog.Op{Kind: oplog.Insert, NS: "config.x", ID: id(1), Doc: document(1, 1, 1)}
	died := oplog.Op{Kind: oplog.Delete, NS: "config.x", ID: id(1)}
	apply := func(index uint64, ops ...oplog.Op) {
		if err := s.Apply(index, ops); err != nil {
			t.Fatal(err)
		}
	}
	apply(1, born, died)
	apply(2, born)
	s.Rollback(1)
	apply(2, born)
	s.SetOldest(1)
	if s.Get("config.x", id(1), store.Latest) == nil {
		t.Error("the document is gone")
	}
}

// TestChanges: the count never comes back, not even when a rollback and another entry bring the
// store to an index where it was before.
func TestChanges(t *testing.T) {
	s, seen := store.New(), map[uint64]bool{}
	differs := func(after string) {
		t.Helper()
		if seen[s.Changes()] {
			t.Errorf("after %s the count is %d, as it was before", after, s.Changes())
		}
		seen[s.Changes()] = true
	}
	apply := func(index uint64, op oplog.Op) {
		t.Helper()
		if err := s.Apply(index, []oplog.Op{op}); err != nil {
			t.Fatal(err)
		}
	}
	insert := func(k int64) oplog.Op {
		return oplog.Op{Kind: oplog.Insert, NS: "config.x", ID: id(k), Doc: document(k, k, 1)}
	}
	differs("nothing")
	apply(1, insert(1))
	differs("an insertion")
	image, err := s.Snapshot(nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	apply(2, insert(2))
	differs("another")
	s.Rollback(1)
	differs("a rollback")
	apply(2, insert(3))
	differs("another entry at the same index")
	apply(3, oplog.Op{Kind: oplog.Drop, NS: "config.x"})
	differs("a drop")
	if err := s.Restore(image, 3); err != nil {
		t.Fatal(err)
	}
	differs("a snapshot")
}
