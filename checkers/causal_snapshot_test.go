package checkers

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
)

// at gives an operation the exact cluster time t.
func at(t uint64) func(*histories.Op) {
	return func(o *histories.Op) { o.After, o.Time, o.Exact = t-1, t, true }
}

// within gives it a time after one and up to another.
func within(after, by uint64) func(*histories.Op) {
	return func(o *histories.Op) { o.After, o.Time = after, by }
}

func client(n int) func(*histories.Op) { return func(o *histories.Op) { o.Client = n } }

// causal makes a read of its client's causal session that was told an operation time.
func causal(told uint64) func(*histories.Op) {
	return func(o *histories.Op) { o.Concern, o.Causal, o.Time = "majority", true, told }
}

// of and into name the collections of an operation on whole collections.
func of(ns string) func(*histories.Op) { return func(o *histories.Op) { o.NS = ns } }

func into(ns string) func(*histories.Op) { return func(o *histories.Op) { o.Into = ns } }

// snapshot makes a scan of [0, 10) at a time.
func snapshot(t uint64) func(*histories.Op) {
	return func(o *histories.Op) { o.Concern, o.Time = "snapshot", t }
}

func (b *build) see(value string, more ...func(*histories.Op)) *build {
	result := func(o *histories.Op) {
		o.Result = histories.Result{Found: value != "", Value: value}
	}
	return b.op(scenario.Read, 1, "", append(more, result)...)
}

// Each wrong read of a time is found under its signature, and each legal one beside it passes:
// reads may be old as long as their session, or their snapshot, does not know better.
func TestPlantedInstants(t *testing.T) {
	old := func() *build {
		return new(build).op("upsert", 1, "a", at(10)).op("upsert", 1, "b", at(20))
	}
	gone := func() *build {
		return new(build).op("insert", 1, "a", at(10)).op("delete", 1, "", found("a"), at(20))
	}
	three := func() *build {
		return new(build).op("insert", 3, "v3", at(10)).op("insert", 4, "v4", at(20))
	}
	for name, c := range map[string]struct {
		history *build
		checker string
		signed  Signature
	}{
		"seen before its second execution": {new(build).
			op("upsert", 1, "a", at(30), func(o *histories.Op) { o.After = 5 }).
			see("a", client(1), causal(15)).op("upsert", 1, "b", at(20)).
			see("a", client(1), causal(16)), "", ""},
		"own write not read":       {old().see("a", causal(30)), "causal-reads", causalStale},
		"own write read":           {old().see("b", causal(30)), "", ""},
		"another's write not read": {old().see("a", client(1), causal(15)), "", ""},
		"no causal read":           {old().see("a", weak("majority")), "", ""},
		"read goes back": {
			old().see("b", client(1), causal(20)).see("a", client(1), causal(30)), "causal-reads",
			causalStale,
		},
		"read of another key goes back": {
			old().op("upsert", 2, "c", client(1), at(25)).see("a", client(1), causal(30)),
			"causal-reads", causalStale,
		},
		"what was seen, not what was told, counts": {
			old().see("b", client(1), causal(0)).see("a", client(1), causal(1)), "causal-reads",
			causalStale},
		"own document not found": {
			new(build).op("insert", 1, "a", at(10)).see("", causal(30)), "causal-reads",
			causalMissing,
		},
		"own document deleted": {gone().see("", causal(30)), "", ""},
		"own document maybe deleted": {
			new(build).op("insert", 1, "a", at(10)).op(
				"delete", 1, "", outcome(histories.Unknown), client(1),
			).see("", causal(30)), "", "",
		},
		"own document renamed away": {
			new(build).op("insert", 1, "a", at(10)).op("rename", 0, "", into("test.others")).see(
				"", causal(30),
			), "", "",
		},
		"own document replaced by another collection": {
			new(build).op("insert", 1, "a", at(10)).op(
				"rename", 0, "", of("test.others"), into("test.docs"),
			).see("", causal(30)), "", "",
		},
		"own document not found, another collection renamed": {
			new(build).op("insert", 1, "a", at(10)).op(
				"rename", 0, "", of("test.others"), into("test.more"),
			).see("", causal(30)), "causal-reads", causalMissing,
		},
		"own document not found, renamed after the answer": {
			new(build).op("insert", 1, "a", at(10)).see("", causal(30)).op(
				"rename", 0, "", into("test.others"),
			), "causal-reads", causalMissing,
		},
		"own document lost with leave": {
			new(build).op("insert", 1, "a", at(10)).see(
				"", causal(30), func(o *histories.Op) { o.Lossy = true },
			), "", "",
		},
		"own retried write, may be later": {
			new(build).op("upsert", 1, "a", at(10)).op(
				"upsert", 1, "b", client(1), within(5, 40),
			).see("a", client(2), causal(30)), "", ""},
		"own push not read": {
			new(build).op("insert", 1, "a", client(histories.PreloadClient), at(1)).op(
				"push", 1, "p", at(10),
			).see("a", causal(30)), "causal-reads", causalStale,
		},
		"snapshot of two states": {
			three().op("scan", 0, "", items(true, 4), snapshot(25)), "snapshot-reads",
			snapshotMissing,
		},
		"snapshot of a collection that was renamed": {
			three().op("rename", 0, "", into("test.others"), at(22)).op(
				"scan", 0, "", items(true), snapshot(25),
			), "", "",
		},
		"snapshot of what was renamed later": {
			three().op("scan", 0, "", items(true, 4), snapshot(25)).op(
				"rename", 0, "", into("test.others"), at(30),
			), "snapshot-reads", snapshotMissing,
		},
		"snapshot between two": {
			three().op("scan", 0, "", items(true, 3), snapshot(15)), "", "",
		},
		"snapshot before all": {
			three().op("scan", 0, "", items(true), snapshot(5)), "", "",
		},
		"snapshot shows the future": {
			three().op("scan", 0, "", items(true, 3, 4), snapshot(15)), "snapshot-reads",
			snapshotFuture,
		},
		"snapshot shows the past": {
			three().op("upsert", 3, "w", at(22)).op("scan", 0, "", items(true, 3, 4), snapshot(25)),
			"snapshot-reads", snapshotStale,
		},
		"snapshot at the very time": {
			three().op("upsert", 3, "w", at(26)).op("scan", 0, "", items(true, 3, 4), snapshot(25)),
			"", "",
		},
		"snapshot before its session": {
			three().op("scan", 0, "", items(true, 3), snapshot(15),
				func(o *histories.Op) { o.Causal = true }), "snapshot-reads", snapshotBefore,
		},
		"snapshot of another's session": {
			three().op("scan", 0, "", items(true, 3), snapshot(15), client(1),
				func(o *histories.Op) { o.Causal = true }), "", "",
		},
	} {
		t.Run(name, func(t *testing.T) { expectVerdict(t, c.history.ops, c.checker, c.signed) })
	}
}

// A store with one clock never fails: every write takes effect at its time, every causal read sees
// some state from the newest time that its client knows to now, every snapshot the state of some
// time.
func TestInstantsNoFalseAlarm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &timed{T: t, b: new(build), states: []string{""}, known: map[int]int{}}
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			w.step()
		}
		if v := Worst(Check(w.b.ops, Limits{})); v.Outcome != Pass {
			t.Fatalf("%s: %s %v", v.Checker, v.Outcome, v.Violations)
		}
	})
}

// timed is a store of one key and all its states; the state at time i is states[i].
type timed struct {
	*rapid.T
	b      *build
	states []string
	known  map[int]int // by client
}

func (w *timed) step() {
	who, now := rapid.IntRange(0, 2).Draw(w.T, "client"), len(w.states)
	last := w.states[now-1]
	switch rapid.IntRange(0, 3).Draw(w.T, "what") {
	case 0:
		value := "w" + string(rune('a'+now%26)) + string(rune('a'+now/26))
		do := func(o *histories.Op) { o.Result.Found, o.Result.Value = last != "", last }
		w.b.op("write", 1, value, client(who), do, at(uint64(now)))
		w.states, w.known[who] = append(w.states, value), now
	case 1:
		if last != "" {
			w.b.op("delete", 1, "", client(who), found(last), at(uint64(now)))
			w.states, w.known[who] = append(w.states, ""), now
		}
	case 2:
		seen := rapid.IntRange(w.known[who], now-1).Draw(w.T, "seen")
		told := rapid.IntRange(seen, now-1).Draw(w.T, "told")
		w.b.see(w.states[seen], client(who), causal(uint64(told)))
		w.known[who] = told
	case 3:
		seen := rapid.IntRange(0, now-1).Draw(w.T, "seen")
		w.b.see(w.states[seen], client(who), snapshot(uint64(seen)))
		w.known[who] = max(w.known[who], seen)
	}
}
