package shrink

import (
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/histories/commandkind"
	"github.com/shardproof/shardproof/histories/scenario"
)

// large is a scenario of which little matters.
func large(t *testing.T) *scenario.Scenario {
	t.Helper()
	s := &scenario.Scenario{
		Name:      "large",
		Seed:      9,
		Planned:   true,
		FaultsEnd: time.Second,
		Limit:     time.Minute,
		Topology: scenario.Topology{
			Shards:        3,
			Members:       3,
			ConfigMembers: 3,
			Routers:       2,
			Clients:       5,
		},
		Collections: []scenario.Collection{{
			NS:      "test.docs",
			Keys:    20,
			Preload: 20,
			Bounds:  []int64{5, 10},
		}},
		Settings: []scenario.Setting{
			{Name: "timeoutMS", Value: "5s"},
			{Name: "sim.net.jitter", Value: "1ms"},
		},
	}
	for i := range 60 {
		s.Ops = append(s.Ops, scenario.Op{
			ID:     i + 1,
			At:     time.Duration(i) * 7 * time.Millisecond,
			Client: i % 5,
			NS:     "test.docs",
			Kind:   scenario.Read,
			Key:    int64(i % 20),
		})
	}
	for i := range 4 {
		s.Migrations = append(s.Migrations, scenario.Migration{
			ID:  i + 1,
			At:  50 * time.Millisecond,
			NS:  "test.docs",
			Max: 5,
			To:  i % 3,
		})
		s.Faults = append(s.Faults, scenario.Fault{
			ID:     i + 1,
			Kind:   "crash",
			Target: "donor.primary",
			When:   scenario.Trigger{Site: "donor.register", Nth: 3},
			For:    time.Second,
		})
		s.Decisions = append(s.Decisions, scenario.Decision{
			Kind:       "net.loss",
			Site:       "client.4>router.1/Find",
			Occurrence: uint64(i + 1),
			Answer:     1,
		})
	}
	return s
}

// fails is a bug: operation 17 by client 1 after fault 3, while shard-c is there.
func fails(_ int, s *scenario.Scenario) Trial {
	crash := slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool {
		return f.ID == 3 && f.When.Nth >= 2
	})
	op := slices.ContainsFunc(s.Ops, func(o scenario.Op) bool { return o.ID == 17 && o.Key == 16 })
	if s.Validate(scenario.Names{}) != nil || !crash || !op || s.Topology.Shards < 3 {
		return Trial{}
	}
	return Trial{Same: true, Ops: []int{17}}
}

const least = `shardproof scenario 2 until end
name large
seed 9  # 8 of 8 other seeds fail too
planned
topology shards=3 members=1 config=1 routers=1 clients=1
faults-end 0s
limit 1m0s
collection test.docs ranged keys=17 preload=0
set sim.net.jitter 0s
set sim.task.yieldsPerMillion 0

op 17 at 0s client 0 read test.docs k=16  # another time fails too

fault 3 at donor.register #2 crash donor.primary
end
`

// TestShrinksToWhatMatters finds the only operation, fault and shards that the bug needs, and the
// same with any number of workers.
func TestShrinksToWhatMatters(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		r := searchFrom(large(t), fails(0, large(t)),
			searchOptions{Try: fails, Workers: workers, Runs: 2000})
		if diff := cmp.Diff(least, Annotate(r.Scenario, r.Labels)); diff != "" {
			t.Errorf("%d workers, %d runs (-want +got):\n%s", workers, r.Runs, diff)
		}
		if !r.Complete {
			t.Errorf("%d workers: the search says that it is not complete", workers)
		}
	}
}

// TestGoesOn interrupts a search after every tenth run, goes on with what was learned, and ends
// where an uninterrupted one does after as many runs.
func TestGoesOn(t *testing.T) {
	whole := searchFrom(large(t), fails(0, large(t)), searchOptions{Try: fails, Runs: 2000})
	var journal []string
	for total := 0; ; {
		known, err := ParseTrials(journal)
		if err != nil {
			t.Fatal(err)
		}
		r := searchFrom(large(t), fails(0, large(t)), searchOptions{
			Try:   fails,
			Runs:  10,
			Known: known,
			Learned: func(key uint64, said Trial) {
				journal = append(journal, FormatTrial(key, said))
			},
		})
		if total += r.Runs; !r.Complete {
			continue
		}
		if diff := cmp.Diff(whole.Scenario.String(), r.Scenario.String()); diff != "" ||
			total != whole.Runs {
			t.Errorf("%d runs in parts, %d at once (-at once +in parts):\n%s",
				total, whole.Runs, diff)
		}
		return
	}
}

// TestKeepsTheSmallestSoFar stops early: what was told last is the result, and fails.
func TestKeepsTheSmallestSoFar(t *testing.T) {
	var last *scenario.Scenario
	r := searchFrom(large(t), fails(0, large(t)), searchOptions{
		Try:     fails,
		Runs:    2000,
		Smaller: func(s *scenario.Scenario, _ int) { last = s },
		Stop:    func() bool { return last != nil && len(last.Ops) < 20 },
	})
	if r.Complete || last == nil || r.Scenario.String() != last.String() || !fails(0, last).Same {
		t.Errorf("complete %t, the result is\n%s\nand the last one told was\n%s",
			r.Complete, r.Scenario, last)
	}
	if r.Labels != nil {
		t.Errorf("labels of a search that was not complete: %v", r.Labels)
	}
}

// TestStubbornFailures need another seed for every operation that is taken away, or an earlier
// message, a later start, a lower setting or a fault at another pass.
func TestStubbornFailures(t *testing.T) {
	for name, same := range map[string]func(s *scenario.Scenario) bool{
		"seed": func(s *scenario.Scenario) bool { return s.Seed%3 == uint64(len(s.Ops))%3 },
		"message": func(s *scenario.Scenario) bool {
			return slices.ContainsFunc(s.Decisions, func(d scenario.Decision) bool {
				return d.Occurrence == uint64(len(s.Ops))
			})
		},
		"start": func(s *scenario.Scenario) bool {
			return len(s.Ops) > 0 &&
				s.Ops[len(s.Ops)-1].At >= time.Duration(12-len(s.Ops))*time.Millisecond
		},
		"setting": func(s *scenario.Scenario) bool {
			return slices.ContainsFunc(s.Settings, func(v scenario.Setting) bool {
				d, err := time.ParseDuration(v.Value)
				return v.Name == "timeoutMS" && err == nil &&
					d <= 5*time.Second*time.Duration(len(s.Ops))/12
			})
		},
		"fault": func(s *scenario.Scenario) bool {
			return slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool {
				return f.When.Nth >= 14-len(s.Ops)
			})
		},
	} {
		s := large(t)
		s.Ops = s.Ops[:12]
		s.Decisions = []scenario.Decision{{
			Kind:       "net.loss",
			Site:       "client.4>router.1/Find",
			Occurrence: 12,
			Answer:     1,
		}}
		r := searchFrom(s, Trial{Same: true},
			searchOptions{Runs: 5000, Workers: 2, Try: func(_ int, s *scenario.Scenario) Trial {
				return Trial{Same: same(s)}
			}})
		if !isSmall(r.Scenario) || !same(r.Scenario) {
			t.Errorf("%s: after %d runs is left:\n%s", name, r.Runs, r.Scenario)
		}
	}
}

// TestTrialsReadBack refuses what is no trial.
func TestTrialsReadBack(t *testing.T) {
	for _, line := range []string{"", "12", "xyz same", "0012 perhaps", "0012 same three"} {
		if _, err := ParseTrials([]string{line}); err == nil {
			t.Errorf("%q was taken for a trial", line)
		}
	}
}

// TestPlainerLines: what may be anything becomes the newest protocol, the widest ranges, splits
// where bounds are and round values; what must be odd stays, and is labelled where it need not be
// exactly so.
func TestPlainerLines(t *testing.T) {
	s, err := scenario.Parse("lines", `shardproof scenario 2
seed 1
planned
protocol 4.2
topology shards=2 members=1 config=1 routers=1 clients=1
faults-end 1s
limit 1m0s
collection test.docs ranged keys=20 preload=0 bounds=10
set chunkSizeBytes 4711

move 1 at 0s test.docs [3, 10) to shard-b

at 0s split test.docs 7
at 0s merge test.docs [2, 9)
`)
	if err != nil {
		t.Fatal(err)
	}
	odd := func(_ int, s *scenario.Scenario) Trial {
		splits := func(c scenario.Command) bool { return c.Do == commandkind.SplitChunk }
		merges := func(c scenario.Command) bool {
			return c.Do == commandkind.MergeChunks && c.Max < 20
		}
		same := len(s.Settings) > 0 && s.Settings[0].Value > "2" && len(s.Migrations) == 1 &&
			s.Migrations[0].Max == 10
		return Trial{Same: same && slices.ContainsFunc(s.Commands, splits) &&
			slices.ContainsFunc(s.Commands, merges)}
	}
	r := searchFrom(s, Trial{Same: true}, searchOptions{Try: odd, Runs: 2000})
	got := Annotate(r.Scenario, r.Labels)
	for _, want := range []string{
		"set chunkSizeBytes 4000  # another value fails too\n",
		"move 1 at 0s test.docs [MinKey, 10) to shard-a  # another time fails too\n",
		"at 0s split test.docs 10  # another time fails too\n",
		"at 0s merge test.docs [MinKey, 9)  # another time fails too\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("without %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "protocol") {
		t.Errorf("the protocol is named:\n%s", got)
	}
}

// TestOneMember keeps what hit members of a set of three when one is left.
func TestOneMember(t *testing.T) {
	s := large(t)
	s.Decisions = []scenario.Decision{
		{Kind: "net.loss", Site: "shard-b.2>shard-a.1/TransferMods", Occurrence: 3, Answer: 1},
		{Kind: "task.stall", Site: "config.1/config.routingTable", Occurrence: 3, Answer: 1},
		{Kind: "net.loss", Site: "client.4>router.1/Find", Occurrence: 1, Answer: 1},
	}
	s.Faults = []scenario.Fault{
		{
			ID:     1,
			Kind:   "crash",
			Target: "shard-a.2",
			When:   scenario.Trigger{Site: "donor.register", Nth: 1, Node: "shard-b.1"},
		},
		{
			ID:     2,
			Kind:   "partial-partition",
			Target: "donor.primary>config.*",
			Until:  &scenario.Trigger{Site: "donor.register", Nth: 1, Node: "config.2"},
		},
	}
	oneMember(s)
	oneConfigMember(s)
	var got []string
	for _, d := range s.Decisions {
		got = append(got, d.Site)
	}
	for _, f := range s.Faults {
		got = append(got, f.String())
	}
	if diff := cmp.Diff([]string{
		"shard-b.0>shard-a.0/TransferMods", "config.0/config.routingTable",
		"client.4>router.1/Find",
		"fault 1 at donor.register #1 by shard-b.0 crash shard-a.0",
		"fault 2 at 0s partial-partition donor.primary>config.* until donor.register #1 by " +
			"config.0",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// TestRebuilt goes on with a scenario that was made again when little comes off the one that there
// is, and not before.
func TestRebuilt(t *testing.T) {
	const seed = 77
	other := large(t)
	other.Seed = seed
	other.Ops, other.Faults, other.Migrations, other.Decisions = other.Ops[16:17],
		other.Faults[2:3], nil, nil
	stubborn := func(worker int, s *scenario.Scenario) Trial {
		if len(s.Ops) >= 40 || s.Seed >= seed {
			return fails(worker, s)
		}
		return Trial{}
	}
	asked := 0
	r := searchFrom(large(t), fails(0, large(t)), searchOptions{Try: stubborn,
		Runs: 5000,
		Rebuild: func(s *scenario.Scenario) iter.Seq[[]*scenario.Scenario] {
			asked++
			if isSmall(s) {
				t.Error("it was asked for scenarios when few lines were left")
			}
			nothing := s.Clone()
			nothing.Ops = nil
			return slices.Values([][]*scenario.Scenario{{nothing}, {nothing, other}})
		}})
	diff := cmp.Diff(strings.Replace(least, "seed 9", "seed 77", 1), Annotate(r.Scenario, r.Labels))
	if diff != "" || asked != 1 {
		t.Errorf("asked %d times; (-want +got):\n%s", asked, diff)
	}
}
