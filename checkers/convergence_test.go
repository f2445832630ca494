package checkers_test

import (
	"testing"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/histories"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/histories/trace"
)

const (
	minKey = "\x00"
	maxKey = "\xff"
)

// atRest is a healthy cluster: shard a owns everything below "k1", shard b the rest; two keys.
func atRest() *checkers.Audit {
	a := &checkers.Audit{NS: "test.docs", Keys: 2, Table: []trace.Chunk{
		{Min: minKey, Max: "k1", Shard: "a", Major: 2, Minor: 1, Epoch: "e"}, {Min: "k1", Max: maxKey, Shard: "b", Major: 2, Epoch: "e"},
	}}
	docs := map[string][]checkers.Document{
		"a": {{Shard: "k0", Key: 0, Value: "w0", List: []string{"p"}}}, "b": {{Shard: "k1", Key: 1, Value: "w1"}},
	}
	owned := map[string][]checkers.Range{"a": {{Min: minKey, Max: "j"}, {Min: "j", Max: "k1"}}, "b": {{Min: "k1", Max: maxKey}}}
	for _, shard := range []string{"a", "b"} {
		for i, node := range []string{shard + ".0", shard + ".1"} {
			a.Members = append(a.Members, checkers.Member{
				Shard: shard, Node: node, Primary: i == 0, Applied: "1:5", Checksum: 7, Documents: docs[shard],
				Known: true, Major: 2, Epoch: "e", Owned: owned[shard],
			})
		}
	}
	for key, value := range []string{"w0", "w1"} {
		op := histories.Op{ID: 100 + key, Kind: scenario.Update, Key: int64(key), Outcome: histories.OK}
		read := histories.Op{ID: 200 + key, Kind: scenario.Read, Key: int64(key), Outcome: histories.OK, Result: histories.Result{Found: true, Value: value}}
		if key == 0 {
			read.Result.List = []string{"p"}
		}
		a.Final = append(a.Final, op, read)
	}
	return a
}

// What has not ended is named, with what there was to wait for.
func TestLiveness(t *testing.T) {
	p := checkers.Progress{Asked: 3}
	if v := p.Check(); v.Outcome != checkers.Pass || v.Checked != 3 {
		t.Errorf("nothing is left to do: %+v", v)
	}
	p.Unfinished, p.Waiting = []string{"move 3", "move 4"}, []string{"a.0: move is parked", "a.0: move is parked", "a.0: donor m1 is parked after donor.statusPoll"}
	v := p.Check()
	if v.Outcome != checkers.Fail || v.Found != 2 || v.Violations[0].Signature != checkers.NotFinished {
		t.Errorf("two moves are left to do: %+v", v)
	}
	if because := v.Violations[1].Because; because[len(because)-1] != p.Waiting[2] || because[1] != "a.0: move is parked (2 tasks)" {
		t.Errorf("it is not told what is waited for: %v", because)
	}
}

// orphaned has shard a keep a document of b, and a task that counts n of them.
func orphaned(a *checkers.Audit, n int64) {
	m := &a.Members[0]
	m.Documents = append(m.Documents, checkers.Document{Shard: "k1", Key: 1, Value: "w1"})
	m.Tasks = []checkers.Task{{ID: "m1", Range: checkers.Range{Min: "k1", Max: maxKey}, Orphans: n}}
}

// Whatever is wrong at the end is reported under its signature, and a cluster at rest is not blamed.
func TestConvergence(t *testing.T) {
	extra := checkers.Document{Shard: "k1", Key: 1, Value: "w1"}
	for name, c := range map[string]struct {
		spoil     func(a *checkers.Audit)
		signature string
	}{
		"at rest":            {func(*checkers.Audit) {}, ""},
		"metadata unknown":   {func(a *checkers.Audit) { a.Members[1] = unknown(a.Members[1]) }, ""},
		"orphans counted":    {func(a *checkers.Audit) { orphaned(a, 1) }, checkers.Orphan},
		"orphans miscounted": {func(a *checkers.Audit) { orphaned(a, 2) }, checkers.Miscounted},
		"no answer":          {func(a *checkers.Audit) { a.Members[1] = checkers.Member{Shard: "a", Node: "a.1", Unreachable: true} }, checkers.MemberUnreachable},
		"gap in the table":   {func(a *checkers.Audit) { a.Table[0].Max = "k" }, checkers.TableBroken},
		"overlap":            {func(a *checkers.Audit) { a.Table[0].Max = "k2" }, checkers.TableBroken},
		"table ends early":   {func(a *checkers.Audit) { a.Table = a.Table[:1] }, checkers.TableBroken},
		"same version twice": {func(a *checkers.Audit) { a.Table[0].Minor = 0 }, checkers.TableBroken},
		"other data":         {func(a *checkers.Audit) { a.Members[1].Checksum++ }, checkers.ReplicasDiffer},
		"behind":             {func(a *checkers.Audit) { a.Members[1].Applied = "1:4" }, checkers.ReplicasDiffer},
		"orphan":             {func(a *checkers.Audit) { a.Members[1].Documents = append(a.Members[1].Documents, extra) }, checkers.Orphan},
		"task":               {func(a *checkers.Audit) { a.Members[0].Leftovers = []string{"range deletion"} }, checkers.Leftover},
		"cursor":             {func(a *checkers.Audit) { a.Members[0].Cursors = 1 }, checkers.Leftover},
		"critical section":   {func(a *checkers.Audit) { a.Members[0].Sections = []string{"donor m1"} }, checkers.SectionHeld},
		"owns too much":      {func(a *checkers.Audit) { a.Members[0].Owned = []checkers.Range{{Min: minKey, Max: maxKey}} }, checkers.MetadataDiffers},
		"owns too little":    {func(a *checkers.Audit) { a.Members[0].Owned = nil }, checkers.MetadataDiffers},
		"old version":        {func(a *checkers.Audit) { a.Members[0].Major = 1 }, checkers.MetadataDiffers},
		"other incarnation":  {func(a *checkers.Audit) { a.Members[0].Epoch = "f" }, checkers.MetadataDiffers},
		"document lost":      {func(a *checkers.Audit) { a.Members[2].Documents = nil }, checkers.DocumentLost},
		"document changed": {func(a *checkers.Audit) {
			a.Members[2].Documents = []checkers.Document{{Shard: "k1", Key: 1, Value: "w9"}}
		}, checkers.DocumentWrong},
		"document risen":      {func(a *checkers.Audit) { a.Final[3].Result = histories.Result{} }, checkers.DocumentWrong},
		"two of a key":        {func(a *checkers.Audit) { a.Members[2].Documents = append(a.Members[2].Documents[:1:1], extra) }, checkers.DocumentTwice},
		"key not writable":    {func(a *checkers.Audit) { a.Final[0].Outcome = histories.Failed }, checkers.KeyUnusable},
		"key not readable":    {func(a *checkers.Audit) { a.Final[1].Outcome = histories.Unknown }, checkers.KeyUnusable},
		"key left out":        {func(a *checkers.Audit) { a.Final = a.Final[:2] }, "undecided"},
		"nothing in the list": {func(a *checkers.Audit) { a.Final[1].Result.List = nil }, checkers.DocumentWrong},
	} {
		t.Run(name, func(t *testing.T) {
			a := atRest()
			c.spoil(a)
			v := a.Check()
			got := ""
			switch v.Outcome {
			case checkers.Fail:
				got = v.Violations[0].Signature
			case checkers.Undecided:
				got = "undecided"
			}
			if got != c.signature {
				t.Errorf("got %q %+v, want %q", got, v.Violations, c.signature)
			}
		})
	}
}

func unknown(m checkers.Member) checkers.Member {
	m.Known, m.Owned, m.Major = false, nil, 0
	return m
}

// Of all verdicts the worst decides: a failure before what is undecided, and that before what passed.
func TestWorst(t *testing.T) {
	verdict := func(o checkers.Outcome) checkers.Verdict { return checkers.Verdict{Checker: string(o), Outcome: o} }
	pass, open, fail := verdict(checkers.Pass), verdict(checkers.Undecided), verdict(checkers.Fail)
	for _, c := range []struct {
		all  []checkers.Verdict
		want checkers.Outcome
	}{
		{[]checkers.Verdict{pass, open, fail}, checkers.Fail}, {[]checkers.Verdict{pass, open, pass}, checkers.Undecided},
		{[]checkers.Verdict{pass, pass}, checkers.Pass}, {nil, ""},
	} {
		if got := checkers.Worst(c.all).Outcome; got != c.want {
			t.Errorf("%v: %s", c.all, got)
		}
	}
}

// Every checker of the catalogue has a name of its own and a promise.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range checkers.Catalogue() {
		if c.Name == "" || c.Promise == "" || seen[c.Name] {
			t.Errorf("%+v", c)
		}
		seen[c.Name] = true
	}
}
