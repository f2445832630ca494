package catalog

import (
	"testing"

	"github.com/shardproof/shardproof/system/key"
)

// TestValidate spoils what a table keeps beside its chunks, one thing after the other.
func TestValidate(t *testing.T) {
	coll := Collection{NS: "test.docs", UUID: "u", Epoch: "e", Timestamp: 1}
	for name, spoil := range map[string]func(*Table){
		"nothing":          func(*Table) {},
		"how many own":     func(t *Table) { t.owning++ },
		"who owns":         func(t *Table) { t.shards.Delete("b") },
		"a shard's chunks": func(t *Table) { o, _ := t.shards.GetMut("b"); o.versions.Clear() },
		"the versions":     func(t *Table) { t.versions.Set(9<<32, key.Min) },
	} {
		chunks, err := First(coll, []key.Key{key.Int(0), key.Int(10)}, []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		table, err := NewTable(coll, chunks)
		if err != nil {
			t.Fatal(err)
		}
		spoil(table)
		if err := table.Validate(); (err == nil) != (name == "nothing") {
			t.Errorf("%s is spoilt: %v", name, err)
		}
	}
}
