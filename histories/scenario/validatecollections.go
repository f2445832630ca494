package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mostChunks is how many chunks a collection can begin with.
const mostChunks = 8192

func (s *Scenario) checkCollections(Names) *defect {
	seen := map[string]bool{}
	for i, c := range s.Collections {
		switch {
		case c.Keys > mostKeys:
			return flaw("collection", i, fmt.Sprintf("keys=%d", c.Keys),
				fmt.Sprintf("at most keys=%d", mostKeys))
		case seen[c.NS] || !strings.Contains(c.NS, "."):
			return flaw("collection", i, "the namespace "+quoteWord(c.NS)+
				" is given twice or has no dot", "a namespace of its own such as test.docs")
		case c.Keys < 1 || c.Preload < 0 || c.Preload > c.Keys:
			return flaw("collection", i, fmt.Sprintf("keys=%d preload=%d", c.Keys, c.Preload),
				"at least one key, and at most so many preloaded")
		case c.Absent && c.Preload > 0:
			return flaw("collection", i,
				"the collection is absent and has documents", "one of the two")
		case c.Unsharded && len(c.Bounds) > 0:
			return flaw("collection", i, "the collection is unsharded and has bounds",
				"one of the two")
		case c.By != "" && !c.Unsharded:
			return flaw("collection", i, "by= on a sharded collection",
				"by= only on an unsharded collection, for the operation shard")
		case c.By != "" && c.By != ByField, c.By == "" && c.Unsharded && c.Hashed:
			return flaw("collection", i, "by="+quoteWord(c.By), "by=k or by=hashed")
		case c.Owners < 0 || c.Owners > s.Topology.Founders() || c.Unsharded && c.Owners > 0:
			return flaw("collection", i, fmt.Sprintf("owners=%d", c.Owners),
				fmt.Sprintf("owners=1 to %d, of a sharded collection", s.Topology.Founders()))
		case c.Made != "" && (c.Unsharded || c.Made != MadeDealt && c.Made != MadePlaced):
			return flaw("collection", i, "made="+quoteWord(c.Made),
				"made=dealt or made=placed, of a sharded collection")
		case c.Initial < 0 || c.Initial > mostChunks,
			c.Initial > 0 && (!c.Hashed || c.Made != MadePlaced):
			return flaw("collection", i, fmt.Sprintf("initial=%d", c.Initial),
				fmt.Sprintf("initial=1 to %d", mostChunks)+", of a hashed collection with made=placed")
		case c.Share < 0 || c.Unsharded && c.Share > 0:
			return flaw("collection", i, fmt.Sprintf("share=%d", c.Share),
				"share=1 or more, of a sharded collection")
		case c.IDs < 0 || c.IDs > 0 && (c.Unsharded || c.Hashed || c.Share > 1):
			return flaw("collection", i, fmt.Sprintf("ids=%d", c.IDs),
				"ids=1 or more, of a ranged collection without share=")
		case c.meets(s.Topology.Founders()):
			return flaw("collection", i, fmt.Sprintf("ids=%d", c.IDs),
				"documents that share an _id to start on different shards: a bound between them, "+
					"or preload= of at most ids=")
		case !areAscending(c.Bounds):
			return flaw("collection", i, fmt.Sprintf("the bounds %v do not ascend", c.Bounds),
				"each greater than the one before, and neither MinKey nor MaxKey")
		}
		seen[c.NS] = true
	}
	return nil
}

// like says whether a collection may take the other one's name: clients use both in the same way.
func (c *Collection) like(other *Collection) bool {
	return c.Keys == other.Keys && c.Hashed == other.Hashed && c.Share == other.Share &&
		c.IDs == other.IDs &&
		c.Unsharded == other.Unsharded && c.By == other.By
}

// meets says whether two of the first documents with one _id would be on one shard.
func (c *Collection) meets(shards int) bool {
	if c.IDs == 0 || c.Preload <= c.IDs {
		return false
	}
	owners := cmp.Or(c.Owners, shards)
	for key := c.IDs; key < c.Preload; key++ {
		for other := key % c.IDs; other < key; other += c.IDs {
			if c.chunkOf(key)%owners == c.chunkOf(other)%owners {
				return true
			}
		}
	}
	return false
}

// chunkOf is the number of the chunk that has a key at the start.
func (c *Collection) chunkOf(key int) int {
	n := slices.IndexFunc(c.Bounds, func(b int64) bool { return int64(key) < b })
	if n < 0 {
		return len(c.Bounds)
	}
	return n
}

func areAscending(bounds []int64) bool {
	for i, b := range bounds {
		if b == MinKey || b == MaxKey || i > 0 && bounds[i-1] >= b {
			return false
		}
	}
	return true
}

func (s *Scenario) collection(ns string) *Collection {
	for i := range s.Collections {
		if s.Collections[i].NS == ns {
			return &s.Collections[i]
		}
	}
	return nil
}
