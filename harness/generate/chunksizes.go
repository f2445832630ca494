package generate

import (
	"fmt"
	"strconv"

	"github.com/shardproof/shardproof/histories/scenario"
)

// pushedBytes is about how many bytes an element takes that was appended to a document.
const pushedBytes = 14

// raiseChunkSizes raises sizes of chunks to what the documents of the plan need that grow most. The
// balancer of 6.0.3 and later takes what it has moved for less than three chunks, by which shards
// have to differ (errata E2); a document that is larger goes back and forth for ever, here as in
// real systems, where nobody makes chunks so small.
func raiseChunkSizes(s *scenario.Scenario) {
	if s.Protocol == "4.2" { // which counts chunks
		return
	}
	least := largestDocument(s.Ops) / 2
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

// largestDocument is how large a document gets when everything is appended to it that is planned.
func largestDocument(ops []scenario.Op) (bytes int) {
	type document struct {
		ns  string
		key int64
	}
	grown := make(map[document]int)
	for i := range ops {
		if o := &ops[i]; o.Kind == scenario.Push {
			at := document{o.NS, o.Key}
			grown[at] += pushedBytes
			bytes = max(bytes, grown[at])
		}
	}
	return documentBytes + bytes
}
