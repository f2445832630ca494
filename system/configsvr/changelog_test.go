package configsvr_test

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/configsvr"
	"github.com/shardproof/shardproof/system/store"
)

// TestChangelogIsBounded: the oldest entries of the changelog make room for the newest.
func TestChangelogIsBounded(t *testing.T) {
	s := newStage()
	defer s.Close()
	if err := s.Pass(3 * time.Second); err != nil {
		t.Fatal(err)
	}
	const entries, most = 30, 10 << 20
	for n := range entries {
		details, err := bson.Marshal(bson.D{
			{Key: "n", Value: int32(n)}, {Key: "text", Value: strings.Repeat("x", 1<<20)}})
		if err != nil {
			t.Fatal(err)
		}
		s.ask(&command.LogChange{What: "test", NS: ns, Details: details})
		if err := s.Await(); err != nil {
			t.Fatal(err)
		}
	}
	kept := map[int32]bool{}
	bytes := 0
	s.Member(s.Primary(configsvr.Name)).Store().Scan(configsvr.Changelog, store.Latest,
		func(_ string, doc bson.Raw) bool {
			kept[doc.Lookup("details", "n").Int32()] = true
			bytes += len(doc)
			return true
		})
	if bytes > most || bytes < most/2 {
		t.Errorf("the changelog has %d bytes, not up to %d", bytes, most)
	}
	for n := range int32(len(kept)) {
		if !kept[entries-1-n] {
			t.Errorf("of entries 0 to %d, these are left: %v", entries-1, kept)
		}
	}
}
