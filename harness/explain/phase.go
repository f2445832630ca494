package explain

import (
	"fmt"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
)

// phaseOf says of an event that is a phase of a migration whose it is and which.
func phaseOf(e *trace.Event) (migration string, p phase) {
	switch e.Kind {
	case trace.MigrationRequested:
		return e.Migration(), phase{"", "requested"}
	case trace.DonorAdvanced:
		return e.Migration(), phase{"donor", e.State()}
	case trace.RecipientAdvanced:
		return e.Migration(), phase{"recipient", e.State()}
	case trace.CriticalSection:
		return e.Migration(), phase{e.Node, sectionText(e)}
	case trace.RangeDeletion:
		return e.Migration(), phase{e.Node, "range deletion " + e.State()}
	case trace.DecisionMade:
		return e.Migration(), phase{"", "decided: " + e.State()}
	case trace.MigrationEnded:
		return e.Migration(), phase{"", "ended " + e.State()}
	case trace.PrimaryMoving:
		return e.Migration(), phase{"", e.State()}
	}
	return "", phase{}
}

// phaseOf is that of a moment. A deletion is told with its orphans where these are in question.
func (s *slice) phaseOf(e *trace.Event) (migration string, p phase) {
	migration, p = phaseOf(e)
	if e.Kind == trace.RangeDeletion && strings.Contains(s.about.Text, "orphan") {
		p.state += fmt.Sprintf(" (%s)", counted(e.Orphans(), "orphan"))
	}
	return migration, p
}

// sectionText is what a critical section does to clients from now on.
func sectionText(e *trace.Event) string {
	switch e.SectionState() {
	case trace.WritesBlocked:
		return "blocks writes"
	case trace.ReadsBlocked:
		return "blocks reads"
	}
	return "leaves its critical section"
}

// phase is a state that one side of a migration enters.
type phase struct{ side, state string }

// after is the phase as it is told behind another one.
func (p phase) after(before phase) string {
	switch {
	case p.side != "" && p.side == before.side:
		return " → " + p.state
	case p.side != "":
		return ", " + p.side + " " + p.state
	}
	return ", " + p.state
}

// alone is the phase as it is told by itself: the first time with where the migration goes.
func (p phase) alone(e *trace.Event, first bool) string {
	text := holder(e.Migration())
	if first && e.Kind == trace.PrimaryMoving {
		text = "movePrimary " + e.Migration() + " of " + e.NS
	} else if first && e.Min < e.Max {
		text += " " + rangeText(e)
	}
	switch {
	case first && e.Kind == trace.RecipientAdvanced:
		text += " " + e.Peer + " → " + e.Shard
	case first && e.Peer != "":
		text += " " + e.Shard + " → " + e.Peer
	}
	return text + strings.Replace(p.after(phase{}), ",", ":", 1)
}

// joinPhases makes one moment of phases that follow each other with nothing else between.
func joinPhases(all []Moment) (out []Moment) {
	const long = 125 // bytes, of which more would not fit into a line
	for _, m := range all {
		n := len(out)
		if n == 0 || m.migration == "" || out[n-1].migration != m.migration || m.Weight == Must ||
			out[n-1].Weight == Must || len(out[n-1].Text) > long {
			out = append(out, m)
			continue
		}
		last := &out[n-1]
		if m.phase != last.phase { // the sections of two collections are blocked alike
			last.Text += m.phase.after(last.phase)
		}
		last.Weight, last.Step, last.phase = max(last.Weight, m.Weight), m.Step, m.phase
	}
	return out
}

// holder names what has a critical section: a migration, or an operation on a collection, which
// says itself that it is one.
func holder(id string) string {
	if strings.HasPrefix(id, "operation ") {
		return id
	}
	return "migration " + id
}
