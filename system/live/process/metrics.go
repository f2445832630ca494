package process

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/rpc"
)

// metricSet is what a process counts, in the text format of Prometheus. It is fed by the node's
// events and written by a task of the node: all of it belongs to the loop.
type metricSet struct {
	set      string // the replica set
	counters map[string]uint64
	// sections are when the critical sections in progress began, by what they are about.
	sections map[string]int64
	blocked  histogram
}

func newMetrics(set string) *metricSet {
	return &metricSet{set: set, counters: make(map[string]uint64), sections: make(map[string]int64)}
}

// observe counts an event.
func (m *metricSet) observe(e *trace.Event) {
	switch e.Kind {
	case trace.Elected:
		m.count("shardproof_elections_total", "set", m.set)
	case trace.SteppedDown:
		m.count("shardproof_stepdowns_total", "set", m.set)
	case trace.RolledBack:
		m.count("shardproof_rollbacks_total", "set", m.set)
	case trace.DonorAdvanced:
		m.count("shardproof_migration_phases_total", "role", "donor", "phase", e.State())
	case trace.RecipientAdvanced:
		m.count("shardproof_migration_phases_total", "role", "recipient", "phase", e.State())
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
		m.blocked.add(float64(e.At-began) / 1e9)
	}
}

// count adds one to a counter with labels, given as names and values.
func (m *metricSet) count(name string, labels ...string) { m.counters[name+labelled(labels...)]++ }

func labelled(labels ...string) string {
	var parts []string
	for i := 0; i+1 < len(labels); i += 2 {
		parts = append(parts, fmt.Sprintf("%s=%q", labels[i], labels[i+1]))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// write writes counters, what the status says, and the shard's own counters.
func (m *metricSet) write(w io.Writer, s *Status) {
	for _, name := range slices.Sorted(maps.Keys(m.counters)) {
		fmt.Fprintf(w, "%s %d\n", name, m.counters[name])
	}
	gauge := func(name string, value uint64) {
		fmt.Fprintf(w, "%s%s %d\n", name, labelled("set", m.set), value)
	}
	gauge("shardproof_incarnation", uint64(s.Incarnation))
	gauge("shardproof_event_log_dropped_total", s.EventsDropped)
	gauge("shardproof_goroutines", uint64(runtime.NumGoroutine()))
	if s.Set != "" {
		m.blocked.write(w, "shardproof_critical_section_seconds")
		var primary uint64
		if s.Role == "primary" {
			primary = 1
		}
		gauge("shardproof_primary", primary)
		gauge("shardproof_term", s.Term)
		gauge("shardproof_log_applied_index", s.Applied)
		gauge("shardproof_log_majority_index", s.Majority)
		gauge("shardproof_replication_lag_entries", s.Applied-min(s.Majority, s.Applied))
	}
	for _, c := range s.Statistics {
		fmt.Fprintf(w, "shardproof_sharding_statistics%s %d\n",
			labelled("set", m.set, "name", c.Name), c.Count)
		if c.Name == "numOrphanDocs" {
			gauge("shardproof_orphan_documents", uint64(c.Count))
		}
	}
}

// bounds are the upper bounds of a histogram's buckets, in seconds.
var bounds = [...]float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30}

// histogram counts durations. The zero histogram is empty.
type histogram struct {
	within [len(bounds)]uint64
	all    uint64
	sum    float64
}

func (h *histogram) add(seconds float64) {
	for i, bound := range bounds {
		if seconds <= bound {
			h.within[i]++
		}
	}
	h.all++
	h.sum += seconds
}

func (h *histogram) write(w io.Writer, name string) {
	for i, bound := range bounds {
		fmt.Fprintf(w, "%s_bucket{le=\"%v\"} %d\n", name, bound, h.within[i])
	}
	fmt.Fprintf(w, "%s_bucket{le=\"+Inf\"} %d\n%s_sum %v\n%s_count %d\n",
		name, h.all, name, h.sum, name, h.all)
}

// classify names a message after its command.
func classify(m env.Message) string {
	if e, ok := m.(*rpc.Envelope); ok && e.Body != nil {
		m = e.Body
	}
	return reflect.TypeOf(m).Elem().Name()
}
