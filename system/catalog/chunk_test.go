package catalog

import (
	"reflect"
	"testing"

	"github.com/shardproof/shardproof/system/key"
)

// TestEqualSeesEveryField changes one field of a chunk after the other: a copy that took two chunks
// for equal would not be written.
func TestEqualSeesEveryField(t *testing.T) {
	of := Chunk{
		Range:   key.Range{Min: key.Min, Max: key.Max},
		Shard:   "a",
		History: []Placement{{ValidAfter: 1, Shard: "a"}},
	}
	if !of.Equal(of) {
		t.Fatal("a chunk does not equal itself")
	}
	others := map[string]Chunk{
		"Range":               {Range: key.Range{Min: key.Min, Max: key.Min}},
		"Shard":               {Shard: "b"},
		"Version":             {Version: Version{Minor: 1}},
		"History":             {History: []Placement{{ValidAfter: 2, Shard: "a"}}},
		"Jumbo":               {Jumbo: true},
		"OnCurrentShardSince": {OnCurrentShardSince: 1},
	}
	for i := range reflect.TypeFor[Chunk]().NumField() {
		name := reflect.TypeFor[Chunk]().Field(i).Name
		from, known := others[name]
		if !known {
			t.Errorf("nobody knows whether Equal sees the field %s", name)
			continue
		}
		other := of
		reflect.ValueOf(&other).Elem().Field(i).Set(reflect.ValueOf(from).Field(i))
		if of.Equal(other) || other.Equal(of) {
			t.Errorf("chunks that differ in %s are taken for equal", name)
		}
	}
}
