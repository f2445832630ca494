package live_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/attack"
	"github.com/shardproof/shardproof/harness/live"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/opkind"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/wellformed"
)

// register is a system of one process that knows of each key whether it is there: it answers reads,
// and cannot tell what became of anything else. Unread is a key that it cannot read.
type register struct {
	unread int64
	mu     sync.Mutex
	moved  int
}

func (*register) Create(context.Context, scenario.Collection) error { return nil }
func (r *register) NewClient(int) live.Client                       { return r }
func (*register) Command(context.Context, scenario.Command) error   { return errors.New("no") }
func (*register) StepDown(context.Context, string) error            { return nil }
func (*register) Close() error                                      { return nil }

func (r *register) Move(context.Context, scenario.Migration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moved++
	return nil
}

func (r *register) Do(_ context.Context, op *scenario.Op, tick func() uint64) target.Answer {
	switch {
	case op.Kind == opkind.Scan:
		tick()
		return target.Answer{Outcome: histories.Failed}
	case op.Kind != opkind.Read:
		return target.Answer{Outcome: histories.Unknown, Err: errors.New("lost")}
	case op.Key == r.unread:
		return target.Answer{Outcome: histories.Failed, Err: errors.New("nobody leads")}
	}
	return target.Answer{Outcome: histories.OK, Result: histories.Result{Found: true,
		Value: histories.PreloadValue(op.Key), N: 1}}
}

// servers can be killed, and count how often they were.
type servers struct {
	mu              sync.Mutex
	killed, started int
	sick            error
}

func (*servers) Faults() []string { return []string{"kill"} }

func (s *servers) Inject(context.Context, *live.Fault) (func(context.Context) error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killed++
	return func(context.Context) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.started++
		return nil
	}, nil
}

func (*servers) Resolve(_ context.Context, role string) (string, error) { return role, nil }
func (s *servers) Settle(context.Context) error                         { return s.sick }
func (*servers) Ended() []attack.Ended                                  { return nil }

func schedule() *scenario.Scenario {
	s := attack.Draw(attack.Params{
		Seed: 1, Target: attack.TargetName, For: 400 * time.Millisecond, Keys: 10, Rate: 300,
		Topology: scenario.Topology{Shards: 2, Members: 1, ConfigMembers: 1,
			Routers: 1, Clients: 3},
		Moves: 50 * time.Millisecond, Faults: []string{"kill"}, Between: 100 * time.Millisecond,
	})
	s.Limit = 300 * time.Millisecond
	s.Collections[0].Preload = 10 // what this system answers of every key
	return s
}

func run(t *testing.T, system *register, s *servers) *live.Result {
	t.Helper()
	result, err := live.Run(context.Background(),
		live.Options{Schedule: schedule(), System: system, Servers: s})
	if err != nil {
		t.Fatal(err)
	}
	if err := wellformed.Check(result.History); err != nil {
		t.Error(err)
	}
	return result
}

// A run has movements and faults, undoes every fault, and records every operation.
func TestRun(t *testing.T) {
	system, s := &register{unread: -1}, &servers{}
	result := run(t, system, s)
	if s.killed == 0 || s.killed != s.started {
		t.Errorf("%d kills, %d starts", s.killed, s.started)
	}
	if system.moved == 0 || result.Counts["moves done"] != system.moved {
		t.Errorf("%d movements, and %v are counted", system.moved, result.Counts)
	}
	worst := checkers.Worst(attack.Judge(result.Record))
	if worst.Outcome != checkers.Pass {
		t.Errorf("%s: %v %v", worst.Checker, worst.Undecided, worst.Violations)
	}
}

// A run of which a key cannot be read at the end is undecided, as is one that does not settle.
func TestFinalReadsThatFail(t *testing.T) {
	for name, result := range map[string]*live.Result{
		"a key cannot be read": run(t, &register{unread: 7}, &servers{}),
		"nobody leads": run(t, &register{unread: -1},
			&servers{sick: errors.New("no primary of shard-a")}),
	} {
		worst := checkers.Worst(attack.Judge(result.Record))
		if worst.Checker != attack.Final.Name || worst.Outcome != checkers.Undecided {
			t.Errorf("%s: %s is %s", name, worst.Checker, worst.Outcome)
		}
	}
}

// A run that is interrupted ends soon, with everything that was recorded.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	result, err := live.Run(ctx, live.Options{Schedule: schedule(), System: &register{}})
	if err != nil || !result.Interrupted || len(result.History) < 10 {
		t.Errorf("%+v, %v", result, err)
	}
}
