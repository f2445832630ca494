package oracle

import (
	"slices"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/histories/trace"
)

// reshapes are the changes that may give a shard a new major version although it keeps what it has,
// since they number chunks above the whole collection's version (protocol 3.2).
var reshapes = []trace.CatalogChange{trace.Split, trace.Merge, trace.AutoMerge}

// followReshape follows from which major version on each shard has had the same ranges.
func (o *Oracle) followReshape(w *model.Write) {
	before := o.same[w.NS]
	o.same[w.NS] = map[string]uint32{}
	reshaped := slices.ContainsFunc(reshapes, w.Is)
	for _, c := range w.After {
		major := majorOf(w.After, c.Shard)
		if old, known := before[c.Shard]; known &&
			(reshaped || major == majorOf(w.Before, c.Shard)) {
			major = old
		}
		o.same[w.NS][c.Shard] = major
	}
}

func majorOf(t model.Table, shard string) (major uint32) {
	for _, c := range t {
		if c.Shard == shard {
			major = max(major, c.Major)
		}
	}
	return major
}

// SameSince are the major versions, by shard, from which on only splits and merges have given it
// newer ones: its members need not know of these.
func (o *Oracle) SameSince(ns string) map[string]uint32 { return o.same[ns] }
