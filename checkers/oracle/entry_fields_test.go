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
