package runner

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
)

// curve takes samples of a run: at every commit, and whenever something has changed within
// sampleEvery.
type curve struct {
	*stage
	of      target.Distributed
	samples []target.Sample
	changed bool
	next    env.Time
}

const sampleEvery = 20 * time.Millisecond

// CurveHeader is the first line of a curve's file.
const CurveHeader = "seconds,namespace,shard,documents,bytes,chunks,moving\n"

// CurveText is the samples as a table with commas: a line for each shard and sample, times in
// seconds.
func CurveText(samples []target.Sample) string {
	var b strings.Builder
	b.WriteString(CurveHeader)
	for i := range samples {
		s := &samples[i]
		for _, h := range s.Holdings {
			fmt.Fprintf(&b, "%.6f,%s,%s,%d,%d,%d,%d\n",
				s.At.Seconds(), s.NS, h.Shard, h.Documents, h.Bytes, h.Chunks, s.Moving)
		}
	}
	return b.String()
}

// observe takes no step of its own: the curve changes nothing about what happens.
func (c *curve) observe(e *trace.Event) {
	if c.base == 0 {
		return
	}
	now := env.Time(e.At)
	if c.changed && now >= c.next {
		c.sample(now)
	}
	switch e.Kind {
	case trace.Applied:
		c.changed = true
	case trace.MigrationEnded:
		if e.Decision() == trace.Committed {
			c.sample(now)
		}
	}
}

func (c *curve) sample(now env.Time) {
	for _, coll := range c.scenario.Collections {
		if coll.Unsharded {
			continue
		}
		if holdings, err := c.of.Holdings(coll.NS); err == nil {
			c.samples = append(c.samples, target.Sample{
				At:       now.Sub(c.base),
				NS:       coll.NS,
				Moving:   c.of.Moving(),
				Holdings: holdings,
			})
		}
	}
	c.changed, c.next = false, now.Add(sampleEvery)
}
