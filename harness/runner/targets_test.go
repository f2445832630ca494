package runner

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness/example/kvtarget"
	"github.com/shardproof/shardproof/harness/shardstore"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/sim"
)

// store is the system that the tests of this package run scenarios on; both are the sharded store
// and the example.
var (
	store = target.Set{shardstore.Store{}}
	both  = target.Set{shardstore.Store{}, kvtarget.Target{}}
)

// TestRefusals: what a target does not have is refused with the line that asks for it.
func TestRefusals(t *testing.T) {
	sound := kvtarget.Base("kvstore", 1)
	if err := Validate(both, sound); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*scenario.Scenario){
		`there is no target "mongodb"`: func(s *scenario.Scenario) { s.Target = "mongodb" },
		"clients of kvstore carry out no scan": func(s *scenario.Scenario) {
			s.Ops = []scenario.Op{{ID: 1, NS: "kv.data", Kind: scenario.Scan, To: 4, Batch: 2}}
		},
		"the fault stepdown makes no sense for kvstore": func(s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{ID: 1, Kind: "stepdown", Target: "shard-a.0"}}
		},
		"there is no node shard-c.0": func(s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{ID: 1, Kind: "crash", Target: "shard-c.0"}}
		},
		`there is no setting "chunkSizeBytes"`: func(s *scenario.Scenario) {
			s.Settings = []scenario.Setting{{Name: "chunkSizeBytes", Value: "1"}}
		},
		"kvstore has shards=2": func(s *scenario.Scenario) {
			s.Topology.Members = 3
		},
		"kvstore has no databases, commands,": func(s *scenario.Scenario) { s.Balancer = true },
		`there is no failpoint "d.commit"`: func(s *scenario.Scenario) {
			s.Faults = at("d.commit")
		},
	} {
		s := sound.Clone()
		change(s)
		if err := Validate(both, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	sound.Ops[0].Kind, sound.Ops[0].Key, sound.Ops[0].To, sound.Ops[0].Batch = scenario.Scan, 0, 4,
		2
	sound.Ops[0].Value, sound.Ops[0].Expect = "", ""
	_, err := Parse(both, "file", sound.String())
	if err == nil || !strings.HasPrefix(err.Error(), "file:") {
		t.Errorf("the error names no line: %v", err)
	}
}

func at(site string) []scenario.Fault {
	return []scenario.Fault{{ID: 1, Kind: "pause", When: scenario.Trigger{Site: site, Nth: 1}}}
}

// TestObserversChangeNothing attaches one with all functions, and compares the trace hash with that
// of a run without.
func TestObserversChangeNothing(t *testing.T) {
	for _, s := range []*scenario.Scenario{kvtarget.Draw("kvstore", 7), smallSeed(t, 7)} {
		want, err := Run(s, Options{Targets: both})
		if err != nil {
			t.Fatal(err)
		}
		var events, points, messages, steps, looks int
		got, err := Run(s, Options{Targets: both, Observers: []Observer{{
			Event:   func(*trace.Event) { events++ },
			Point:   func(*sim.PointHit) { points++ },
			Message: func(sim.InjectionPoint) { messages++ },
			Step:    func(sim.Step) { steps++ },
			Look:    func(Moment) { looks++ },
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if got.Hash != want.Hash || events*points*messages*looks == 0 ||
			uint64(steps) != got.Steps {
			t.Errorf("%s and %s, after %d events, %d points, %d messages, %d steps of %d, %d looks",
				want.HashText(), got.HashText(), events, points, messages, steps, got.Steps, looks)
		}
	}
}

// TestRepairCanBeOff leaves what an operator of 4.2 would clean up to the survey, which then finds
// it.
func TestRepairCanBeOff(t *testing.T) {
	s := storedStory(t, "older-orphans-leaked")
	r, err := Run(s, Options{Targets: store})
	if err != nil || !r.Passed() || len(r.Repaired) == 0 {
		t.Fatalf("passed %t, %v, repaired %v", r.Passed(), err, r.Repaired)
	}
	s.Settings = append(s.Settings, scenario.Setting{Name: "run.repair", Value: "0"})
	r, err = Run(s, Options{Targets: store})
	if err != nil || r.Passed() || len(r.Repaired) > 0 {
		t.Errorf("without repair: passed %t, %v, repaired %v", r.Passed(), err, r.Repaired)
	}
}
