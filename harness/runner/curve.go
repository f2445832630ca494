package runner

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system"
	"github.com/shardproof/shardproof/system/env"
)

// Sample is how data lay on the shards at one time, for one collection.
type Sample struct {
	At       time.Duration // since the scenario's beginning
	NS       string
	Moving   int // migrations that the balancer had asked for and that had not ended
	Holdings []system.Holding
}

// curve takes samples of a run: at every commit, and whenever something has changed within sampleEvery.
type curve struct {
	run     *run
	samples []Sample
	changed bool
	next    env.Time
}

const sampleEvery = 20 * time.Millisecond

// CurveHeader is the first line of a curve's file.
const CurveHeader = "seconds,namespace,shard,documents,bytes,chunks,moving\n"

// CurveText is the samples as a table with commas: a line for each shard and sample, times in seconds.
func CurveText(samples []Sample) string {
	var b strings.Builder
	b.WriteString(CurveHeader)
	for i := range samples {
		s := &samples[i]
		for _, h := range s.Holdings {
			fmt.Fprintf(&b, "%.6f,%s,%s,%d,%d,%d,%d\n", s.At.Seconds(), s.NS, h.Shard, h.Documents, h.Bytes, h.Chunks, s.Moving)
		}
	}
	return b.String()
}

// observe takes no step of its own: the curve changes nothing about what happens.
func (c *curve) observe(e *trace.Event) {
	if c.run.base == 0 {
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
	r := c.run
	for _, coll := range r.scenario.Collections {
		if coll.Unsharded {
			continue
		}
		if holdings, err := r.cluster.Holdings(coll.NS); err == nil {
			c.samples = append(c.samples, Sample{At: now.Sub(r.base), NS: coll.NS, Moving: len(r.balancing.underWay), Holdings: holdings})
		}
	}
	c.changed, c.next = false, now.Add(sampleEvery)
}
