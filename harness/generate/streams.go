package generate

import (
	"fmt"
	"slices"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/workloads"
)

// drawReaders adds readers of change streams, or else may leave the collection to few shards.
func drawReaders(d keyed.Source, p Profile, s *scenario.Scenario) {
	if p.size.moves > 1 && d.Chance("streams", streamShare) {
		drawStreams(d, p.size, s)
	} else {
		leaveToFew(d.Fork(0xdb), &s.Collections[0])
	}
}

// fewOwners is how many percent of the collections without a change stream start with few owners.
const fewOwners = 25

// leaveToFew has some collections start with few owners, so that shards get their first chunk.
func leaveToFew(own keyed.Source, c *scenario.Collection) {
	if n := len(c.Bounds); n > 0 && own.Chance("few owners", fewOwners) {
		c.Bounds = c.Bounds[:own.IntN("inner bounds", n)]
	}
}

// drawStreams adds readers of change streams. Many of these scenarios start with few owners, so
// that shards get their first chunk and lose their last one.
func drawStreams(d keyed.Source, z size, s *scenario.Scenario) {
	s.Streams = workloads.DrawStreams(d.IntN, workloads.StreamParams{
		NS:    mainNamespace,
		Count: 1 + d.IntN("stream count", 2),
		Span:  z.span,
	})
	if c := &s.Collections[0]; d.Chance("few owners", 70) {
		c.Bounds = c.Bounds[:d.IntN("inner bounds", len(c.Bounds))]
	}
}

// openWhileMoving has readers of change streams begin while a range of their collection moves: they
// have to learn of a recipient that owned nothing.
func openWhileMoving(own keyed.Source, s *scenario.Scenario) {
	for i := range s.Streams {
		stream := &s.Streams[i]
		who := fmt.Sprintf("stream/%d", stream.ID)
		meets := slices.DeleteFunc(slices.Clone(s.Migrations), func(m scenario.Migration) bool {
			return m.NS != stream.NS
		})
		if len(meets) == 0 || !own.Chance(who+"/opens", openShare) {
			continue
		}
		m := meets[own.IntN(who+"/meets", len(meets))]
		stream.At = m.At + time.Duration(own.IntN(who+"/into", int(burst)))
	}
}
