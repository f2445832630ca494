package aimed_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// TestAim: of 600 seeds, some have each of the additions.
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
	"one failpoint at which the same happens again and again": func(s *scenario.Scenario) bool {
		at := map[string]int{}
		return hasFault(s, func(_ int, f scenario.Fault) bool {
			if f.When.Site != "" && f.When.Nth > 0 && f.Until == nil {
				at[f.Kind+" "+f.When.Site]++
			}
			return at[f.Kind+" "+f.When.Site] > 4
		})
	},
	"donors that fail before the refresh after their commit": func(s *scenario.Scenario) bool {
		return s.Protocol == "4.2" && hasFault(s, func(_ int, f scenario.Fault) bool {
			return f.When.Site == failpoint.DonorPostRefresh.String()
		})
	},
	"steps of operations that are undone": func(s *scenario.Scenario) bool {
		return hasFault(s, func(_ int, f scenario.Fault) bool {
			return f.Kind == "stale-task" && f.When.Site == failpoint.RequestDDLApplied.String()
		})
	},
	"settings that change as a defragmentation ends": func(s *scenario.Scenario) bool {
		return hasFault(s, func(_ int, f scenario.Fault) bool {
			return f.Kind == "early-command" &&
				f.When.Site == failpoint.BalancerDefragmented.String()
		})
	},
	"commands between what a round reads and does": func(s *scenario.Scenario) bool {
		return s.Balancer && hasFault(s, func(_ int, f scenario.Fault) bool {
			return f.Kind == "early-command" && f.When.Site == failpoint.BalancerEnqueue.String()
		})
	},
	"majorities that are slow": func(s *scenario.Scenario) bool {
		return hasFault(s, func(_ int, f scenario.Fault) bool {
			return f.Kind == "slow-disk" && strings.HasSuffix(f.Target, ".*") && f.When.Site == ""
		})
	},
	"donors that fail as they are asked for changes": func(s *scenario.Scenario) bool {
		return hasFault(s, func(_ int, f scenario.Fault) bool {
			return f.Kind == "error" && f.When.Site == failpoint.DonorServeRead.String() &&
				has(f, "code", "HostUnreachable")
		})
	},
	"snapshots of when a collection was changed as a whole": func(s *scenario.Scenario) bool {
		back := 0
		for _, o := range s.Ops {
			if o.Kind == scenario.Scan && o.Concern == "snapshot" && o.Age%time.Millisecond == 0 &&
				o.Age%(50*time.Millisecond) != 0 {
				back++
			}
		}
		return back >= 3
	},
	"a range that comes back as a part of a wider one": func(s *scenario.Scenario) bool {
		return slices.ContainsFunc(s.Commands, func(c scenario.Command) bool {
			return c.Do == commandkind.MergeChunks &&
				slices.ContainsFunc(s.Migrations, func(m scenario.Migration) bool {
					return m.NS == c.Name && m.Min == c.Min && m.Max == c.Max && m.At > c.At
				})
		})
	},
	"a task that fails": func(s *scenario.Scenario) bool {
		return hasFault(s, func(_ int, f scenario.Fault) bool {
			return f.Kind == "error" && slices.ContainsFunc(f.Args, func(v scenario.Setting) bool {
				return v.Name == "task"
			})
		})
	},
	"several cursors that answer late": func(s *scenario.Scenario) bool {
		late := 0
		return hasFault(s, func(_ int, f scenario.Fault) bool {
			if f.Kind == "pause" && has(f, "task", "GetMore") {
				late++
			}
			return late > 1
		})
	},
	"copies that come at a later step, to a party that leads again": func(s *scenario.Scenario) bool {
		return hasFault(s, func(i int, f scenario.Fault) bool {
			next := s.Faults[min(i+1, len(s.Faults)-1)]
			return f.Kind == "duplicate" && f.Until != nil && has(f, "copy", "held") &&
				slices.ContainsFunc(f.Args, func(v scenario.Setting) bool { return v.Name == "skip" }) &&
				next.Kind == "stale-task" && has(next, "ending", "again") && next.When.Site == f.Until.Site &&
				next.When.Nth == f.Until.Nth
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
		return slices.ContainsFunc(s.Ops, func(q scenario.Op) bool {
			return q.Kind == scenario.Scan && paused(s, "Find", q.At, q.At+1) &&
				slices.ContainsFunc(s.Ops, func(o scenario.Op) bool {
					return o.NS == q.NS && (o.Kind == scenario.Rename || o.Kind == scenario.Drop) &&
						(o.At-q.At).Abs() <= 25*time.Millisecond
				})
		})
	},
	"readers of what moves with a database": func(s *scenario.Scenario) bool {
		return slices.ContainsFunc(s.Streams, func(r scenario.Stream) bool {
			return s.Sharded(r.NS) == nil
		}) && slices.ContainsFunc(s.Primaries, func(m scenario.MovePrimary) bool {
			return paused(s, "ReadChanges", m.At, m.At+150*time.Millisecond)
		})
	},
	"ranges that arrive during a cleanup of 4.2": func(s *scenario.Scenario) bool {
		return s.Protocol == "4.2" && hasFault(s, func(_ int, f scenario.Fault) bool {
			return f.Kind == "hold" && f.Until != nil && has(f, "messages", "LogChange") &&
				f.Until.Site == failpoint.DonorSendConfig.String() &&
				slices.ContainsFunc(s.Migrations, func(m scenario.Migration) bool {
					return m.At > f.When.At && m.At <= f.When.At+60*time.Millisecond
				})
		})
	},
	"isolated shards of inserts of several documents": func(s *scenario.Scenario) bool {
		return hasFault(s, func(_ int, f scenario.Fault) bool {
			return f.Kind == "isolated-primary" && strings.HasPrefix(f.Target, "shard-") &&
				slices.ContainsFunc(s.Ops, func(o scenario.Op) bool {
					return o.Together && f.When.At >= o.At && f.When.At < o.At+12*time.Millisecond
				})
		})
	},
}

func has(f scenario.Fault, name, value string) bool {
	return slices.Contains(f.Args, scenario.Setting{Name: name, Value: value})
}

// paused reports whether a task of a shard that carries out the command stands still from a time in
// [from, to) on.
func paused(s *scenario.Scenario, command string, from, to time.Duration) bool {
	return hasFault(s, func(_ int, f scenario.Fault) bool {
		return f.Kind == "pause" && f.When.Site == "" && strings.HasPrefix(f.Target, "shard-") &&
			has(f, "task", command) && from <= f.When.At && f.When.At < to
	})
}

func hasFault(s *scenario.Scenario, is func(i int, f scenario.Fault) bool) bool {
	for i, f := range s.Faults {
		if is(i, f) {
			return true
		}
	}
	return false
}
