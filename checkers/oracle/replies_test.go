package oracle

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// What the harness has seen from outside becomes a violation of the rule that it is about.
func TestSeenFromOutside(t *testing.T) {
	for name, c := range map[string]struct {
		report func(*Oracle)
		rule   verdict.Checker
		want   verdict.Signature
	}{
		"nothing is lacking": {
			func(o *Oracle) { o.Kept("a.0", "AdvanceTxn", "", "") }, lastingRule, "",
		},
		"something is": {
			func(o *Oracle) { o.Kept("a.0", "AdvanceTxn", "", "it is not there") },
			lastingRule, answeredEarly,
		},
		"a primary of the past answers": {
			func(o *Oracle) { o.AnsweredDeposed("a.0", "AdvanceTxn", "", 1, "") },
			lastingRule, answeredDeposed,
		},
		"a primary answers by what it was": {
			func(o *Oracle) { o.AnsweredUnproven("a.0", "AdvanceTxn", "", 1) },
			lastingRule, answeredUnproven,
		},
		"a new primary asks too early": {
			func(o *Oracle) { o.AskedEarly("a.0", "RecvChunkStart", "test.docs", 2) },
			lastingRule, askedEarly,
		},
		"a new primary serves too early": {
			func(o *Oracle) { o.ServedEarly("a.0", "Find", "test.docs", 2) },
			lastingRule, servedEarly,
		},
		"a step without its record": {
			func(o *Oracle) {
				o.AskedUnkept("config.0", "ShardsvrParticipate", "test.docs", "it wrote entry 3")
			},
			lastingRule, askedUnkept,
		},
		"a primary that has forgotten a config time": {
			func(o *Oracle) { o.KnowsLess("a.0", 3, 5) },
			lastingRule, knowsLess,
		},
		"a refusal by an old table": {
			func(o *Oracle) {
				o.RefusedUnasked(Refusal{Node: "router.0", Request: "Update", Since: 5}, 3)
			},
			causeRule, refusedIdly,
		},
		"another table": {
			func(o *Oracle) { o.ToldOther("config.0", "GetDatabase", "test", "it is older") },
			lastingRule, otherTable,
		},
		"a read that a secondary should answer": {
			func(o *Oracle) {
				o.NotPreferred("router.0", "a.0", "test.docs", "it is the primary")
			},
			preferenceRule, notPreferred,
		},
		"changes that nobody reads": {
			func(o *Oracle) {
				o.SkipsChanges("router.0", "shard-a", "test.docs", "it begins after 5")
			},
			streamReadsRule, skipsChanges,
		},
		"a placement from before a signal": {
			func(o *Oracle) { o.ReadOutdated("a.1", "test.docs", "entry 5 signals a change") },
			placementRule, readOutdated,
		},
		"an answer of another time": {
			func(o *Oracle) { o.AnsweredRead("a.0", "test.docs", []string{"it is of 0.7"}) },
			repliesRule, wrongReply,
		},
		"an entry that a crash may take": {
			func(o *Oracle) { o.AcknowledgedUnkept("a.1", "its disk does not keep entry 3") },
			keptRule, acknowledgedUnkept,
		},
		"committed on one disk": {
			func(o *Oracle) { o.AnnouncedUnkept("a.0", "entry 3 is on 1 of 3 disks") },
			keptRule, announcedUnkept,
		},
		"a write on one disk": {
			func(o *Oracle) {
				o.WrittenUnkept("a.0", "Update", "test.docs", "entry 3 is on 1 of 3 disks")
			},
			keptRule, writtenUnkept,
		},
		"a write in the log is refused": {
			func(o *Oracle) {
				o.RefusedWritten("a.0", "Update", "test.docs", "NotWritablePrimary", 7)
			},
			repliesRule, refusedWritten,
		},
		"a write is refused in doubt": {
			func(o *Oracle) {
				o.RefusedInDoubt("router.0", "Update", "test.docs", "NotWritablePrimary", "a.0",
					"PrimarySteppedDown")
			},
			repliesRule, refusedInDoubt,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := told(nil)
			c.report(o)
			expectOf(t, o, c.rule, c.want)
		})
	}
}
