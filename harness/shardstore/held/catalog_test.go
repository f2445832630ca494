package held

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/oplog"
	"github.com/shardproof/shardproof/system/store"
)

// What a config server says of a database or a shard is compared with what a majority has, not with
// what its member has.
func TestCatalogAnswers(t *testing.T) {
	h := &Log{Store: store.New(), Committed: 1, Tables: &configsvr.TableReader{}}
	d := configsvr.NewDatabase("test", "a", hlc.Timestamp(1))
	later := d
	later.Primary = "b"
	for i, of := range []catalog.Database{d, later} {
		db, err := configsvr.PutDatabase(of, "create")
		if err != nil {
			t.Fatal(err)
		}
		shard, err := configsvr.PutShard(
			configsvr.Shard{Name: "a", Draining: i > 0}, trace.ShardAdded)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Store.Apply(uint64(i+1), []oplog.Op{db, shard}); err != nil {
			t.Fatal(err)
		}
	}
	database, shard := &command.GetDatabase{Name: "test"}, &command.FindShard{Name: "a"}
	for name, c := range map[string]struct {
		asked, said any
		differs     string
	}{
		"the database":         {database, &command.DatabaseReply{Database: d}, ""},
		"a newer one":          {database, &command.DatabaseReply{Database: later}, "its log says"},
		"the shard":            {shard, &command.FoundShard{}, ""},
		"it drains too early":  {shard, &command.FoundShard{Draining: true}, "its log says: false"},
		"there is no such one": {&command.FindShard{Name: "c"}, &command.FoundShard{}, "no shard"},
		"another answer":       {database, &command.Done{}, ""},
	} {
		if got := h.Differs(c.asked, c.said); got == "" != (c.differs == "") ||
			!strings.Contains(got, c.differs) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if after, reads := AsOf(&command.GetDatabase{After: 7}); after != 7 || !reads {
		t.Errorf("a read as of %v: %v", after, reads)
	}
	if TooOld(7, 7) != "" || TooOld(8, 7) == "" {
		t.Error("a member answers when it knows of the time, and not before")
	}
}
