package generate

import (
	"fmt"
	"strconv"

	"github.com/shardproof/shardproof/histories/scenario"
)

// pushedBytes is about how many bytes an element takes that was appended to a document.
const pushedBytes = 14

// raiseChunkSizes raises all sizes of chunks, including those that operators set, to what the
// fastest-growing shard key of the plan needs. The balancer of 6.0.3 and later moves data only
// between shards that differ by at least three chunk sizes (errata E2), and one move has to change
// that difference by less. A document that is too large for that is moved back and forth for ever,
// here as in real systems, where nobody makes chunks so small. In 4.2, documents that share a shard
// key and together exceed the size of a chunk can never leave their shard, so that the shard can
// never be removed. It comes last, because what was drawn before may add commands and operations.
func raiseChunkSizes(s *scenario.Scenario) {
	largest, documents := largestKey(s)
	least := largest / 2
	if s.Protocol == "4.2" {
		if documents == 1 {
			return // it counts chunks, and a chunk of one document is never too big to be moved
		}
		least = largest
	}
	raise := func(value *string) {
		if n, err := strconv.Atoi(*value); err == nil && n > 0 && n < least {
			*value = fmt.Sprint(least)
		}
	}
	for i := range s.Settings {
		if s.Settings[i].Name == "chunkSizeBytes" {
			raise(&s.Settings[i].Value)
		}
	}
	scenario.VisitChunkSizes(s.Commands, func(_ string, value *string) { raise(value) })
}

// largestKey is how large the documents of one shard key, which stay together, get when everything
// is appended to them that is planned, and how many documents a key has.
func largestKey(s *scenario.Scenario) (bytes, documents int) {
	type shardKey struct {
		ns    string
		value int64
	}
	of := make(map[string]scenario.Collection)
	for _, c := range s.Collections {
		of[c.NS], documents = c, max(documents, c.Share, 1)
	}
	grown := make(map[shardKey]int)
	for i := range s.Ops {
		if o := &s.Ops[i]; o.Kind == scenario.Push {
			at := shardKey{o.NS, of[o.NS].Place(o.Key)}
			grown[at] += pushedBytes
			bytes = max(bytes, grown[at])
		}
	}
	return documents*documentBytes + bytes, documents
}
