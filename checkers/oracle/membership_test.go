package oracle

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestMembership: only a shard that drains, or that has been removed, agrees to leave.
func TestMembership(t *testing.T) {
	changed := func(c trace.ClusterChange) happening {
		return happening{50, "config.0", trace.ClusterChangedEvent{
			Shard: "config", Term: 1, Index: 2, Peer: "a", Change: c,
		}}
	}
	other := happening{50, "a.1", trace.ElectedEvent{Shard: "a", Term: 2}}
	for name, c := range map[string]struct {
		before []happening
		code   string
		stays  bool
		want   verdict.Signature
	}{
		"it is a shard":             {nil, "", false, leavesUnasked},
		"it drains":                 {[]happening{changed(trace.ShardDraining)}, "", false, ""},
		"it was removed":            {[]happening{changed(trace.ShardRemoved)}, "", false, ""},
		"it refuses":                {nil, "ShardNotFound", false, ""},
		"it has joined again":       {nil, "", true, ""},
		"it is not the primary":     {[]happening{other}, "", false, ""},
		"another change of it":      {[]happening{changed(trace.ShardZones)}, "", false, leavesUnasked},
		"it was added once more":    {[]happening{changed(trace.ShardAdded)}, "", false, leavesUnasked},
		"it refuses and has joined": {nil, "ShardNotFound", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := told(c.before)
			o.Leavers(func(string) bool { return !c.stays })
			e := trace.AnsweredEvent{
				Peer: "config.0", Request: "ShardsvrLeaveCluster", Code: c.code, Arrived: 90 * ms,
			}.Event()
			e.Step, e.At, e.Node = 1000, 100*ms, "a.0"
			o.Observe(e)
			expectOf(t, o, membershipRule, c.want)
		})
	}
}
