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
// than three chunks, by which shards have to differ (errata E2); a document that is larger goes back
// and forth for ever, here as in real systems, where nobody makes chunks so small. It comes last, as
// everything before may add commands and operations.
func raiseChunkSizes(s *scenario.Scenario) {
	if s.Protocol == "4.2" { // which counts chunks
		return
	}
	least := largestKey(s) / 2
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
// is appended to them that is planned.
func largestKey(s *scenario.Scenario) (bytes int) {
	type shardKey struct {
		ns    string
		value int64
	}
	of, each := make(map[string]scenario.Collection), 1
	for _, c := range s.Collections {
		of[c.NS], each = c, max(each, c.Share)
	}
	grown := make(map[shardKey]int)
	for i := range s.Ops {
		if o := &s.Ops[i]; o.Kind == scenario.Push {
			at := shardKey{o.NS, of[o.NS].Place(o.Key)}
			grown[at] += pushedBytes
			bytes = max(bytes, grown[at])
		}
	}
	return each*documentBytes + bytes
}
