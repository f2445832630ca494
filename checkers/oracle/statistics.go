package oracle

import (
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// statisticsRule is statistics: what servers count for operators is what they have done.
var statisticsRule = verdict.Checker{
	Name: "statistics",
	Promise: "The counters of a server (shardingStatistics) agree with what its process has done: " +
		"migrations, documents, and the time for which users had to wait.",
	Signatures: verdict.Meanings{
		miscounted: "a counter is not what the process did since it started",
	},
}

var _ = declare(117, statisticsRule, func(o *Oracle) hooks {
	return hooks{event: o.tally}
})

// miscounted is the signature of a counter that does not agree with the events.
const miscounted verdict.Signature = "counter-wrong"

// Statistics judges the counters with which a node has answered.
func (o *Oracle) Statistics(node string, counters map[string]int64) {
	p := o.process(node)
	for _, expected := range p.expectations() {
		value, counted := expected.of(counters)
		if !counted || expected.least <= value && value <= expected.most {
			continue
		}
		o.report(statisticsRule, verdict.Violation{
			Signature: miscounted,
			Broke: fmt.Sprintf("%s answers that %s is %d, which must be from %d to %d",
				node, expected.name, value, expected.least, expected.most),
			Because: []string{
				"its process has " + expected.what + ", by the events since it started",
			},
		}, p.began)
	}
}

// process is what a node's process has done since it started. It is donor of at most one migration
// at a time, and recipient of at most one.
type process struct {
	// began is the step, started the time.
	began   uint64
	started int64

	giving    *given
	receiving *received

	created, cloning, ready          int64
	ended, aborted, failed           span
	completed                        int64
	donorTime                        int64
	section, commitWait, entered     span
	cloned, caughtUp, given, deleted span
}

// span is how much something is at least and at most: what is not over when a term ends may have
// been counted, or not.
type span struct{ least, most int64 }

func (s *span) add(n int64, certain bool) {
	s.most += n
	if certain {
		s.least += n
	}
}

// given is a migration of which the process is the donor.
type given struct {
	id                                  string
	created, blocked, committing, freed int64
	furthest                            trace.DonorState
	committed                           bool
	done                                int64
}

// received is one of which it is the recipient.
type received struct {
	id               string
	state            trace.RecipientState
	entered, over    int64
	cloned, caughtUp int64
	failed           bool
}

func (o *Oracle) process(node string) *process {
	p := o.processes[node]
	if p == nil {
		p = &process{}
		o.processes[node] = p
	}
	return p
}

// tally counts an event for the process that it is of.
func (o *Oracle) tally(e *trace.Event) {
	o.now = e.At
	switch e.Kind {
	case trace.NodeUp:
		o.processes[e.Node] = &process{began: e.Step, started: e.At}
	case trace.SteppedDown:
		p := o.process(e.Node)
		p.endGiving(false)
		p.endReceiving(false)
	case trace.DonorAdvanced:
		o.process(e.Node).give(e)
	case trace.RecipientAdvanced:
		o.process(e.Node).receive(e)
	case trace.CriticalSection:
		o.process(e.Node).release(e)
	case trace.MigrationEnded:
		if g := o.process(e.Node).giving; g != nil && g.id == e.Migration() && g.done == 0 {
			g.committed = e.Decision() == trace.Committed && !e.Recovered()
		}
	case trace.Applied:
		o.tallyDocument(e)
	}
}

// tallyDocument counts a document that was written for a migration, or deleted after one.
func (o *Oracle) tallyDocument(e *trace.Event) {
	switch e.Actor {
	case trace.RangeDeleter:
		// Not the copies that a movePrimary leaves behind.
		m := o.moves[e.For()]
		o.process(e.Node).deleted.add(1, m != nil && m.ns == e.NS)
	case trace.Recipient:
		r := o.process(e.Node).receiving
		switch {
		case r == nil || r.id != e.For():
		case r.state == trace.RecipientClone:
			r.cloned++
			if m := o.moves[r.id]; m != nil {
				o.tallyGiven(m)
			}
		case r.state == trace.RecipientCatchup:
			r.caughtUp++
		}
	}
}

// tallyGiven counts a document that has arrived for the donor that has given it.
func (o *Oracle) tallyGiven(m *move) {
	if donor := o.world.Set(m.from).Leader; donor != "" {
		if p := o.process(donor); p.giving != nil && p.giving.id == m.id {
			p.given.least++
		}
	}
}

func (p *process) give(e *trace.Event) {
	state := e.DonorState()
	if state == trace.DonorCreated {
		p.endGiving(true)
		p.giving = &given{id: e.Migration(), created: e.At}
		p.created++
	}
	g := p.giving
	if g == nil || g.id != e.Migration() {
		return
	}
	switch state {
	case trace.DonorCloning:
		p.cloning++
	case trace.DonorCriticalSection:
		g.blocked = e.At
	case trace.DonorCommittingOnConfig:
		g.committing = e.At
	case trace.DonorDone:
		g.done = e.At
		return
	}
	g.furthest = state
}

// release notes when users could write again.
func (p *process) release(e *trace.Event) {
	g := p.giving
	if e.SectionState() == trace.SectionReleased && g != nil && g.id == e.Migration() &&
		g.blocked != 0 && g.freed == 0 {
		g.freed = e.At
	}
}

// endGiving counts the migration given. Whatever followed its end is over, too, if that is certain;
// at the end of a term what is not over is not counted any more.
func (p *process) endGiving(certain bool) {
	g := p.giving
	p.giving = nil
	if g == nil {
		return
	}
	if g.done != 0 {
		p.ended.add(1, certain)
		p.aborted.add(1, certain && g.furthest < trace.DonorCloneCompleted)
		if certain {
			p.donorTime += g.done - g.created
		}
		if certain && g.committed {
			p.completed++
		}
	}
	if g.freed != 0 {
		p.section.add(g.freed-g.blocked, certain)
		p.commitWait.most += g.freed - g.blocked // 4.2 does not announce when it commits
		if certain && g.committing != 0 {
			p.commitWait.least += g.freed - g.committing
		}
	}
}

func (p *process) receive(e *trace.Event) {
	state := e.RecipientState()
	if state == trace.RecipientReady || p.receiving == nil || p.receiving.id != e.Migration() {
		p.endReceiving(true)
		p.receiving = &received{id: e.Migration()}
	}
	r := p.receiving
	if state == trace.RecipientReady {
		p.ready++
	}
	r.state = state
	switch {
	case state == trace.RecipientEnteredCritSec && r.entered == 0:
		r.entered = e.At
	case state.Terminal():
		r.over, r.failed = e.At, state.Failed()
	}
}

// endReceiving counts the migration received.
func (p *process) endReceiving(certain bool) {
	r := p.receiving
	p.receiving = nil
	if r == nil {
		return
	}
	ended := certain && r.over != 0
	p.cloned.add(r.cloned, r.state > trace.RecipientClone && !r.failed)
	p.caughtUp.add(r.caughtUp, ended && !r.failed)
	if r.failed {
		p.failed.add(1, ended)
	} else if r.entered != 0 && r.over != 0 {
		p.entered.add(r.over-r.entered, true)
	}
}

// expectation is what a counter may be, and why.
type expectation struct {
	name, what string
	span
}

// of is the counter's value, or that of the sum.
func (x *expectation) of(counters map[string]int64) (sum int64, counted bool) {
	for _, name := range strings.Split(x.name, "+") {
		n, known := counters[name]
		if !known {
			return 0, false
		}
		sum += n
	}
	return sum, true
}

// noLimit is the most of what only grows with what cannot be seen.
const noLimit = 1 << 62

// expectations are those of a process in which nothing is under way.
func (p *process) expectations() []expectation {
	p.endGiving(true)
	p.endReceiving(true)
	return []expectation{
		{
			"countDonorMoveChunkStarted",
			fmt.Sprintf("begun %d migrations, %d of which have cloned", p.created, p.cloning),
			span{p.cloning, p.created},
		},
		{
			"countDonorMoveChunkAborted", "ended migrations before it requested a commit",
			p.aborted,
		},
		{
			"countDonorMoveChunkCommitted", "completed migrations that were committed",
			span{p.completed, p.ended.most},
		},
		{
			"countDonorMoveChunkAborted+countDonorMoveChunkCommitted" +
				"+countDonorMoveChunkCommitUncertain",
			"ended migrations", p.ended,
		},
		{
			"totalDonorMoveChunkTimeMillis", "worked on migrations",
			span{times(p.donorTime, 0).least, noLimit},
		},
		{
			"totalCriticalSectionTimeMillis", "blocked writes as a donor", times(p.section.least, p.section.most),
		},
		{
			"totalCriticalSectionCommitTimeMillis", "blocked reads as a donor",
			times(p.commitWait.least, p.commitWait.most),
		},
		{
			"countRecipientMoveChunkStarted", "received migrations", span{p.ready, p.ready},
		},
		{"countRecipientMoveChunkFailed", "failed as a recipient", p.failed},
		{
			"totalRecipientCriticalSectionTimeMillis", "blocked users as a recipient",
			span{times(p.entered.least, 0).least, noLimit},
		},
		{"countDocsClonedOnRecipient", "cloned documents", p.cloned},
		{
			"countDocsClonedOnCatchUpOnRecipient", "applied changes",
			span{p.caughtUp.least, noLimit},
		},
		{
			"countDocsClonedOnDonor", "given documents that have arrived",
			span{p.given.least, noLimit},
		},
		{
			"countDocsDeletedByRangeDeleter", "deleted orphans", p.deleted,
		},
	}
}

// times is a time of that many nanoseconds, in milliseconds by a node's clock, of which faults keep
// the drift below half of the right rate.
func times(least, most int64) span {
	const millisecond = 1_000_000
	return span{least / 2 / millisecond, 2*most/millisecond + 1}
}
