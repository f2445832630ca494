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

// TestReceivesOutside: only a member of the cluster begins to receive.
func TestReceivesOutside(t *testing.T) {
	changed := func(at int64, c trace.ClusterChange) happening {
		return happening{at, "config.0", trace.ClusterChangedEvent{
			Shard: "config", Term: 1, Index: uint64(at), Peer: "a", Change: c,
		}}
	}
	removed := changed(50, trace.ShardRemoved)
	added, again := changed(60, trace.ShardAdded), changed(70, trace.ShardRemoved)
	other := happening{60, "a.1", trace.ElectedEvent{Shard: "a", Term: 2}}
	begins := trace.RecipientReady
	for name, c := range map[string]struct {
		before []happening
		state  trace.RecipientState
		want   verdict.Signature
	}{
		"it is a shard":          {nil, begins, ""},
		"it drains":              {[]happening{changed(50, trace.ShardDraining)}, begins, ""},
		"it was removed":         {[]happening{removed}, begins, receivesOutside},
		"it goes on":             {[]happening{removed}, trace.RecipientCommitStart, ""},
		"it was added once more": {[]happening{removed, added}, begins, ""},
		"and was removed again":  {[]happening{removed, added, again}, begins, receivesOutside},
		"it is a past primary":   {[]happening{removed, other}, begins, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := told(c.before)
			e := trace.RecipientAdvancedEvent{
				Shard: "a", Peer: "b", NS: "test.docs", Migration: "m1", State: c.state,
			}.Event()
			e.Step, e.At, e.Node = 1000, 100*ms, "a.0"
			o.Observe(e)
			expectOf(t, o, membershipRule, c.want)
		})
	}
}
