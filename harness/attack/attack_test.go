package attack_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

func params(t *rapid.T) attack.Params {
	return attack.Params{
		Seed: rapid.Uint64().Draw(t, "seed"), Target: attack.TargetName, Protocol: "8.0",
		Topology: scenario.Topology{
			Shards: rapid.IntRange(2, 4).Draw(t, "shards"), Members: 3, ConfigMembers: 3,
			Routers: rapid.IntRange(1, 2).Draw(t, "routers"), Clients: 4,
		},
		For:  time.Duration(rapid.IntRange(1, 60).Draw(t, "for")) * time.Second,
		Keys: rapid.IntRange(10, 80).Draw(t, "keys"), Rate: 100,
		Moves: 500 * time.Millisecond, Faults: attack.KindNames(), Between: time.Second, Own: true,
	}
}

// Equal parameters give equal schedules, which are valid, survive printing and parsing, and end in
// time.
func TestDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := params(t)
		s := attack.Draw(p)
		if err := attack.Check(s); err != nil {
			t.Fatal(err)
		}
		again, err := scenario.Parse("drawn", s.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(attack.Draw(p), again); diff != "" {
			t.Fatal(diff)
		}
		for _, f := range s.Faults {
			if f.When.At >= p.For {
				t.Errorf("fault %d begins at %s, after the end", f.ID, f.When.At)
			}
		}
	})
}

// Every kind of fault is drawn by some seed, and by none when it is not asked for.
func TestDrawsEveryKind(t *testing.T) {
	drawn := make(map[string]bool)
	for seed := range uint64(20) {
		s := attack.Draw(attack.Params{
			Seed: seed, For: time.Minute, Keys: 20, Faults: attack.KindNames(),
			Between:  time.Second,
			Topology: scenario.Topology{Shards: 2, Members: 3, ConfigMembers: 3, Routers: 2},
		})
		for _, f := range s.Faults {
			drawn[f.Kind] = true
		}
	}
	for _, name := range attack.KindNames() {
		if !drawn[name] {
			t.Errorf("no seed draws %s", name)
		}
	}
	for _, c := range attack.Controls {
		s := attack.Draw(c.Of(attack.Params{
			Seed: 1, For: time.Minute, Keys: 20, Faults: attack.KindNames(), Between: time.Second,
			Moves: time.Second, Topology: scenario.Topology{Shards: 2, Members: 3,
				ConfigMembers: 3, Routers: 2},
		}))
		if (len(s.Faults) > 0) != c.Faults || (len(s.Migrations) > 0) != c.Moves {
			t.Errorf("control %s has %d faults and %d movements", c.Name, len(s.Faults),
				len(s.Migrations))
		}
	}
}

// What the clients do is drawn again the same, and numbered on.
func TestOperations(t *testing.T) {
	s := attack.Draw(attack.Params{Seed: 5, For: time.Second, Keys: 30,
		Topology: scenario.Topology{Shards: 2, Clients: 3}})
	first := attack.Operations(s, 1, 100)
	if diff := cmp.Diff(first, attack.Operations(s, 1, 100)); diff != "" {
		t.Error(diff)
	}
	if next := attack.Operations(s, 101, 1); next[0].ID != 101 {
		t.Errorf("the next operation is %d", next[0].ID)
	}
}

// A statement is failed only if no attempt can have been executed or can be yet.
func TestCertainty(t *testing.T) {
	const changed, unchanged = true, false
	for _, one := range []struct {
		answers []attack.Answer
		changed bool
		want    histories.Outcome
	}{
		{[]attack.Answer{attack.Done}, changed, histories.OK},
		{[]attack.Answer{attack.Done}, unchanged, histories.OK},
		{[]attack.Answer{attack.Lost}, unchanged, histories.Unknown},
		{[]attack.Answer{attack.Open}, unchanged, histories.Unknown},
		{[]attack.Answer{attack.Refused}, unchanged, histories.Failed},
		{[]attack.Answer{attack.Unsent}, unchanged, histories.Failed},
		{[]attack.Answer{attack.Unsent, attack.Unsent}, unchanged, histories.Failed},
		{[]attack.Answer{attack.Present}, unchanged, histories.OK},
		// An earlier attempt decides with the last one.
		{[]attack.Answer{attack.Lost, attack.Done}, changed, histories.OK},
		{[]attack.Answer{attack.Lost, attack.Done}, unchanged, histories.Unknown},
		{[]attack.Answer{attack.Open, attack.Done}, unchanged, histories.OK},
		{[]attack.Answer{attack.Lost, attack.Refused}, unchanged, histories.Unknown},
		{[]attack.Answer{attack.Open, attack.Unsent}, unchanged, histories.Unknown},
		{[]attack.Answer{attack.Lost, attack.Present}, unchanged, histories.Unknown},
		{[]attack.Answer{attack.Unsent, attack.Present}, unchanged, histories.OK},
		{nil, unchanged, histories.Unknown},
	} {
		var s attack.Statement
		for _, a := range one.answers {
			s.Note(a)
		}
		if got := s.Outcome(one.changed); got != one.want {
			t.Errorf("after %v, changed %t: %s, want %s", one.answers, one.changed, got, one.want)
		}
	}
}

// finals is a history of one write, and reads of keys by the final client.
func finals(keys ...int64) []histories.Op {
	ops := histories.Preload(&scenario.Scenario{Collections: []scenario.Collection{
		{NS: attack.NS, Keys: 3, Preload: 3},
	}}, nil)
	for i, k := range keys {
		ops = append(ops, histories.Op{
			ID: 100 + i, Client: 4, NS: attack.NS, Kind: scenario.Read, Key: k,
			Call: uint64(10 + 2*i), Return: uint64(11 + 2*i), Outcome: histories.OK,
			Result: histories.Result{Found: true, Value: histories.PreloadValue(k), N: 1},
		})
	}
	return ops
}

func outcomes(r attack.Record) map[string]checkers.Outcome {
	all := make(map[string]checkers.Outcome)
	for _, v := range attack.Judge(r) {
		all[v.Checker] = v.Outcome
	}
	return all
}

// A key that could not be read at the end leaves the run undecided: it is neither lost nor well.
func TestFailedFinalReadsAreUndecided(t *testing.T) {
	whole := attack.Record{History: finals(0, 1, 2), Keys: 3, Final: 4}
	if got := checkers.Worst(attack.Judge(whole)).Outcome; got != checkers.Pass {
		t.Errorf("a run with all its final reads is %s", got)
	}
	failed := attack.Record{History: finals(0, 1, 2), Keys: 3, Final: 4}
	failed.History[len(failed.History)-1].Outcome = histories.Failed
	failed.History[len(failed.History)-1].Result = histories.Result{}
	unsettled := whole
	unsettled.Unsettled = "no primary of shard-a"
	for _, r := range []attack.Record{failed, unsettled, {History: finals(0), Keys: 3, Final: 4}} {
		verdicts := attack.Judge(r)
		worst := checkers.Worst(verdicts)
		if worst.Checker != attack.Final.Name || worst.Outcome != checkers.Undecided {
			t.Errorf("%s is %s, want final-reads to be undecided", worst.Checker, worst.Outcome)
		}
	}
}

// A broken promise outweighs final reads that failed, and a process that ended by itself is one.
func TestViolations(t *testing.T) {
	stale := finals(0, 1, 2)
	stale[len(stale)-1].Result.Value = histories.PreloadValue(1)
	if got := outcomes(attack.Record{History: stale, Keys: 9, Final: 4}); got["unique-writes"] !=
		checkers.Fail || got[attack.Final.Name] != checkers.Undecided {
		t.Errorf("%v", got)
	}
	ended := attack.Record{History: finals(0, 1, 2), Keys: 3, Final: 4,
		Ended: []attack.Ended{{Node: "shard-a.0", Why: "an assertion"}}}
	if got := attack.Signatures(attack.Judge(ended)); !slices.Equal(got,
		[]string{"process-ended"}) {
		t.Errorf("the signatures are %v", got)
	}
}

// A failure is held against movements that meet faults only when all controls are clean.
func TestAttribute(t *testing.T) {
	clean := map[string]checkers.Outcome{"quiet": checkers.Pass, "faults": checkers.Pass,
		"moves": checkers.Pass}
	for want, of := range map[string]map[string]checkers.Outcome{
		"all controls are clean: it takes movements and faults together": clean,
		`the control "faults" (faults, nothing moves) fails already`: {"quiet": checkers.Pass,
			"faults": checkers.Fail, "moves": checkers.Fail},
		`the control "moves" (movements, no faults) is undecided`: {"quiet": checkers.Pass,
			"faults": checkers.Pass, "moves": checkers.Undecided},
		"not all controls were run: it is open whether it takes movements and faults": {
			"quiet": checkers.Pass,
		},
	} {
		if got := attack.Attribute(of, checkers.Fail); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := attack.Attribute(clean, checkers.Pass); got != "" {
		t.Errorf("a run that passed is explained: %q", got)
	}
}

// A schedule by hand is carried out by its times.
func TestInOrder(t *testing.T) {
	s := attack.InOrder(&scenario.Scenario{Faults: []scenario.Fault{
		{ID: 1, When: scenario.Trigger{At: 2}}, {ID: 2, When: scenario.Trigger{At: 1}},
	}, Migrations: []scenario.Migration{{ID: 1, At: 2}, {ID: 2, At: 1}},
		Commands: []scenario.Command{{At: 2}, {At: 1}}})
	if s.Faults[0].ID != 2 || s.Migrations[0].ID != 2 || s.Commands[0].At != 1 {
		t.Errorf("%+v", s)
	}
}

// What a schedule cannot have is refused with what to write.
func TestRefused(t *testing.T) {
	good := attack.Draw(attack.Params{Seed: 1, For: time.Second, Keys: 10,
		Topology: scenario.Topology{Shards: 2}})
	for _, spoil := range []func(s *scenario.Scenario){
		func(s *scenario.Scenario) { s.Ops = []scenario.Op{{}} },
		func(s *scenario.Scenario) { s.FaultsEnd = 0 },
		func(s *scenario.Scenario) { s.Collections = nil },
		func(s *scenario.Scenario) { s.Commands = []scenario.Command{{Do: "add-shard"}} },
		func(s *scenario.Scenario) { s.Faults = []scenario.Fault{{Kind: "kil"}} },
		func(s *scenario.Scenario) { s.Faults = []scenario.Fault{{Kind: "kill", Target: "x"}} },
		func(s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{Kind: "cut-link", Target: "a.0"}}
		},
		func(s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{Kind: "kill", Target: "a.0",
				Args: []scenario.Setting{{Name: "how", Value: "cut"}}}}
		},
		func(s *scenario.Scenario) {
			s.Faults = []scenario.Fault{{Kind: "clock", Target: "a.0",
				Args: []scenario.Setting{{Name: "offset", Value: "soon"}}}}
		},
	} {
		s := *good
		spoil(&s)
		if attack.Check(&s) == nil {
			t.Errorf("accepted: %s", s.String())
		}
	}
}
