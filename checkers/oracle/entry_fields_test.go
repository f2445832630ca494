package oracle

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

func TestEntryFields(t *testing.T) {
	type change = trace.EntryChangedEvent
	for name, c := range map[string]struct {
		change
		signature verdict.Signature
	}{
		"migrations are forbidden": {
			change{NS: "test.docs", Why: "forbidMigrations", Fields: []string{"allowMigrations"}}, "",
		},
		"a rename": {
			change{NS: "test.plain", Why: "renameFrom test.docs", Fields: []string{
				"_id", "lastmodEpoch", "timestamp", "allowMigrations",
			}}, "",
		},
		"a rename loses a setting": {
			change{NS: "test.plain", Why: "renameFrom test.docs", Fields: []string{
				"_id", "lastmodEpoch", "timestamp", "noBalance",
			}}, otherField,
		},
		"a rename keeps the epoch": {
			change{NS: "test.plain", Why: "renameFrom test.docs", Fields: []string{
				"_id", "timestamp",
			}}, fieldKept,
		},
		"several settings at a time": {
			change{NS: "test.docs", Why: "balancingOff", Fields: []string{
				"noBalance", "maxChunkSizeBytes",
			}}, "",
		},
		"the end of defragmentation undoes a setting": {
			change{NS: "test.docs", Why: "defragmented", Fields: []string{
				"noBalance", "defragmentCollection",
			}}, otherField,
		},
		"a shard drains": {
			change{Peer: "a", Why: "shardDraining", Fields: []string{"draining"}}, "",
		},
		"a zone ends a removal": {
			change{Peer: "a", Why: "shardZones", Fields: []string{"draining", "tags"}}, otherField,
		},
		"a primary moves": {
			change{NS: "test", Why: "movePrimary 7", Fields: []string{"primary", "version"}}, "",
		},
		"a primary moves under the old version": {
			change{NS: "test", Why: "movePrimary 7", Fields: []string{"primary"}}, fieldKept,
		},
		"a purpose of another document": {
			change{NS: "test", Why: "shardDraining", Fields: []string{"primary"}}, otherField,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, four)
			c.Shard, c.Term, c.Index = "config", 1, 3
			e := c.Event()
			e.Step, e.Node = 9, "config.0"
			o.Observe(e)
			expectSignature(t, o, c.signature)
		})
	}
}

// What a primary of the past writes is rolled back.
func TestEntryOfDeposedPrimary(t *testing.T) {
	o := observe(t, four+"elected config.1 2 3\n")
	e := trace.EntryChangedEvent{
		Shard: "config", Peer: "a", Term: 1, Index: 4, Why: "shardZones",
		Fields: []string{"draining"},
	}.Event()
	e.Step, e.Node = 9, "config.0"
	o.Observe(e)
	expectSignature(t, o, "")
}

// What is in a zone has somewhere to go, at every moment that a majority knows.
func TestZonesKeepShards(t *testing.T) {
	zones := func(shard, of string) trace.ClusterChangedEvent {
		return trace.ClusterChangedEvent{Peer: shard, Change: trace.ShardZones, Zones: of}
	}
	east := trace.ClusterChangedEvent{
		NS: "test.docs", Change: trace.ZoneRange, Min: "m", Max: "z", Zones: "east",
	}
	drains := trace.ClusterChangedEvent{Peer: "a", Change: trace.ShardDraining, Zones: "east"}
	gone := trace.ClusterChangedEvent{Peer: "a", Change: trace.ShardRemoved}
	for name, c := range map[string]struct {
		changes []trace.ClusterChangedEvent
		want    verdict.Signature
	}{
		"a zone with a shard":      {[]trace.ClusterChangedEvent{zones("a", "east"), east}, ""},
		"a range of an empty zone": {[]trace.ClusterChangedEvent{east}, homelessZone},
		"its only shard drains": {
			[]trace.ClusterChangedEvent{zones("a", "east"), east, drains}, homelessZone,
		},
		"one of two drains": {
			[]trace.ClusterChangedEvent{zones("a", "east"), zones("b", "east"), east, drains}, "",
		},
		"one of two is gone": {
			[]trace.ClusterChangedEvent{zones("a", "east"), zones("b", "east"), east, gone}, "",
		},
		"its shard leaves the zone": {
			[]trace.ClusterChangedEvent{zones("a", "east"), east, zones("a", "")}, homelessZone,
		},
		"a zone without ranges": {[]trace.ClusterChangedEvent{zones("a", "east"), drains}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var all []happening
			for i, e := range c.changes {
				e.Shard, e.Term, e.Index = "config", 1, uint64(2+i)
				all = append(all, happening{50, "config.0", e}, happening{50, "config.0",
					trace.MajorityEvent{Shard: "config", Term: 1, Index: e.Index}})
			}
			expectOf(t, told(all), entriesRule, c.want)
		})
	}
}
