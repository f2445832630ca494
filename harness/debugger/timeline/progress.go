package timeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
)

// Progress is what is under way after a part of a run's events.
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
	// Sections and Deletions are the newest word of each node on its critical section and range deletion.
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
	case trace.MigrationRequested, trace.DonorState, trace.RecipientState, trace.PrimaryMoving:
		p.move(e)
	case trace.DecisionMade:
		p.known(e).Decision = e.Value + " by " + e.Node
	case trace.MigrationEnded:
		p.known(e).end(e.Value)
	case trace.CriticalSection:
		m := p.known(e)
		m.Sections = word(m.Sections, e, "released")
	case trace.RangeDeletion:
		m := p.known(e)
		m.Deletions = word(m.Deletions, e, "done")
	}
}

func (p *Progress) move(e *trace.Event) {
	m := p.known(e)
	m.NS, m.From, m.To = e.NS, e.Shard, e.Peer
	if e.Kind == trace.RecipientState {
		m.From, m.To = e.Peer, e.Shard
	}
	if e.Min < e.Max {
		m.Min, m.Max = e.Min, e.Max
	}
	switch e.Kind {
	case trace.DonorState, trace.PrimaryMoving:
		m.Donor = e.Value + " on " + e.Node
	case trace.RecipientState:
		m.Recipient = e.Value + " on " + e.Node
	}
}

// known is the migration that the event names.
func (p *Progress) known(e *trace.Event) *Migration {
	i := slices.IndexFunc(p.Migrations, func(m Migration) bool { return m.ID == e.ID })
	if i < 0 {
		i = len(p.Migrations)
		p.Migrations = append(p.Migrations, Migration{ID: e.ID, NS: e.NS, Began: e.Step})
	}
	return &p.Migrations[i]
}

// end ends the migration. The promise to delete the range, of that side which has it now, is taken back without a word.
func (m *Migration) end(outcome string) {
	m.Outcome = outcome
	keeps := m.From + "."
	if outcome == "committed" {
		keeps = m.To + "."
	}
	m.Deletions = slices.DeleteFunc(slices.Clone(m.Deletions), func(s string) bool { return strings.HasPrefix(s, keeps) })
}

// word replaces what a node said before; the last word takes it away.
func word(said []string, e *trace.Event, last string) []string {
	prefix := e.Node + " "
	said = slices.DeleteFunc(slices.Clone(said), func(s string) bool { return len(s) > len(prefix) && s[:len(prefix)] == prefix })
	if e.Value == last {
		return said
	}
	return append(said, prefix+e.Value)
}

func fault(e *trace.Event) string { return fmt.Sprintf("fault %d %s %s", e.N, e.Value, e.Peer) }
