package policy_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/system/balancer/policy"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/key"
)

// splitAll applies splits as the config server does.
func splitAll(t fataler, now *catalog.Table, splits []policy.Split) *catalog.Table {
	for _, s := range splits {
		pieces, err := catalog.Split(now, s.Chunk.Range, s.Points, catalog.Minor)
		if err == nil {
			now, err = now.With(pieces)
		}
		if err != nil {
			t.Fatalf("%v: %v", s, err)
		}
	}
	return now
}

func TestSessionSplits(t *testing.T) {
	whole := newTable(t, "config.system.sessions", nil, func(int) string { return "a" }, never)
	const chunks = 1024
	now := splitAll(t, whole, policy.SessionSplits(&policy.Collection{Table: whole}, chunks))
	if now.Len() != chunks {
		t.Errorf("%d chunks", now.Len())
	}
	if more := policy.SessionSplits(&policy.Collection{Table: now}, chunks); more != nil {
		t.Errorf("%d chunks are to be split again", len(more))
	}
}

// TestSessionSplitsOfAny: whatever the chunks are, splitting once is enough, and the bounds that
// were there stay.
func TestSessionSplitsOfAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "first")
		now := newTable(t, "config.system.sessions", nil, func(int) string { return "a" }, never)
		now = splitAll(t, now, policy.SessionSplits(&policy.Collection{Table: now}, n))
		var before []key.Key
		for c := range now.Chunks() {
			before = append(before, c.Min)
		}
		m := rapid.IntRange(1, 100).Draw(t, "then")
		now = splitAll(t, now, policy.SessionSplits(&policy.Collection{Table: now}, m))
		if now.Len() < m || now.Len() > m+n {
			t.Fatalf("%d chunks, at least %d wanted", now.Len(), m)
		}
		for _, k := range before {
			if now.Owner(k).Min != k {
				t.Fatalf("the bound %v is gone", k)
			}
		}
	})
}
