package process

import (
	"fmt"
	"io"
	"reflect"

	"github.com/VictoriaMetrics/metrics"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// metricSet is what a process counts. Counters are fed by the node's events; what is looked up is
// written at every request.
type metricSet struct {
	set  *metrics.Set
	name string // of the replica set
	// sections are when the critical sections in progress began, by what they are about.
	sections map[string]int64
}

func newMetrics(name string) *metricSet {
	m := &metricSet{set: metrics.NewSet(), name: name, sections: make(map[string]int64)}
	return m
}

// observe counts an event.
func (m *metricSet) observe(e *trace.Event) {
	switch e.Kind {
	case trace.Elected:
		m.count("shardproof_elections_total", "set", m.name)
	case trace.SteppedDown:
		m.count("shardproof_stepdowns_total", "set", m.name)
	case trace.RolledBack:
		m.count("shardproof_rollbacks_total", "set", m.name)
	case trace.DonorAdvanced, trace.RecipientAdvanced:
		role := "donor"
		if e.Kind == trace.RecipientAdvanced {
			role = "recipient"
		}
		m.count("shardproof_migration_phases_total", "role", role, "phase", e.State())
	case trace.MigrationEnded:
		m.count("shardproof_migrations_total", "decision", e.Decision().String())
	case trace.RangeDeletion:
		m.count("shardproof_range_deletions_total", "state", e.State())
	case trace.CriticalSection:
		m.section(e)
	}
}

// section measures how long writes were blocked.
func (m *metricSet) section(e *trace.Event) {
	what := e.NS + " " + e.Migration()
	began, blocked := m.sections[what]
	switch {
	case !e.SectionState().Terminal() && !blocked:
		m.sections[what] = e.At
	case e.SectionState().Terminal() && blocked:
		delete(m.sections, what)
		m.set.GetOrCreatePrometheusHistogram("shardproof_critical_section_seconds").
			Update(float64(e.At-began) / 1e9)
	}
}

// count adds one to a counter with labels, given as names and values.
func (m *metricSet) count(name string, labels ...string) {
	m.set.GetOrCreateCounter(name + labelled(labels...)).Inc()
}

func labelled(labels ...string) string {
	var text string
	for i := 0; i+1 < len(labels); i += 2 {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf("%s=%q", labels[i], labels[i+1])
	}
	return "{" + text + "}"
}

// write writes everything in the text format of Prometheus: counters, what the status says, and the
// shard's own counters.
func (m *metricSet) write(w io.Writer, s *Status) {
	m.set.WritePrometheus(w)
	gauge := func(name string, value float64) {
		fmt.Fprintf(w, "%s%s %v\n", name, labelled("set", m.name), value)
	}
	gauge("shardproof_incarnation", float64(s.Incarnation))
	gauge("shardproof_event_log_dropped", float64(s.EventsDropped))
	if s.Set != "" {
		gauge("shardproof_primary", truth(s.Role == "primary"))
		gauge("shardproof_term", float64(s.Term))
		gauge("shardproof_log_applied_index", float64(s.Applied))
		gauge("shardproof_log_majority_index", float64(s.Majority))
		gauge("shardproof_replication_lag_entries", float64(s.Applied-min(s.Majority, s.Applied)))
	}
	for _, c := range s.Statistics {
		fmt.Fprintf(w, "shardproof_sharding_statistics%s %d\n",
			labelled("set", m.name, "name", c.Name), c.Count)
		if c.Name == "numOrphanDocs" {
			gauge("shardproof_orphan_documents", float64(c.Count))
		}
	}
	metrics.WriteProcessMetrics(w)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// classify names a message after its command.
func classify(m env.Message) string {
	if e, ok := m.(*rpc.Envelope); ok && e.Body != nil {
		m = e.Body
	}
	return reflect.TypeOf(m).Elem().Name()
}
