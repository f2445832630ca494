package oracle

import "github.com/shardproof/shardproof/histories/trace"

// process is what a node's process has done since it started. It is donor of at most one migration
// at a time, and recipient of at most one.
type process struct {
	// began is the step at which it started.
	began uint64

	giving    *donorRun
	receiving *recipientRun
	// own are the migrations that it began as a donor.
	own map[string]bool

	created, cloning, ready          int64
	ended, aborted, failed           span
	completed, inherited             int64
	donorTime, cloneTime             int64
	section, commitWait, entered     span
	cloned, caughtUp, given, deleted span

	// refused is how many requests it has refused for their version, refusals how often it has
	// answered by which code to those who have ranges moved.
	refused  int64
	refusals map[string]int64
	// interrupted says that a term of it has ended, or a fault may have ended a task.
	interrupted bool
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

// donorRun is a migration of which the process is the donor.
type donorRun struct {
	id string
	// The times of its steps.
	created, cloning, caughtUp, blocked, committing, freed, done int64

	furthest  trace.DonorState
	committed bool
	// arrived are the documents that a recipient has written as it cloned, by key and identity.
	arrived map[[2]string]bool
}

// recipientRun is one of which it is the recipient.
type recipientRun struct {
	id               string
	state            trace.RecipientState
	entered, over    int64
	cloned, caughtUp int64
	failed           bool
}

func newProcess(began uint64) *process {
	return &process{began: began, own: map[string]bool{}, refusals: map[string]int64{}}
}

func (o *Oracle) process(node string) *process {
	p := o.processes[node]
	if p == nil {
		p = newProcess(0)
		o.processes[node] = p
	}
	return p
}

// tally counts an event for the process that it is of.
func (o *Oracle) tally(e *trace.Event) {
	switch e.Kind {
	case trace.NodeUp:
		o.processes[e.Node] = newProcess(e.Step)
	case trace.SteppedDown:
		p := o.process(e.Node)
		p.interrupted = true
		p.endGiving(false)
		p.endReceiving(false)
	case trace.DonorAdvanced:
		p := o.process(e.Node)
		p.give(e)
		if g := p.giving; g != nil && g.done != 0 && g.committed {
			o.move(g.id).completed = true
		}
	case trace.RecipientAdvanced:
		o.process(e.Node).receive(e)
	case trace.CriticalSection:
		o.process(e.Node).release(e)
	case trace.MigrationEnded:
		o.process(e.Node).decide(e)
	case trace.Answered:
		o.process(e.Node).refuse(e)
	case trace.Applied:
		o.tallyDocument(e)
	}
}

// refuse counts a refusal.
func (p *process) refuse(e *trace.Event) {
	switch {
	case e.Asked() == "ShardsvrMoveRange":
		p.refusals[e.Code()]++
	case e.Code() == "StaleConfig" && len(e.Chunks) > 0:
		p.refused++
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
				o.tallyGiven(m, e)
			}
		case r.state == trace.RecipientCatchup:
			r.caughtUp++
		}
	}
}

// tallyGiven counts a document that has arrived for the donor that has given it. One that arrives
// again may come from the same batch: the recipient's next primary asks for the first batch as if
// it had lost the answer.
func (o *Oracle) tallyGiven(m *move, e *trace.Event) {
	donor := o.world.Set(m.from).Leader
	if donor == "" {
		return
	}
	p, doc := o.process(donor), [2]string{e.Key, e.DocID}
	if g := p.giving; g != nil && g.id == m.id && !g.arrived[doc] {
		g.arrived[doc] = true
		p.given.least++
	}
}

func (p *process) give(e *trace.Event) {
	state := e.DonorState()
	if state == trace.DonorCreated {
		p.endGiving(true)
		p.giving = &donorRun{
			id: e.Migration(), created: e.At, arrived: map[[2]string]bool{},
		}
		p.own[e.Migration()] = true
		p.created++
	}
	g := p.giving
	if g == nil || g.id != e.Migration() {
		return
	}
	switch state {
	case trace.DonorCloning:
		p.cloning++
		g.cloning = e.At
	case trace.DonorCloneCaughtUp:
		g.caughtUp = e.At
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

// decide follows an outcome: of the process's own migration, or of one that an earlier primary has
// left.
func (p *process) decide(e *trace.Event) {
	switch g := p.giving; {
	case e.Recovered():
		if !p.own[e.Migration()] {
			p.inherited++
		}
	case g != nil && g.id == e.Migration() && g.done == 0:
		g.committed = e.Decision() == trace.Committed
	}
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
		p.addTimes(g, certain)
	}
	if g.freed != 0 {
		p.section.add(g.freed-g.blocked, certain)
		p.commitWait.most += g.freed - g.blocked // 4.2 does not announce when it commits
		if certain && g.committing != 0 {
			p.commitWait.least += g.freed - g.committing
		}
	}
}

// addTimes adds how long a migration took that has ended, if that was counted for certain.
func (p *process) addTimes(g *donorRun, certain bool) {
	if !certain {
		return
	}
	p.donorTime += g.done - g.created
	if g.caughtUp != 0 {
		p.cloneTime += g.caughtUp - g.cloning
	}
	if g.committed {
		p.completed++
	}
}

func (p *process) receive(e *trace.Event) {
	state := e.RecipientState()
	if state == trace.RecipientReady || p.receiving == nil || p.receiving.id != e.Migration() {
		p.endReceiving(true)
		p.receiving = &recipientRun{id: e.Migration()}
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
