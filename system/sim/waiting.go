package sim

import (
	"strings"
)

// Waiting describes every task that has not ended, a line each, by node and age: what a cluster
// that does not come to rest is waiting for. The lines are for people.
func (w *World) Waiting() []string {
	var lines []string
	for _, m := range w.machines {
		if m.life == nil {
			continue
		}
		for t := m.life.first; t != nil; t = t.next {
			lines = append(lines, t.describe())
		}
	}
	return lines
}

func (t *task) describe() string {
	var b strings.Builder
	b.WriteString(string(t.node.ID()) + ": " + t.name + " is " + stateNames[t.state])
	if t.state == taskCalling {
		b.WriteString(" " + string(t.asked))
	}
	if t.site != 0 {
		b.WriteString(" after " + t.site.String())
	}
	if t.err != nil {
		b.WriteString(", to end with " + t.err.Error())
	}
	return b.String()
}
