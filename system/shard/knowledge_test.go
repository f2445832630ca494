package shard

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/sim"
)

// remade is the table of a collection of that name which was made at a time.
func remade(ns string, at int64, unsharded bool) *catalog.Table {
	coll := foundingTable(nil, "shard-a").Collection()
	coll.NS, coll.Epoch, coll.Timestamp, coll.Unsharded = ns, ns, hlc.At(at), unsharded
	chunks := must(catalog.First(coll, nil, []string{"shard-b"}))
	return must(catalog.NewTable(coll, chunks))
}

// TestDroppedCollectionOwesNothing: a range that has arrived is noted until the metadata shows
// what became of it; that the collection was dropped and made again shows it.
func TestDroppedCollectionOwesNothing(t *testing.T) {
	w := newTestCluster(1, sim.Options{Seed: 1})
	defer w.world.Close()
	c := w.elect().Collection(testNS)
	c.Install(remade(testNS, 1, false))
	c.BeginReceive("m1", key.Everything)
	if got := c.Incoming(); !slices.Equal(got, []string{"m1"}) {
		t.Errorf("%v have not arrived yet", got)
	}
	c.Arrived("m1")
	if got := c.Incoming(); len(got) > 0 {
		t.Errorf("%v have arrived", got)
	}
	c.Clear()
	c.Install(remade(testNS, 1, false))
	if got := c.Unowned(); !slices.Equal(got, []string{"m1"}) {
		t.Errorf("the same collection: %v are noted", got)
	}
	c.Clear()
	c.Install(remade(testNS, 2, false))
	if got := c.Unowned(); len(got) > 0 {
		t.Errorf("another collection: %v are still noted", got)
	}
}

// TestRecoveryEndsWithTheTerm: who leads again later finds out by itself which outcomes are
// unknown; what was unknown in an earlier term may have been settled by others.
func TestRecoveryEndsWithTheTerm(t *testing.T) {
	w := newTestCluster(1, sim.Options{Seed: 1})
	defer w.world.Close()
	c := w.elect().Collection(testNS)
	c.BeginRecovery("m1")
	c.stepDown()
	if got := c.Recovering(); len(got) > 0 {
		t.Errorf("after the term %v are being recovered", got)
	}
}

// TestClearUnsharded: when a database has moved, nothing is forgotten of collections that did not
// move with it.
func TestClearUnsharded(t *testing.T) {
	w := newTestCluster(1, sim.Options{Seed: 1})
	defer w.world.Close()
	s := w.elect()
	for ns, unsharded := range map[string]bool{
		"test.docs": true, "test.sharded": false, "other.docs": true, "other.sharded": false,
	} {
		s.Collection(ns).Install(remade(ns, 1, unsharded))
	}
	s.ClearUnsharded("test")
	for ns, known := range map[string]bool{
		"test.docs": false, "test.sharded": true, "other.docs": true, "other.sharded": true,
	} {
		if got := s.Collection(ns).Metadata() != nil; got != known {
			t.Errorf("%s is known: %t", ns, got)
		}
	}
}

// TestSectionKeepsTheShard: a shard that still holds a critical section for a migration, of which
// it may know nothing else, cannot leave the cluster.
func TestSectionKeepsTheShard(t *testing.T) {
	w := newTestCluster(1, sim.Options{Seed: 1})
	defer w.world.Close()
	s := w.elect()
	w.run(0, nil)
	var failed error
	done := w.on(s.Node().ID(), "section", func(t env.Task) {
		failed = s.AcquireRecoverable(t, testNS, "m1")
	})
	w.run(1<<40, done)
	if got := strings.Join(s.owed(), ", "); failed != nil || got != "1 documents in "+SectionsNS {
		t.Errorf("owed with a section: %q, %v", got, failed)
	}
}

// TestCoveredCopy: a copy is no older than a table by its own version, not by the age of the
// collection alone, and only when it is whole.
func TestCoveredCopy(t *testing.T) {
	table := must(remade(testNS, 1, false).With(must(catalog.Split(
		remade(testNS, 1, false), key.Everything, []key.Key{key.Int(5)}, catalog.Minor))))
	raw := must(catalog.EncodeCollection(table.Collection()))
	v := table.Version()
	for _, c := range []struct {
		about string
		doc   cacheDoc
		want  bool
	}{
		{"nothing", cacheDoc{}, false},
		{"the same", cacheDoc{Collection: raw, Last: bson.Timestamp{T: v.Major, I: v.Minor}}, true},
		{"newer", cacheDoc{Collection: raw, Last: bson.Timestamp{T: v.Major + 1}}, true},
		{"older", cacheDoc{Collection: raw, Last: bson.Timestamp{T: v.Major}}, false},
		{"half", cacheDoc{Collection: raw, Last: bson.Timestamp{T: v.Major + 1},
			Refreshing: true}, false},
	} {
		if got := c.doc.covers(table); got != c.want {
			t.Errorf("%s covers %s: %t", c.about, v, got)
		}
	}
}
