package endstate

import (
	"slices"
	"testing"

	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
)

const (
	minKey = "\x00"
	maxKey = "\xff"
)

// atRest is a healthy cluster: shard a owns everything below "k1", shard b the rest; two keys.
func atRest() *Audit {
	a := &Audit{NS: "test.docs",
		Keys: 2,
		Table: []trace.Chunk{
			{Min: minKey, Max: "k1", Shard: "a", Major: 2, Minor: 1, Epoch: "e"},
			{Min: "k1", Max: maxKey, Shard: "b", Major: 2, Epoch: "e"},
		}}
	docs := map[string][]Document{
		"a": {{Shard: "k0", Key: 0, Value: "w0", List: []string{"p"}}},
		"b": {{Shard: "k1", Key: 1, Value: "w1"}},
	}
	owned := map[string][]Range{
		"a": {{Min: minKey, Max: "j"}, {Min: "j", Max: "k1"}},
		"b": {{Min: "k1", Max: maxKey}},
	}
	for _, shard := range []string{"a", "b"} {
		for i, node := range []string{shard + ".0", shard + ".1"} {
			a.Members = append(a.Members, Member{
				Shard:     shard,
				Node:      node,
				Primary:   i == 0,
				Applied:   "1:5",
				Checksum:  7,
				Documents: docs[shard],
				Known:     true,
				Major:     2,
				Epoch:     "e",
				Owned:     owned[shard],
			})
		}
	}
	for key, value := range []string{"w0", "w1"} {
		op := histories.Op{
			ID:      100 + key,
			Kind:    scenario.Update,
			Key:     int64(key),
			Outcome: histories.OK,
		}
		read := histories.Op{
			ID:      200 + key,
			Kind:    scenario.Read,
			Key:     int64(key),
			Outcome: histories.OK,
			Result:  histories.Result{Found: true, Value: value},
		}
		if key == 0 {
			read.Result.List = []string{"p"}
		}
		a.Final = append(a.Final, op, read)
	}
	return a
}

// What has not ended is named, with what there was to wait for.
func TestLiveness(t *testing.T) {
	p := Progress{Asked: 3}
	if v := p.Check(); v.Outcome != verdict.Pass || v.Checked != 3 {
		t.Errorf("nothing is left to do: %+v", v)
	}
	p.Unfinished = []Unfinished{{What: "move 3"}, {What: "move 4"}}
	p.Waiting = []Wait{
		{Node: "a.0", Task: "move", Doing: "is parked", On: -1},
		{Node: "a.0", Task: "move", Doing: "is parked", On: -1},
		{Node: "a.0", Task: "donor m1", Doing: "is parked after donor.statusPoll", On: -1},
		{Node: "b.0", Task: "balancer", Doing: "is sleeping", On: -1}, // until it looks again
	}
	v := p.Check()
	if v.Outcome != verdict.Fail || v.Found != 2 || v.Violations[0].Signature != NotFinished {
		t.Errorf("two moves are left to do: %+v", v)
	}
	last := "also left: " + p.Waiting[2].brief()
	if because := v.Violations[1].Because; because[len(because)-1] != last ||
		because[1] != "also left: a.0: move is parked (2 tasks)" {
		t.Errorf("it is not told what is waited for: %v", because)
	}
}

// orphaned has shard a keep a document of b, and a task that counts n of them.
func orphaned(a *Audit, n int64) {
	m := &a.Members[0]
	m.Documents = append(m.Documents, Document{Shard: "k1", Key: 1, Value: "w1"})
	m.Tasks = []Task{{ID: "m1", Range: Range{Min: "k1", Max: maxKey}, Orphans: n}}
}

// Whatever is wrong at the end is reported under its signature, and a cluster at rest is not
// blamed.
func TestConvergence(t *testing.T) {
	extra := Document{Shard: "k1", Key: 1, Value: "w1"}
	for name, c := range map[string]struct {
		spoil     func(a *Audit)
		signature verdict.Signature
	}{
		"at rest":            {func(*Audit) {}, ""},
		"metadata unknown":   {func(a *Audit) { a.Members[1] = unknown(a.Members[1]) }, ""},
		"orphans counted":    {func(a *Audit) { orphaned(a, 1) }, orphanLeft},
		"orphans miscounted": {func(a *Audit) { orphaned(a, 2) }, orphansMiscounted},
		"no answer": {
			func(a *Audit) { a.Members[1] = Member{Shard: "a", Node: "a.1", Unreachable: true} },
			memberUnreachable,
		},
		"gap in the table":   {func(a *Audit) { a.Table[0].Max = "k" }, tableBroken},
		"overlap":            {func(a *Audit) { a.Table[0].Max = "k2" }, tableBroken},
		"table ends early":   {func(a *Audit) { a.Table = a.Table[:1] }, tableBroken},
		"same version twice": {func(a *Audit) { a.Table[0].Minor = 0 }, tableBroken},
		"other data":         {func(a *Audit) { a.Members[1].Checksum++ }, replicasDiffer},
		"behind while busy": {
			func(a *Audit) { a.Busy, a.Members[1].Applied = true, "1:4" }, "",
		},
		"other data while busy": {
			func(a *Audit) { a.Busy = true; a.Members[1].Checksum++ }, replicasDiffer,
		},
		"behind": {func(a *Audit) { a.Members[1].Applied = "1:4" }, replicasDiffer},
		"orphan": {
			func(a *Audit) { a.Members[1].Documents = append(a.Members[1].Documents, extra) },
			orphanLeft,
		},
		"task": {
			func(a *Audit) { a.Members[0].Leftovers = []string{"range deletion"} }, leftoverFound,
		},
		"cursor": {func(a *Audit) { a.Members[0].Cursors = 1 }, leftoverFound},
		"critical section": {
			func(a *Audit) { a.Members[0].Sections = []string{"donor m1"} }, sectionHeld,
		},
		"owns too much": {
			func(a *Audit) { a.Members[0].Owned = []Range{{Min: minKey, Max: maxKey}} },
			metadataDiffers,
		},
		"owns too little": {func(a *Audit) { a.Members[0].Owned = nil }, metadataDiffers},
		"a secondary that is not told that it owns an unsharded collection": {func(a *Audit) {
			a.Unsharded, a.Members[1].Owned = true, nil
		}, ""},
		"a secondary that owns too little of an unsharded collection": {func(a *Audit) {
			a.Unsharded, a.Members[1].Owned = true, []Range{{Min: minKey, Max: "j"}}
		}, metadataDiffers},
		"a primary that does not know that it owns an unsharded collection": {func(a *Audit) {
			a.Unsharded, a.Members[0].Owned = true, nil
		}, metadataDiffers},
		"old version": {func(a *Audit) { a.Members[0].Major = 1 }, metadataDiffers},
		"a version from before a split": {func(a *Audit) {
			a.Members[0].Major, a.SameSince = 1, sameSince(1, 1)
		}, ""},
		"a primary's version from before a permission": {func(a *Audit) {
			a.Members[0].Major, a.SameSince = 1, sameSince(2, 1)
		}, metadataDiffers},
		"a secondary's version from before a permission": {func(a *Audit) {
			a.Members[1].Major, a.SameSince = 1, sameSince(2, 1)
		}, ""},
		"a version from before a move": {func(a *Audit) {
			a.Members[0].Major, a.SameSince = 0, sameSince(1, 1)
		}, metadataDiffers},
		"a version of the future": {func(a *Audit) {
			a.Members[0].Major, a.SameSince = 3, sameSince(1, 1)
		}, metadataDiffers},
		"other incarnation": {func(a *Audit) { a.Members[0].Epoch = "f" }, metadataDiffers},
		"document lost":     {func(a *Audit) { a.Members[2].Documents = nil }, documentLost},
		"document changed": {func(a *Audit) {
			a.Members[2].Documents = []Document{{Shard: "k1", Key: 1, Value: "w9"}}
		}, documentWrong},
		"document risen": {
			func(a *Audit) { a.Final[3].Result = histories.Result{} }, documentWrong,
		},
		"two of a key": {
			func(a *Audit) { a.Members[2].Documents = append(a.Members[2].Documents[:1:1], extra) },
			documentTwice,
		},
		"key not writable": {
			func(a *Audit) { a.Final[0].Outcome = histories.Failed }, keyUnusable,
		},
		"key not readable": {
			func(a *Audit) { a.Final[1].Outcome = histories.Unknown }, keyUnusable,
		},
		"key left out":        {func(a *Audit) { a.Final = a.Final[:2] }, "undecided"},
		"nothing in the list": {func(a *Audit) { a.Final[1].Result.List = nil }, documentWrong},
	} {
		t.Run(name, func(t *testing.T) {
			a := atRest()
			c.spoil(a)
			v := a.Check()
			var got verdict.Signature
			switch v.Outcome {
			case verdict.Fail:
				got = v.Violations[0].Signature
			case verdict.Undecided:
				got = "undecided"
			}
			if got != c.signature {
				t.Errorf("got %q %+v, want %q", got, v.Violations, c.signature)
			}
		})
	}
}

// A version that is older than the shard's ranges is about all of them.
func TestRangesOfAnOlderVersion(t *testing.T) {
	a := atRest()
	a.Table[0].Major += 2
	v := a.Check()
	for _, x := range v.Violations {
		if x.Signature == metadataDiffers && len(x.Ranges) == 0 {
			t.Errorf("%s: about no range", x.Broke)
		}
	}
	if v.Outcome != verdict.Fail {
		t.Errorf("the outcome is %v", v.Outcome)
	}
}

func unknown(m Member) Member {
	m.Known, m.Owned, m.Major = false, nil, 0
	return m
}

// TestDiffering: what two lists of ranges do not have in common, cut at all their bounds.
func TestDiffering(t *testing.T) {
	for name, c := range map[string]struct {
		one, other []Range
		want       []verdict.KeyRange
	}{
		"equal":         {[]Range{{"a", "c"}}, []Range{{"a", "c"}}, nil},
		"nothing there": {[]Range{{"a", "c"}}, nil, []verdict.KeyRange{{Min: "a", Max: "c"}}},
		"cut otherwise": {[]Range{{"a", "b"}, {"b", "c"}}, []Range{{"a", "c"}}, nil},
		"a part of it": {
			[]Range{{"a", "d"}}, []Range{{"b", "c"}},
			[]verdict.KeyRange{{Min: "a", Max: "b"}, {Min: "c", Max: "d"}},
		},
		"beside each other": {
			[]Range{{"a", "b"}}, []Range{{"b", "c"}},
			[]verdict.KeyRange{{Min: "a", Max: "b"}, {Min: "b", Max: "c"}},
		},
	} {
		if got := differing(c.one, c.other); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}

func sameSince(primary, secondaries uint32) map[string]model.Same {
	return map[string]model.Same{"a": {Primary: primary, Secondaries: secondaries}}
}
