package shrink

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/key"
)

// manualMoves is the plan of a run with events in which the balancer is off, and operators ask for
// its migrations when it did; nil where it asked for none. A failure that is not the balancer's own
// may come about so too, and is easier to follow.
func manualMoves(r *runner.Result) *scenario.Scenario {
	if !r.Scenario.Balancer || len(r.Scenario.Ops) == 0 {
		return nil
	}
	s := r.Plan().Clone()
	s.Balancer = false
	asked := make(map[string]bool)
	next := 1
	for _, m := range s.Migrations {
		asked[strconv.Itoa(m.ID)] = true
		next = max(next, m.ID+1)
	}
	found := false
	for i := range r.Events {
		e := &r.Events[i]
		if e.Kind != trace.MigrationRequested || asked[e.Request()] {
			continue
		}
		m, ok := requestedMigration(r, i)
		if ok && m.At <= s.FaultsEnd { // what begins at the very end does not finish in time
			m.ID = next
			s.Migrations, found = append(s.Migrations, m), true
			next++
		}
	}
	if !found {
		return nil
	}
	return s
}

// requestedMigration is the migration that the event with that place tells of.
func requestedMigration(r *runner.Result, place int) (m scenario.Migration, ok bool) {
	e := &r.Events[place]
	m = scenario.Migration{
		At:  max(time.Duration(e.At)-scenarioStart(r), 0).Truncate(time.Microsecond),
		NS:  e.NS,
		Min: boundNumber(e.Min),
		Max: boundNumber(rangeEnd(r.Events[place:], e)),
		To:  slices.Index(shardNames(r.Scenario), e.Peer),
	}
	return m, m.To >= 0 && m.Min < m.Max
}

// scenarioStart is when the scenario began in the run's time: no operation starts earlier than the
// scenario says. Without operations it is when operators came.
func scenarioStart(r *runner.Result) time.Duration {
	began, known := r.Virtual, false
	at := make(map[int]time.Duration, len(r.Scenario.Ops))
	for _, o := range r.Scenario.Ops {
		at[o.ID] = o.At
	}
	for _, o := range r.History {
		if start, ok := at[o.ID]; ok {
			began, known = min(began, time.Duration(o.CallAt)-start), true
		}
	}
	for i := range r.Events {
		e := &r.Events[i]
		if e.Kind == trace.NodeUp && e.Node == string(runner.OperatorNode) && !known {
			return time.Duration(e.At)
		}
	}
	return began
}

// rangeEnd is where the range of a migration ends: the donor may have decided it.
func rangeEnd(later []trace.Event, request *trace.Event) string {
	for i := range later {
		if e := &later[i]; e.Migration() == request.Migration() && e.Max != "" {
			return e.Max
		}
	}
	return request.Max
}

// boundNumber is a bound as scenarios write it. The bound just behind a value is that of the next
// one.
func boundNumber(bound string) int64 {
	text, behind := strings.CutSuffix(key.Key(bound).String(), "+")
	switch text {
	case "MinKey":
		return math.MinInt64
	case "MaxKey":
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil && behind {
		n++
	}
	return n
}

func shardNames(s *scenario.Scenario) (names []string) {
	for i := range s.Topology.Shards {
		names = append(names, scenario.ShardName(i))
	}
	return names
}
