package shrink

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestStruckKeepsWhatWasUnderWay has three operations, during one of which chance lost the fifth
// message of a kind.
func TestStruckKeepsWhatWasUnderWay(t *testing.T) {
	s, err := runner.Parse(store, "three", strings.Join([]string{
		"shardproof scenario 2", "name three", "seed 1", "planned",
		"topology shards=2 members=1 config=1 routers=1 clients=1",
		"faults-end 1s", "limit 1m0s", "collection test.docs ranged keys=10 preload=10",
		"op 1 at 0s client 0 read test.docs k=1",
		"op 2 at 0s client 0 scan test.docs [0, 9) batch=1",
		"op 3 at 0s client 0 read test.docs k=2",
		"fault 1 at config.commit.reply #1 crash donor.primary",
		"decide net.loss shard-a.0>router.0/Find.reply #5 = 1", "",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	const ms = 1_000_000
	all := duringFaults(&runner.Result{
		Scenario:  s,
		Decisions: s.Decisions,
		Virtual:   time.Minute,
		History: []histories.Op{
			{ID: 1, CallAt: 7 * ms, ReturnAt: 8 * ms},
			{ID: 2, CallAt: 9 * ms, ReturnAt: 20 * ms},
			{ID: 3, CallAt: 21 * ms, ReturnAt: 22 * ms},
		},
		Events: []trace.Event{
			{Kind: trace.PointHit, At: 7 * ms},
			{Kind: trace.Chance, At: 12 * ms},
			{Kind: trace.PointHit, At: 21 * ms},
		},
	})
	var got []string
	for _, c := range all {
		text := fmt.Sprintf("%d faults;", len(c.Faults))
		for _, o := range c.Ops {
			text += fmt.Sprintf(" %d at %s;", o.ID, o.At)
		}
		for _, d := range c.Decisions {
			text += fmt.Sprintf(" #%d", d.Occurrence)
		}
		got = append(got, text)
	}
	want := "0 faults; 2 at 2ms; #1\n0 faults; 2 at 2ms; #2\n0 faults; 2 at 2ms; #3\n1 faults; 2 " +
		"at 2ms; #5"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("scenarios\n%s\nwanted\n%s", text, want)
	}
}
