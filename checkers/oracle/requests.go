package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/checkers/balance"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// expect says what the request may say: the settings of a round are read before it begins, then
// what shards there are, and the settings of its collection when it has chosen.
func (c *chosen) expect(states []*balance.Round, single bool) {
	c.chunkBytes = append(c.chunkBytes, balance.ChunkSizes(c.NS, states)...)
	for _, state := range states {
		if c.Max == "" { // the chunk of a request that has never been in the queue
			c.Max = state.End(c.NS, c.Min)
		}
	}
	for _, state := range states {
		for _, settings := range states {
			for _, bytes := range c.chunkBytes {
				c.asking = append(c.asking, state.Request(c.Choice, single, settings, bytes))
			}
		}
	}
	slices.Sort(c.asking)
	c.asking = slices.Compact(c.asking)
}

// judgeAsked judges what a donor was asked for.
func (r *rounds) judgeAsked(e *trace.Event) {
	c, known := r.chosen[e.Request()]
	if !known {
		return // of a deposed primary
	}
	max := c.Max
	if c.open {
		max = ""
	}
	what := ""
	switch donor, _, _ := strings.Cut(e.Node, "."); {
	case donor != c.From || e.Peer != c.To || e.NS != c.NS || e.Min != c.Min || e.Max != max:
		what = fmt.Sprintf("to move %s of %s to %s", r.span(e.Min, e.Max), e.NS, e.Peer)
	case len(c.asking) > 0 && !slices.Contains(c.asking, e.Asking()):
		what = fmt.Sprintf("with %q", e.Asking())
	default:
		return
	}
	r.report(policyRule, verdict.Violation{
		Signature: notAsChosen,
		NS:        e.NS,
		Broke:     fmt.Sprintf("%s was asked by %s %s", e.Node, e.Request(), what),
		Because: []string{fmt.Sprintf("chosen was %s of %s from %s to %s, with %q",
			r.span(c.Min, c.Max), c.NS, c.From, c.To, c.asking)},
	}, c.step)
}
