package shard

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/protocol"
)

// TestMissingShardKey: 4.2 takes no document without a shard key, later versions take it for null.
func TestMissingShardKey(t *testing.T) {
	for _, c := range []struct {
		speaks protocol.Profile
		doc    bson.D
		want   errcode.Code
	}{
		{protocol.V42, bson.D{{Key: "_id", Value: 1}}, errcode.ShardKeyNotFound},
		{protocol.V42, bson.D{{Key: "k", Value: nil}}, ""},
		{protocol.V80, bson.D{{Key: "_id", Value: 1}}, ""},
	} {
		w := &writeCommand{server: &Server{cfg: Config{Profile: c.speaks}}}
		raw, err := bson.Marshal(c.doc)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.keyOf(key.Pattern{Field: "k"}, raw)
		if got := errcode.Of(err); got != c.want {
			t.Errorf("%s: %v is %q, want %q", c.speaks, c.doc, got, c.want)
		}
	}
}

// TestStaleConfigIsCounted: a shard counts the requests that it refuses for their version, and not
// those for the version of a database.
func TestStaleConfigIsCounted(t *testing.T) {
	s := &Server{}
	c := &Collection{server: s, ns: "test.docs"}
	_ = c.stale(command.Placement{}, placementRouterOlder)
	_ = c.stale(command.Placement{Database: true}, placementRouterOlder)
	if got := s.statistics.StaleConfig; got != 1 {
		t.Errorf("%d requests are counted, want 1", got)
	}
}
