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
// With it a history explains itself: every key is absent before its first operation. All documents
// are there by the cluster time given, zero when it is not known.
func Preload(s *scenario.Scenario, by uint64) []Op {
	var ops []Op
	for _, c := range s.Collections {
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
				Time:    by,
			})
		}
	}
	return ops
}
