package oracle

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/facts"
	"github.com/shardproof/shardproof/checkers/migrationmodel"
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

// Nothing is given to a shard whose removal has begun, or that is none, but what had been given to
// it already; and one shard stays.
func TestGivenToClosed(t *testing.T) {
	const (
		drains  = "shard config.0 1 2 b draining\n"
		gone    = "shard config.0 1 2 b removed\n"
		moves   = "table 1 3 move_m1 -..g=b@2|0<a g..m=a@2|1\nmajority config.0 1 3"
		cuts    = "table 1 3 split m..t=b@2|0 t..+=b@2|1\nmajority config.0 1 3"
		founds  = "database 1 3 create -..+=b@1|0\nmajority config.0 1 3"
		follows = "database 1 3 movePrimary_p1 -..+=b@2|0\nmajority config.0 1 3"
		first   = "database 1 1 create -..+=a@1|0\nmajority config.0 1 1\n"
	)
	for name, c := range map[string]struct {
		script string
		older  bool
		want   verdict.Signature
	}{
		"to one that stays":              {moves, false, ""},
		"to one that drains":             {drains + moves, false, givenToClosed},
		"to one that drains, in 4.2":     {drains + moves, true, ""},
		"to one that is gone, in 4.2":    {gone + moves, true, givenToClosed},
		"a chunk is cut there":           {drains + cuts, false, ""},
		"a new database":                 {founds, false, ""},
		"a new database on one":          {drains + founds, true, givenToClosed},
		"a database":                     {first + drains + follows, false, givenToClosed},
		"it stays where it is":           {first + "shard config.0 1 2 a draining\n" + follows, false, ""},
		"the last but one drains":        {drains + "shard config.0 1 3 c draining\nmajority config.0 1 3", false, ""},
		"the last one that stays drains": {drains + "shard config.0 1 3 c draining\nshard config.0 1 4 a draining\nmajority config.0 1 4", false, lastDrains},
	} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, three)
			if c.older {
				o.Speaks(migrationmodel.V42)
			}
			s := script{o: o}
			s.step = o.step
			s.lines(t, c.script)
			expectOf(t, o, entriesRule, c.want)
		})
	}
}

// requested has a command ask for a change of zones before it happens, as it always should be.
func requested(o *Oracle, e *trace.Event) {
	if e.Kind == trace.ClusterChanged && e.ClusterChange() == trace.ZoneRange {
		o.Asked(facts.RangeOfZone(e.NS, e.Min, e.Max, e.Zones()))
	}
}
