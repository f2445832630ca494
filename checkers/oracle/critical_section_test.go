package oracle

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestReleasedAsOwner: a donor that knows of its commit does not go back to what it owned before.
func TestReleasedAsOwner(t *testing.T) {
	released := trace.CriticalSectionEvent{
		Shard: "a", NS: "test.docs", Actor: trace.Donor, Migration: "m1",
		State: trace.SectionReleased,
	}
	cleared := happening{90, "a.0", trace.MetadataClearedEvent{Shard: "a", NS: "test.docs"}}
	installed := happening{90, "a.0", trace.MetadataInstalledEvent{
		Shard: "a", NS: "test.docs", Chunks: placed("a", "d", "m"),
	}}
	for name, c := range map[string]struct {
		before []happening
		node   string // that is told of the commit, if any is
		want   verdict.Signature
	}{
		"it goes on as before":     {nil, "a.0", leftAsOwner},
		"it has cleared that":      {[]happening{cleared}, "a.0", ""},
		"it has the next metadata": {[]happening{installed}, "a.0", ""},
		"it does not know":         {nil, "", ""},
		"another node knows":       {nil, "a.1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := New(nil)
			tell(o, []happening{donor(50, trace.DonorCreated)})
			if c.node != "" {
				o.CommitReturned(c.node, "m1", true)
			} else {
				o.CommitReturned("a.0", "m1", false)
			}
			for i, h := range c.before {
				e := h.e.Event()
				e.Step, e.At, e.Node = uint64(500+i), h.at*ms, h.node
				o.Observe(e)
			}
			e := released.Event()
			e.Step, e.At, e.Node = 1000, 100*ms, "a.0"
			o.Observe(e)
			expectOf(t, o, sectionRule, c.want)
		})
	}
}
