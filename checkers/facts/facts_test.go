package facts

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// tables are the routing tables of a world without anything else.
type tables map[string]model.Table

func (t tables) Cluster() *model.Cluster     { return nil }
func (t tables) Table(ns string) model.Table { return t[ns] }
func (t tables) Sharded(ns string) bool      { return ns == "test.docs" && t[ns] != nil }
func (t tables) Unbalanced(ns string) bool   { return false }

func chunk(lo, hi, shard string) trace.Chunk { return trace.Chunk{Min: lo, Max: hi, Shard: shard} }

// A range has moved when each part of it has been on the shard once, not all at the same time.
func TestMoved(t *testing.T) {
	const ns = "test.docs"
	of := func(all ...trace.Chunk) tables { return tables{ns: all} }
	for name, c := range map[string]struct {
		seen    []tables
		missing []verdict.KeyRange
	}{
		"all of it":     {[]tables{of(chunk("a", "z", "b"))}, nil},
		"in two chunks": {[]tables{of(chunk("a", "k", "b"), chunk("k", "z", "b"))}, nil},
		"only the lower end": {[]tables{of(chunk("a", "h", "b"), chunk("h", "z", "a"))},
			[]verdict.KeyRange{{Min: "h", Max: "m"}}},
		"only the middle": {[]tables{of(chunk("a", "f", "a"), chunk("f", "g", "b"), chunk("g", "z", "a"))},
			[]verdict.KeyRange{{Min: "d", Max: "f"}, {Min: "g", Max: "m"}}},
		"one part after the other": {[]tables{of(chunk("a", "h", "b"), chunk("h", "z", "a")),
			of(chunk("a", "h", "a"), chunk("h", "z", "b"))}, nil},
		"nothing": {[]tables{of(chunk("a", "z", "a"))}, []verdict.KeyRange{{Min: "d", Max: "m"}}},
		"a collection that is gone": {[]tables{{"test": {chunk("", "\xff", "b")}}},
			[]verdict.KeyRange{{Min: "d", Max: "m"}}},
	} {
		t.Run(name, func(t *testing.T) {
			f, held := Moved(ns, "d", "m", "b"), false
			for _, w := range c.seen {
				held = f.Holds(w)
			}
			if !slices.Equal(f.About(), c.missing) {
				t.Errorf("it lacks %q, not %q", f.About(), c.missing)
			}
			gone := c.seen[0][ns] == nil
			if held != (len(c.missing) == 0 || gone) {
				t.Errorf("it holds: %t", held)
			}
		})
	}
}

// Of a cluster that nobody knows, nothing holds.
func TestUnknownCluster(t *testing.T) {
	for _, f := range []*Fact{
		ShardExists("a", false), ShardOfZone("a", "east", false), LimitedShard("a", 0),
		BalancerIs(trace.BalancerFull),
	} {
		if f.Holds(tables{}) {
			t.Errorf("it holds: %s", f.What)
		}
	}
}
