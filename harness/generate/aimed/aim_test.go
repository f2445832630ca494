package aimed_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// TestAim: of 600 seeds, some have each of the additions, with all its parts.
func TestAim(t *testing.T) {
	found := map[string]int{}
	for seed := range uint64(600) {
		s := generate.Mixed(seed)
		for what, has := range additions {
			if has(s) {
				found[what]++
			}
		}
	}
	for what := range additions {
		if found[what] < 4 {
			t.Errorf("%d seeds of 600 have %s", found[what], what)
		}
	}
}

var additions = map[string]func(*scenario.Scenario) bool{
	"copies that come at a later step, to a party that leads again": func(s *scenario.Scenario) bool {
		return hasFault(s, func(i int, f scenario.Fault) bool {
			next := min(i+1, len(s.Faults)-1)
			return f.Kind == "duplicate" && f.Until != nil && f.Target == "*>*" &&
				s.Faults[next].Kind == "stale-task" && s.Faults[next].When.Site == f.Until.Site &&
				s.Faults[next].When.Nth == f.Until.Nth
		})
	},
	"movePrimaries that meet a recovery of 4.2": func(s *scenario.Scenario) bool {
		return s.Protocol == "4.2" && len(s.Primaries) > 1 &&
			hasFault(s, func(_ int, f scenario.Fault) bool {
				return f.Kind == "early-command" && f.Until != nil && f.When.Node != "" &&
					strings.HasPrefix(f.When.Site, "recovery.") &&
					strings.HasPrefix(f.Until.Site, "movePrimary.")
			})
	},
	"requests that stand still until an operation on a collection": func(s *scenario.Scenario) bool {
		return len(s.WholeTimes()) > 0 && hasFault(s, func(_ int, f scenario.Fault) bool {
			return f.Kind == "pause" && f.Until != nil && strings.HasPrefix(f.When.Site, "request.") &&
				(strings.HasPrefix(f.Until.Site, "config.ddl") ||
					strings.HasPrefix(f.Until.Site, "request.ddl"))
		})
	},
	"queries of what is renamed or dropped": func(s *scenario.Scenario) bool {
		return slices.ContainsFunc(s.Ops, func(o scenario.Op) bool {
			i := slices.IndexFunc(s.Collections, func(c scenario.Collection) bool {
				return c.NS == o.NS
			})
			return o.Kind == scenario.Scan && i >= 0 && o.Batch == s.Collections[i].Keys &&
				len(s.WholeTimes()) > 0 && hasTask(s, "Find")
		})
	},
	"readers of what moves with a database": func(s *scenario.Scenario) bool {
		return len(s.Primaries) > 0 && hasTask(s, "ReadChanges") &&
			slices.ContainsFunc(s.Streams, func(r scenario.Stream) bool {
				return s.Sharded(r.NS) == nil
			})
	},
	"ranges that arrive during a cleanup of 4.2": func(s *scenario.Scenario) bool {
		return s.Protocol == "4.2" && hasFault(s, func(_ int, f scenario.Fault) bool {
			return f.Kind == "hold" && f.Target == "*>config.*" && f.Until != nil &&
				f.Until.Site == failpoint.DonorSendConfig.String() &&
				slices.Contains(f.Args, scenario.Setting{Name: "messages", Value: "LogChange"})
		})
	},
	"isolated shards of inserts of several documents": func(s *scenario.Scenario) bool {
		return slices.ContainsFunc(s.Ops, func(o scenario.Op) bool { return o.Together }) &&
			hasFault(s, func(_ int, f scenario.Fault) bool { return f.Kind == "isolated-primary" })
	},
}

func hasFault(s *scenario.Scenario, is func(i int, f scenario.Fault) bool) bool {
	for i, f := range s.Faults {
		if is(i, f) {
			return true
		}
	}
	return false
}

// hasTask reports whether a task that carries out the command is paused from some time on.
func hasTask(s *scenario.Scenario, command string) bool {
	return hasFault(s, func(_ int, f scenario.Fault) bool {
		return f.Kind == "pause" && f.When.Site == "" &&
			slices.Contains(f.Args, scenario.Setting{Name: "task", Value: command})
	})
}
