package aimed_test

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
)

// TestLateCommits: some donors are deposed whose commit is held until something goes on that rests
// on its failure: in 4.2 the range is received once more.
func TestLateCommits(t *testing.T) {
	late := map[string]int{}
	for seed := range uint64(400) {
		s := generate.Mixed(seed)
		i := slices.IndexFunc(s.Faults, func(f scenario.Fault) bool {
			return f.Kind == "hold" && f.When.Site == failpoint.DonorSendConfig.String() &&
				slices.Contains(f.Args, scenario.Setting{
					Name: "messages", Value: "CommitChunkMigration",
				}) && f.Until != nil && f.Target == "donor.*>config.*" && f.Until.Nth == 1
		})
		if i < 0 || i+1 == len(s.Faults) || s.Faults[i+1].Kind != "stepdown" {
			continue
		}
		late[s.Protocol]++
		meets := s.Faults[i].Until.Site == failpoint.RecipientNotePending.String()
		if meets != (s.Protocol == "4.2") {
			t.Errorf("seed %d, protocol %q: the commit comes at %v", seed, s.Protocol,
				s.Faults[i].Until)
		}
	}
	if late["4.2"] < 5 || late[""] < 5 {
		t.Errorf("so many seeds of each protocol have late commits: %v", late)
	}
}
