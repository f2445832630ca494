package histories

import (
	"fmt"

	"github.com/shardproof/shardproof/histories/scenario"
)

// PreloadClient is the client of the inserts that put the documents there before the run.
const PreloadClient = -1

// PreloadValue is the identity of a preloaded document.
func PreloadValue(key int64) string { return fmt.Sprintf("i%d", key) }

// Preload is how a history begins: one acknowledged insert for each preloaded document, one after
// the other, numbered from 1. A run continues the numbers of Call and Return above the last one.
// With it a history explains itself: every key is absent before its first operation. There says by
// which cluster times the documents of a collection are there, as far as that is known; it may be
// nil.
func Preload(s *scenario.Scenario, there func(ns string) map[int64]uint64) []Op {
	var ops []Op
	for _, c := range s.Collections {
		var by map[int64]uint64
		if there != nil {
			by = there(c.NS)
		}
		for k := range c.Preload {
			n := uint64(2*len(ops) + 1)
			ops = append(ops, Op{
				ID:      -1 - len(ops),
				Client:  PreloadClient,
				NS:      c.NS,
				Kind:    scenario.Insert,
				Key:     int64(k),
				Value:   PreloadValue(int64(k)),
				Call:    n,
				Return:  n + 1,
				Outcome: OK,
				Result:  Result{Applied: true, N: 1},
				Time:    by[int64(k)],
			})
		}
	}
	return ops
}
