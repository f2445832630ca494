package aimed

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/histories/keyed"
	"github.com/shardproof/shardproof/histories/scenario"
)

// routerCrashShare is how many percent of the seeds with faults of several kinds lose routers.
const routerCrashShare = 12

// crashRouters has routers crash, at some time or as shards execute what they have asked for. What
// they leave behind is for servers to end: cursors, transactions, commits half sent.
func crashRouters(own keyed.Source, s *scenario.Scenario, span time.Duration) {
	if !own.Chance("routers", routerCrashShare) {
		return
	}
	for i := range 1 + own.IntN("how many", 3) {
		each := own.Fork(uint64(i))
		s.AddFaults(scenario.Fault{
			Kind:   "crash",
			Target: fmt.Sprintf("router.%d", each.IntN("router", s.Topology.Routers)),
			When:   scenario.Trigger{At: time.Duration(each.IntN("at", int(span)))},
			For:    time.Duration(20+each.IntN("down", 400)) * time.Millisecond,
		})
	}
}
