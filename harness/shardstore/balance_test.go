package shardstore

import (
	"strings"
	"testing"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/corpus"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestBalanceOfEight has the balancer level eight shards, of which one has a hundred times the data
// of the others, while servers fail: at its best with half as many migrations at once as there are
// shards, and at the end within its threshold.
func TestBalanceOfEight(t *testing.T) {
	const chunkBytes, threshold = 840, 3
	s := storedScenario(t, "balance-of-eight")
	r, err := runner.Run(s, runner.Options{Targets: target.Set{Store{}}, Events: true, Curve: true})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Passed() {
		t.Fatal(r.Signature(), r.Worst().Violations)
	}
	if most := atOnce(r.Events); most != s.Topology.Shards/2 {
		t.Errorf("at most %d migrations at once, not %d", most, s.Topology.Shards/2)
	}
	first, last := spread(r.Curve[0]), spread(lastOf(r.Curve, "test.docs"))
	if first < 10*threshold*chunkBytes || last >= threshold*chunkBytes {
		t.Errorf(
			"shards differed by %d bytes in the beginning and by %d at the end, of which the "+
				"balancer leaves less than %d", first, last, threshold*chunkBytes,
		)
	}
	if text := runner.CurveText(r.Curve); !strings.HasPrefix(text, runner.CurveHeader+"0.") {
		t.Errorf("the curve is written as %.200s", text)
	}
}

func storedScenario(t *testing.T, name string) *scenario.Scenario {
	t.Helper()
	for _, story := range corpus.Stories() {
		if story.Name == name {
			s, err := runner.Parse(target.Set{Store{}}, name, story.Text)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	t.Fatalf("there is no story %s", name)
	return nil
}

// atOnce is the most requests of the balancer that had not ended at one time.
func atOnce(events []trace.Event) (most int) {
	var b balancing
	for i := range events {
		b.follow(&events[i])
		most = max(most, len(b.underWay))
	}
	return most
}

func lastOf(samples []target.Sample, ns string) target.Sample {
	for i := len(samples) - 1; ; i-- {
		if samples[i].NS == ns {
			return samples[i]
		}
	}
}

// spread is by how many bytes the shards differ at most.
func spread(s target.Sample) int64 {
	least, most := s.Holdings[0].Bytes, s.Holdings[0].Bytes
	for _, h := range s.Holdings {
		least, most = min(least, h.Bytes), max(most, h.Bytes)
	}
	return most - least
}
