package shard

import (
	"testing"

	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
)

// TestDroppedIsForgotten: of a collection that was dropped, or has another name now, no chunk stays
// in memory. A range that has arrived for it will not be owned any more; one that is arriving is of
// the next collection of the name.
func TestDroppedIsForgotten(t *testing.T) {
	s := &Server{collections: make(map[string]*Collection)}
	s.cursors.init(s)
	c := s.Collection("test.docs")
	coll := catalog.Collection{
		NS: c.ns, UUID: "u", Epoch: "e", Timestamp: 1, Key: key.Pattern{Field: "k"},
	}
	c.cache = must(catalog.NewTable(coll, must(catalog.First(coll, nil, []string{"shard-a"}))))
	c.encoded = map[key.Key]encodedChunk{key.Min: {}}
	c.BeginReceive("before", key.Everything)
	c.Arrived("before")
	c.BeginReceive("now", key.Everything)
	s.dropped(c.ns)
	if c.cache != nil || len(c.encoded) > 0 {
		t.Errorf("of the dropped collection %v is kept, and %d chunks as they are stored",
			c.cache, len(c.encoded))
	}
	if len(c.Unowned()) != 0 || len(c.Incoming()) != 1 {
		t.Errorf("ranges %v have arrived, and %v are arriving", c.Unowned(), c.Incoming())
	}
}
