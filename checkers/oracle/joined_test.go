package oracle

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// TestJoined: what a member was doing for a migration when it was asked is over when it answers.
func TestJoined(t *testing.T) {
	requested := happening{50, "a.0", trace.MigrationRequestedEvent{
		Shard: "a", Peer: "b", NS: "test.docs", Min: "", Max: "m", Migration: "m1",
	}}
	elected := func(at int64) happening {
		return happening{at, "a.0", trace.ElectedEvent{Shard: "a", Term: 3}}
	}
	donates, recovers := Part{Donates, "m1"}, Part{Recovers, "m1"}
	for name, c := range map[string]struct {
		before []happening
		doing  Part
		ns     string // that is asked for, all if it is empty
		want   verdict.Signature
	}{
		"it is still the donor":      {[]happening{requested}, donates, "test.docs", joinedEarly},
		"of any collection":          {[]happening{requested}, donates, "", joinedEarly},
		"of another collection":      {[]happening{requested}, donates, "test.more", ""},
		"it began later":             {[]happening{{95, "a.0", requested.e}}, donates, "test.docs", ""},
		"nobody knows when it began": {nil, donates, "test.docs", ""},
		"it is still the recipient": {
			[]happening{
				{40, "b.0", trace.MigrationRequestedEvent{
					Shard: "b", Peer: "a", NS: "test.docs", Min: "m", Max: "z", Migration: "m2",
				}},
				recipient(50, trace.RecipientReady), recipient(95, trace.RecipientClone),
			},
			Part{Receives, "m2"}, "test.docs", joinedEarly,
		},
		"it is the recipient again": {
			[]happening{
				{40, "b.0", trace.MigrationRequestedEvent{
					Shard: "b", Peer: "a", NS: "test.docs", Min: "m", Max: "z", Migration: "m2",
				}},
				recipient(50, trace.RecipientReady), recipient(60, trace.RecipientDone),
				recipient(95, trace.RecipientReady),
			},
			Part{Receives, "m2"}, "test.docs", "",
		},
		"its donor gave up": {
			[]happening{requested, donor(80, trace.DonorDone)}, recovers, "test.docs", joinedEarly,
		},
		"its donor gave up later": {
			[]happening{requested, donor(95, trace.DonorDone)}, recovers, "test.docs", joinedEarly,
		},
		"its donor began later and gave up": {
			[]happening{{92, "a.0", requested.e}, donor(95, trace.DonorDone)}, recovers,
			"test.docs", "",
		},
		"it was elected and recovers": {
			[]happening{requested, elected(80)}, recovers, "test.docs", joinedEarly,
		},
		"it was elected later": {[]happening{requested, elected(95)}, recovers, "test.docs", ""},
		"it was elected again": {
			[]happening{requested, donor(60, trace.DonorDone), elected(95)}, recovers,
			"test.docs", "",
		},
		"it is over": {[]happening{requested}, Part{}, "test.docs", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := told(c.before)
			o.Parts(func(node string) []Part {
				return slices.DeleteFunc([]Part{c.doing}, func(p Part) bool { return p == Part{} })
			})
			e := trace.AnsweredEvent{
				Peer: "config.0", NS: c.ns, Request: "JoinMigrations", Arrived: 90 * ms,
			}.Event()
			e.Step, e.At, e.Node = 1000, 100*ms, "a.0"
			o.Observe(e)
			expectOf(t, o, joinedRule, c.want)
		})
	}
}

// TestGone: a collection keeps its place in the catalog and its name while a migration of it goes
// on.
func TestGone(t *testing.T) {
	requested := happening{50, "b.0", trace.MigrationRequestedEvent{
		Shard: "b", Peer: "a", NS: "test.docs", Min: "m", Max: "z", Migration: "m2",
	}}
	donates := func(at int64, state trace.DonorState) happening {
		return happening{at, "b.0", trace.DonorAdvancedEvent{
			Shard: "b", Peer: "a", NS: "test.docs", Min: "m", Max: "z", Migration: "m2",
			State: state,
		}}
	}
	begun := []happening{requested, donates(51, trace.DonorCreated)}
	cloning := append(begun[:2:2], donates(60, trace.DonorCloning))
	written := func(ns, why string) *trace.Event {
		return trace.CatalogWrittenEvent{
			Shard: "config", Term: 1, Index: 2, NS: ns, Why: why,
		}.Event()
	}
	forbidden := trace.CatalogWrittenEvent{
		Shard: "config", Term: 1, Index: 2, NS: "test.docs", Why: trace.ForbidsMigrations.String(),
		Chunks: placed("b", "m", "z"),
	}
	forbidden.Chunks[0].Minor = 7
	for name, c := range map[string]struct {
		before []happening
		node   string
		doing  Part
		write  *trace.Event
		want   verdict.Signature
	}{
		"dropped": {
			cloning, "b.0", Part{Donates, "m2"}, written("test.docs", "drop"), goneEarly,
		},
		"renamed": {
			cloning, "b.0", Part{Donates, "m2"}, written("test.new", "renameFrom test.docs"),
			goneEarly,
		},
		"replaced": {
			cloning, "b.0", Part{Donates, "m2"}, written("test.docs", "renameFrom test.old"),
			goneEarly,
		},
		"only forbidden": {
			cloning, "b.0", Part{Donates, "m2"},
			forbidden.Event(), "",
		},
		"another": {cloning, "b.0", Part{Donates, "m2"}, written("test.more", "drop"), ""},
		"it is not allowed and will end": {
			begun, "b.0", Part{Donates, "m2"}, written("test.docs", "drop"), "",
		},
		"it is recovered": {
			cloning, "b.0", Part{Recovers, "m2"}, written("test.docs", "drop"), goneEarly,
		},
		"it was received, and a late copy has it begin again": {
			append(cloning[:3:3], recipient(70, trace.RecipientClone), recipient(80, trace.RecipientFail),
				recipient(90, trace.RecipientReady)), "a.0",
			Part{Receives, "m2"}, written("test.docs", "drop"), "",
		},
		"it is received": {
			append(cloning[:3:3], recipient(70, trace.RecipientClone)), "a.0",
			Part{Receives, "m2"}, written("test.docs", "drop"), goneEarly,
		},
		"a late start": {
			append(cloning[:3:3], recipient(70, trace.RecipientReady)), "a.0",
			Part{Receives, "m2"}, written("test.docs", "drop"), "",
		},
		"a former primary": {
			append(cloning[:3:3],
				happening{80, "b.1", trace.ElectedEvent{Shard: "b", Term: 2}}), "b.0",
			Part{Donates, "m2"}, written("test.docs", "drop"), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := told(c.before)
			o.Parts(func(node string) []Part {
				if node != c.node {
					return nil
				}
				return []Part{c.doing}
			})
			c.write.Step, c.write.At, c.write.Node = 1000, 100*ms, "config.0"
			o.Observe(c.write)
			expectOf(t, o, joinedRule, c.want)
		})
	}
}

// TestTakenOver: the balancer of a new primary leaves what was asked for before alone until that
// has ended.
func TestTakenOver(t *testing.T) {
	requested := happening{50, "a.0", trace.MigrationRequestedEvent{
		Shard: "a", Peer: "b", NS: "test.docs", Min: "", Max: "m", Migration: "m1",
	}}
	elected := func(at int64) happening {
		return happening{at, "config.1", trace.ElectedEvent{Shard: "config", Term: 2}}
	}
	round := func(phase trace.RoundPhase) *trace.Event {
		return trace.BalancerRoundEvent{Shard: "config", Term: 2, Round: 1, Phase: phase}.Event()
	}
	begins := round(trace.RoundBegun)
	for name, c := range map[string]struct {
		before         []happening
		doing          []Part
		record, latest []string // of 4.2: at the election, and in the end
		event          *trace.Event
		want           verdict.Signature
	}{
		"a round begins": {
			before: []happening{requested, elected(60)}, doing: []Part{{Donates, "m1"}},
			event: begins, want: balancedEarly,
		},
		"a stop is answered": {
			before: []happening{requested, elected(60)}, doing: []Part{{Donates, "m1"}},
			event: trace.BalancerStoppedEvent{Shard: "config", Term: 2}.Event(), want: balancedEarly,
		},
		"a round ends": {
			before: []happening{requested, elected(60)}, doing: []Part{{Donates, "m1"}},
			event: round(trace.RoundEnded),
		},
		"a recovery goes on": {
			before: []happening{requested, elected(60)}, doing: []Part{{Recovers, "m1"}},
			event: begins, want: balancedEarly,
		},
		"it was asked for later": {
			before: []happening{elected(40), requested}, doing: []Part{{Donates, "m1"}}, event: begins,
		},
		"it has ended": {before: []happening{requested, elected(60)}, event: begins},
		"it is on record": {
			before: []happening{elected(60)}, record: []string{"m"}, latest: []string{"l", "m"},
			event: begins, want: balancedEarly,
		},
		"another is on record": {
			before: []happening{elected(60)}, record: []string{"m"}, latest: []string{"l"}, event: begins,
		},
		"it was on record before an earlier election": {
			before: []happening{elected(60)}, record: []string{}, latest: []string{"m"}, event: begins,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := New(nil)
			record := c.record
			if record != nil {
				o.MigrationsOnRecord(func(string) []string { return record })
			}
			o.Parts(func(node string) []Part {
				if node != "a.0" {
					return nil
				}
				return c.doing
			})
			tell(o, c.before)
			record = c.latest
			c.event.Step, c.event.At, c.event.Node = 1000, 100*ms, "config.1"
			o.Observe(c.event)
			expectOf(t, o, joinedRule, c.want)
		})
	}
}
