// Package timed shows the exchanges and events of a cluster to those who judge times: why primaries
// change when they do, for how long servers wait, and from when on placements count.
//
// Promise: it translates what is seen from outside into the judges' terms, and a limit of theirs is
// that of all values in the run which allows most.
//
// Refusal: it judges nothing itself, and asks no server how long it has waited.
package timed

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers/dates"
	"github.com/shardproof/shardproof/checkers/quiet"
	"github.com/shardproof/shardproof/checkers/tenures"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/checkers/waits"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/settings"
)

// Catalog is every checker whose judges it informs.
func Catalog() []verdict.Checker {
	return slices.Concat(tenures.Catalog(), waits.Catalog(), dates.Catalog())
}

// Facts are what does not change in a run, but for the number of members of a set.
type Facts struct {
	Members func(set string) int
	// Log is that of a node, nil while it is down.
	Log func(node string) dates.Log
	// Changed: operators change by what members know that their primary lives.
	Changed bool
	// Partial: donors may block writes before they have handed everything over.
	Partial bool
}

// Cluster is the times of one cluster.
type Cluster struct {
	quiet   *quiet.Record
	tenures *tenures.Judge
	waits   *waits.Judge
	dates   *dates.Judge
	values  func() []settings.Settings
	facts   Facts
	// open are what is to be called when requests are answered, by the number of their mark.
	open   map[uint64]func(*answer)
	number uint64
}

// New follows a cluster of which the settings may have these values, and whose nodes measure limits
// by that clock.
func New(
	values func() []settings.Settings, clock func(node string) time.Duration, facts Facts,
) *Cluster {
	c := &Cluster{
		quiet: quiet.New(), values: values, facts: facts, open: map[uint64]func(*answer){},
	}
	c.tenures = tenures.New(c.quiet, c.timing, facts.Members)
	c.waits = waits.New(c.quiet, c.limits, clock)
	c.dates = dates.New(facts.Log)
	return c
}

// Observe takes the next event.
func (c *Cluster) Observe(e *trace.Event) {
	c.quiet.Observe(e)
	c.tenures.Observe(e)
	c.waits.Observe(e)
	c.dates.Observe(e)
}

// Verdicts are the conclusions so far, in the order of the catalog.
func (c *Cluster) Verdicts() []verdict.Verdict {
	return []verdict.Verdict{c.tenures.Verdict(), c.waits.Verdict(), c.dates.Verdict()}
}

// Disturbed notes that a fault of chance hits a node, or a message from it to another.
func (c *Cluster) Disturbed(node, to env.NodeID, at env.Time) {
	c.quiet.Disturbed(string(node), string(to), int64(at))
}

// HandsOver is called when an operator has a primary hand over its set. What it returns is called
// when that has come to its end, with whether it has found a successor in time.
func (c *Cluster) HandsOver(node, set string, at env.Time) (ended func(found bool, at env.Time)) {
	over := c.tenures.HandsOver(node, set, int64(at))
	return func(found bool, at env.Time) { over(found, int64(at)) }
}

func (c *Cluster) timing() tenures.Timing {
	all := c.values()
	t := tenures.Timing{HandOver: all[0].CatchUpTimeout, Changed: c.facts.Changed}
	for i := range all {
		s := &all[i]
		t.Election = max(t.Election, s.ElectionTimeout, 2*s.HeartbeatInterval)
		t.HandOver = min(t.HandOver, s.CatchUpTimeout)
	}
	return t
}

func (c *Cluster) limits() waits.Limits {
	all := c.values()
	l := waits.Limits{Behind: all[0].StaleWait, LeavesChanges: c.facts.Partial}
	for i := range all {
		s := &all[i]
		l.Behind = min(l.Behind, s.StaleWait)
		l.BehindMost = max(l.BehindMost, s.StaleWait)
		l.CatchUp = max(l.CatchUp, s.CatchUpWait)
		l.Lock = max(l.Lock, s.LockWait)
		l.Enter = max(l.Enter, s.CommandTimeout/4*5)
		l.Concern = max(l.Concern, s.WriteConcernTimeout)
		l.Cursor = max(l.Cursor, s.CursorTimeout)
		l.Captured = max(l.Captured, int64(s.ModsMemoryLimit))
		l.Percent = max(l.Percent, int64(s.CatchUpPercent))
		l.Chunk = max(l.Chunk, int64(s.MaxChunkBytes))
	}
	return l
}
