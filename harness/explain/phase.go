package explain

import (
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
)

// phaseOf says of an event that is a phase of a migration whose it is and which.
func phaseOf(e *trace.Event) (migration string, p phase) {
	switch e.Kind {
	case trace.MigrationRequested:
		return e.ID, phase{"", "asked for"}
	case trace.DonorState:
		return e.ID, phase{"donor", e.Value}
	case trace.RecipientState:
		return e.ID, phase{"recipient", e.Value}
	case trace.CriticalSection:
		return e.ID, phase{e.Node, e.Value}
	case trace.RangeDeletion:
		return e.ID, phase{e.Node, "deletion " + e.Value}
	case trace.DecisionMade:
		return e.ID, phase{"", "decision " + e.Value}
	case trace.MigrationEnded:
		return e.ID, phase{"", "ended " + e.Value}
	case trace.PrimaryMoving:
		return e.ID, phase{"", e.Value}
	}
	return "", phase{}
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
	text := "migration " + e.ID
	if first && e.Kind == trace.PrimaryMoving {
		text = "movePrimary " + e.ID + " of " + e.NS
	} else if first && e.Min < e.Max {
		text += " " + rangeText(e)
	}
	switch {
	case first && e.Kind == trace.RecipientState:
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
		if n == 0 || m.migration == "" || out[n-1].migration != m.migration || m.Weight == Must || out[n-1].Weight == Must || len(out[n-1].Text) > long {
			out = append(out, m)
			continue
		}
		last := &out[n-1]
		last.Text += m.phase.after(last.phase)
		last.Weight, last.Step, last.phase = max(last.Weight, m.Weight), m.Step, m.phase
	}
	return out
}
