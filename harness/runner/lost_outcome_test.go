package runner

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/histories/trace"
)

// TestLostOutcome has a donor crash when its commit was carried out, and it does not know.
func TestLostOutcome(t *testing.T) {
	for _, version := range []string{"4.2", "8.0"} {
		s, err := Parse(store, "lost-outcome", `shardproof scenario 2
protocol `+version+`
topology shards=2 members=3 config=1 routers=1 clients=1
faults-end 3s
limit 1m30s
collection test.docs ranged keys=4 preload=4
preset quick
move 1 at 500ms test.docs [MinKey, MaxKey) to shard-b
fault 1 at donor.scanRecordIds #1 lost-outcome donor.primary>* messages=CommitChunkMigration ending=crash after=30ms for 2s
`)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(s, Options{Targets: store, Events: true})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Passed() {
			t.Errorf("%s: %s: %v", version, r.Signature(), r.Worst().Violations)
		}
		var committed, crashed int64
		for i := range r.Events {
			switch e := &r.Events[i]; {
			case e.Kind == trace.CatalogWritten && e.Migration() != "" && committed == 0:
				committed = e.At
			case e.Kind == trace.NodeDown && crashed == 0:
				crashed = e.At
			}
		}
		after := time.Duration(crashed - committed)
		if committed == 0 || after <= 0 || after > 30*time.Millisecond {
			t.Errorf("%s: the donor crashed %s after its commit was written", version, after)
		}
	}
}
