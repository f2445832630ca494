package configsvr

import (
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/store"
)

// TableReader reads what ReadTable reads, and only when the documents have changed since: observers
// ask far more often than chunks move. The zero TableReader is ready.
type TableReader struct{ known map[tableOf]knownTable }

type tableOf struct {
	data *store.Store
	ns   string
}

type knownTable struct {
	seen  [3]store.Mark
	table *catalog.Table
}

// Read is ReadTable.
func (r *TableReader) Read(data *store.Store, ns string, at uint64) (*catalog.Table, error) {
	var seen [3]store.Mark
	newest := true
	for i, from := range [...]string{Collections, Chunks, Databases} {
		mark, last := data.Mark(from, at)
		seen[i], newest = mark, newest && last
	}
	of := tableOf{data, ns}
	if known, ok := r.known[of]; ok && newest && known.seen == seen {
		return known.table, nil
	}
	table, err := ReadTable(data, ns, at)
	if err == nil && newest {
		if r.known == nil {
			r.known = make(map[tableOf]knownTable)
		}
		r.known[of] = knownTable{seen, table}
	}
	return table, err
}
