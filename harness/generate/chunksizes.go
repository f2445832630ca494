package generate

import (
	"fmt"
	"strconv"

	"github.com/shardproof/shardproof/histories/scenario"
)

// pushedBytes is about how many bytes an element takes that was appended to a document.
const pushedBytes = 14

// raiseChunkSizes raises sizes of chunks, also those that operators set, to what the documents of
// the plan need that grow most. The balancer of 6.0.3 and later takes what it has moved for less
// than three chunks, by which shards have to differ (errata E2); a document that is larger goes
// back and forth for ever, here as in real systems, where nobody makes chunks so small. In 4.2,
// several documents of one shard key that are larger than a chunk never leave their shard, which
// cannot be removed then. It comes last, as everything before may add commands and operations.
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
