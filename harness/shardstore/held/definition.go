package held

import (
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/shard"
	"github.com/shardproof/shardproof/system/store"
)

// Definition is what a member of a shard has of a collection besides documents: its options, its
// indexes and the names that it had before, by which repeated statements are known (protocol 7).
// It is empty when there is no such collection.
func Definition(of *store.Store, ns string) (all []string) {
	options, there := of.Options(ns)
	if !there {
		return nil
	}
	all = append(all, fmt.Sprintf("the options %v", options))
	for _, i := range of.Indexes(ns) {
		all = append(all, fmt.Sprintf("the index %s: %v", i.Name, i.Doc))
	}
	raw := of.Get(shard.ParticipationsNS, string(key.String(ns)), store.Latest)
	if raw == nil {
		return all
	}
	names, _ := raw.Lookup("formerly").ArrayOK()
	values, _ := bson.RawArray(names).Values()
	for _, v := range values {
		if name, is := v.StringValueOK(); is {
			all = append(all, "the former name "+name)
		}
	}
	return all
}

// Lacking are the parts of a definition that another member does not have.
func Lacking(has, other []string) (lacks []string) {
	for _, part := range has {
		if !slices.Contains(other, part) {
			lacks = append(lacks, part)
		}
	}
	return lacks
}
