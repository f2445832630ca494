package campaign

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/histories/scenario"
)

// small draws scenarios of a few milliseconds. Those of seeds in hasty get no time to come to rest,
// which breaks a promise.
func small(hasty ...uint64) func(uint64) *scenario.Scenario {
	p, err := generate.FindProfile("sweep")
	if err != nil {
		panic(err)
	}
	return func(seed uint64) *scenario.Scenario {
		s := generate.Draw(seed, p)
		for _, h := range hasty {
			if h == seed {
				s.FaultsEnd, s.Limit = 10*time.Millisecond, time.Millisecond
			}
		}
		return s
	}
}

func TestSeedsAddUp(t *testing.T) {
	s := Run(context.Background(),
		Options{Targets: store, Draw: small(), First: 1, Seeds: 6, Again: 100})
	if len(s.Failures) > 0 {
		t.Fatalf("seed %d failed: %v", s.Failures[0].Seed, s.Failures[0].Err)
	}
	if s.Runs != 6 || s.Repeated != 6 || s.Interrupted {
		t.Errorf("%d runs, %d repeated, interrupted %t; want 6, 6, false",
			s.Runs, s.Repeated, s.Interrupted)
	}
	one := Run(context.Background(),
		Options{Targets: store, Draw: small(), First: 1, Seeds: 6, Workers: 1})
	if diff := cmp.Diff(one.Counters, s.Counters); diff != "" {
		t.Errorf("the sums depend on the number of workers (-1 +%s):\n%s", "2", diff)
	}
}

func TestFailuresAreCollectedInOrder(t *testing.T) {
	s := Run(context.Background(),
		Options{Targets: store, Draw: small(2, 4, 6), First: 1, Seeds: 6, KeepGoing: true})
	var seeds []uint64
	for _, f := range s.Failures {
		seeds = append(seeds, f.Seed)
	}
	if diff := cmp.Diff([]uint64{2, 4, 6}, seeds); diff != "" || s.Runs != 6 {
		t.Errorf("%d runs; failed seeds (-want +got):\n%s", s.Runs, diff)
	}
	if s := Run(context.Background(), Options{
		Targets: store,
		Draw:    small(2, 4, 6),
		First:   2,
		Seeds:   100,
		Workers: 1,
	}); s.Runs != 1 {
		t.Errorf("%d runs until the first failure, want 1", s.Runs)
	}
}

func TestInterruptionKeepsWhatIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	done := 0
	s := Run(ctx, Options{Targets: store,
		Draw:    small(),
		First:   1,
		Seeds:   1000,
		Workers: 1,
		Progress: func(*Summary) {
			if done++; done == 3 {
				cancel()
			}
		}})
	if s.Runs != 3 || !s.Interrupted {
		t.Errorf("%d runs, interrupted %t; want 3, true", s.Runs, s.Interrupted)
	}
}

func TestScenarioThatCannotRunIsTheHarnesssFailure(t *testing.T) {
	draw := func(seed uint64) *scenario.Scenario {
		s := small()(seed)
		s.Topology.Shards = 0
		return s
	}
	s := Run(context.Background(), Options{Targets: store, Draw: draw, First: 5, Seeds: 1})
	if len(s.Failures) != 1 || s.Failures[0].Err == nil {
		t.Errorf("failures %+v, want one with an error", s.Failures)
	}
}
