package migration

import (
	"fmt"
	"strings"
	"time"

	"github.com/shardproof/shardproof/system/env"
)

// stepTiming records how long each step of one side took, for the changelog (protocol 5.1, 5.2).
type stepTiming struct {
	steps int // of the protocol
	laps  []time.Duration
	last  env.Time
}

func newTiming(steps int, now env.Time) stepTiming { return stepTiming{steps: steps, last: now} }

// lap ends a step.
func (m *stepTiming) lap(now env.Time) {
	m.laps = append(m.laps, now.Sub(m.last))
	m.last = now
}

// note is the detail of an entry in the changelog: what became of the migration and how long its
// steps took.
func (m *stepTiming) note(migration string, err error) string {
	var b strings.Builder
	b.WriteString(migration)
	for i, d := range m.laps {
		fmt.Fprintf(&b, ", step %d of %d: %v", i+1, m.steps, d)
	}
	if err == nil {
		b.WriteString(", success")
	} else {
		fmt.Fprintf(&b, ", aborted: %v", err)
	}
	return b.String()
}

// logLater adds to the changelog behind the migration's back: nothing waits for it, and when it
// gets lost nothing is wrong.
func (s *Service) logLater(what, ns, detail string) {
	if s.member.TermScope().Err() != nil {
		return
	}
	s.node.Spawn(s.member.TermScope(), "changelog "+what, func(t env.Task) {
		_ = s.logChange(t, what, ns, detail)
	})
}
