package timeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
)

// Progress is what is in progress after a part of a run's events.
type Progress struct {
	Faults     []string
	Migrations []Migration
}

// Migration is how far a migration or movePrimary has come.
type Migration struct {
	ID, NS, Min, Max, From, To string
	// Began is the step of its first event.
	Began                               uint64
	Donor, Recipient, Decision, Outcome string
	// Sections and Deletions are the newest word of each node on its critical section and range
	// deletion.
	Sections, Deletions []string
}

// Over says whether the migration has ended and nothing is left of it.
func (m *Migration) Over() bool { return m.Outcome != "" && len(m.Sections)+len(m.Deletions) == 0 }

// After is the progress after these events.
func After(events []trace.Event) *Progress {
	p := &Progress{}
	for i := range events {
		p.take(&events[i])
	}
	return p
}

func (p *Progress) take(e *trace.Event) {
	switch e.Kind {
	case trace.Fault:
		p.Faults = append(p.Faults, fault(e))
	case trace.Repair:
		if i := slices.Index(p.Faults, fault(e)); i >= 0 {
			p.Faults = slices.Delete(p.Faults, i, i+1)
		}
	case trace.MigrationRequested, trace.DonorAdvanced, trace.RecipientAdvanced,
		trace.PrimaryMoving:
		p.move(e)
	case trace.DecisionMade:
		p.known(e).Decision = e.State() + " by " + e.Node
	case trace.MigrationEnded:
		p.known(e).end(e.Decision())
	case trace.CriticalSection:
		m := p.known(e)
		m.Sections = word(m.Sections, e, e.SectionState().Terminal())
	case trace.RangeDeletion:
		m := p.known(e)
		m.Deletions = word(m.Deletions, e, e.DeletionState().Terminal())
	}
}

func (p *Progress) move(e *trace.Event) {
	m := p.known(e)
	m.NS, m.From, m.To = e.NS, e.Shard, e.Peer
	if e.Kind == trace.RecipientAdvanced {
		m.From, m.To = e.Peer, e.Shard
	}
	if e.Min < e.Max {
		m.Min, m.Max = e.Min, e.Max
	}
	switch e.Kind {
	case trace.DonorAdvanced, trace.PrimaryMoving:
		m.Donor = e.State() + " on " + e.Node
	case trace.RecipientAdvanced:
		m.Recipient = e.State() + " on " + e.Node
	}
}

// known is the migration that the event names.
func (p *Progress) known(e *trace.Event) *Migration {
	i := slices.IndexFunc(p.Migrations, func(m Migration) bool { return m.ID == e.Migration() })
	if i < 0 {
		i = len(p.Migrations)
		p.Migrations = append(p.Migrations, Migration{ID: e.Migration(), NS: e.NS, Began: e.Step})
	}
	return &p.Migrations[i]
}

// end ends the migration. The promise to delete the range, of that side which has it now, is taken
// back without a word.
func (m *Migration) end(outcome trace.Decision) {
	m.Outcome = outcome.String()
	keeps := m.From + "."
	if outcome == trace.Committed {
		keeps = m.To + "."
	}
	m.Deletions = slices.DeleteFunc(slices.Clone(m.Deletions), func(s string) bool {
		return strings.HasPrefix(s, keeps)
	})
}

// word replaces what a node said before; the last word takes it away.
func word(said []string, e *trace.Event, last bool) []string {
	prefix := e.Node + " "
	said = slices.DeleteFunc(slices.Clone(said), func(s string) bool {
		return len(s) > len(prefix) && s[:len(prefix)] == prefix
	})
	if last {
		return said
	}
	return append(said, prefix+e.State())
}

func fault(e *trace.Event) string {
	return fmt.Sprintf("fault %d %s %s", e.FaultNumber(), e.FaultKind(), e.Peer)
}
