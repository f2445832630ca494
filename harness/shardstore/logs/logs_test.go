package logs

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/checkers/changelog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/shard"
)

// TestAsked: an entry about a migration has its parties and its bounds, as far as they are known.
func TestAsked(t *testing.T) {
	for _, c := range []struct {
		details bson.D
		want    changelog.Entry
	}{
		{
			bson.D{
				{Key: "migration", Value: "m"}, {Key: "min", Value: bson.D{{Key: "k", Value: 5}}},
				{Key: "max", Value: nil}, {Key: "from", Value: "a"}, {Key: "to", Value: "b"},
			},
			changelog.Entry{Migration: "m", Min: string(key.Int(5)), From: "a", To: "b"},
		},
		{bson.D{{Key: "shard", Value: "a"}}, changelog.Entry{}},
	} {
		doc, err := bson.Marshal(c.details)
		if err != nil {
			t.Fatal(err)
		}
		got := Asked("a.0", &command.LogChange{What: "w", NS: "test.docs", Details: doc})
		c.want.What, c.want.NS, c.want.Server = "w", "test.docs", "a.0"
		c.want.Details = bson.Raw(doc).String()
		if got != c.want {
			t.Errorf("%v is %+v, not %+v", c.details, got, c.want)
		}
	}
	empty := Asked("a.0", &command.LogChange{What: "w"})
	if want := (changelog.Entry{What: "w", Server: "a.0"}); empty != want {
		t.Errorf("without details it is %+v, not %+v", empty, want)
	}
}

// entries is a log of which the first entries are forgotten.
type entries struct {
	forgotten int
	all       []oplog.Entry
}

func (l entries) Applied() oplog.Time { return oplog.Time{Index: uint64(len(l.all))} }

func (l entries) Entry(i uint64) (e *oplog.Entry, term uint64, ok bool) {
	if i <= uint64(l.forgotten) {
		return nil, 0, false
	}
	return &l.all[i-1], 1, true
}

// TestTells: only a signal of the collection counts, and only behind the index; what is forgotten
// may have been one.
func TestTells(t *testing.T) {
	cache := func(ns, tag string) oplog.Entry {
		return oplog.Entry{Ops: []oplog.Op{
			{Kind: oplog.Update, NS: shard.CacheNS, ID: string(key.String(ns)), Tag: tag},
		}}
	}
	signal := shard.InvalidateTag
	for name, c := range map[string]struct {
		log  entries
		want bool
	}{
		"a signal":        {entries{0, []oplog.Entry{{}, cache("t.c", signal), {}}}, true},
		"before":          {entries{0, []oplog.Entry{cache("t.c", signal), {}}}, false},
		"of another":      {entries{0, []oplog.Entry{{}, cache("t.d", signal)}}, false},
		"a copy":          {entries{0, []oplog.Entry{{}, cache("t.c", "")}}, false},
		"a forgotten one": {entries{2, []oplog.Entry{{}, {}, {}}}, true},
	} {
		if got := (Donor{c.log}).Tells("t.c", 1); got != c.want {
			t.Errorf("%s: Tells is %v", name, got)
		}
	}
}
