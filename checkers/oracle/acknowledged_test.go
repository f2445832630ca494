package oracle

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/facts"
	"github.com/shardproof/shardproof/checkers/grounds"
	"github.com/shardproof/shardproof/checkers/model"
	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// What a command asks for counts when a majority has it before the answer, also if it is undone
// meanwhile.
func TestAcknowledged(t *testing.T) {
	const ns = "test.docs"
	for name, c := range map[string]struct {
		fact      *facts.Fact
		script    string
		signature verdict.Signature
	}{
		"a split": {
			facts.BoundAt(ns, "c"), "table 1 2 split -..c=a@1|3 c..g=a@1|4\nmajority config.0 1 2", "",
		},
		"a split that is not with a majority": {
			facts.BoundAt(ns, "c"), "table 1 2 split -..c=a@1|3 c..g=a@1|4", neverSo,
		},
		"a split that is undone": {
			facts.BoundAt(ns, "c"), "table 1 2 split -..c=a@1|3 c..g=a@1|4\nmajority config.0 1 2\n" +
				"table 1 3 merge -..g=a@1|5\nmajority config.0 1 3", "",
		},
		"a merge": {
			facts.OneChunk(ns, "\x00", "m"), "table 1 2 merge -..m=a@1|3\nmajority config.0 1 2", "",
		},
		"no merge": {facts.OneChunk(ns, "\x00", "m"), "", neverSo},
		"a move":   {facts.OwnedBy(ns, "a", "a"), "", ""},
		"no move":  {facts.OwnedBy(ns, "a", "b"), "", neverSo},
		"no mark":  {facts.NotJumbo(ns, "a"), "", ""},
		"a mark": {facts.NotJumbo(ns, "a"),
			"table 1 2 jumbo -..g=a@1|0*\nmajority config.0 1 2", ""},
		"a sharded one": {facts.Sharded(ns, true), "", ""},
		"not dropped":   {facts.Sharded(ns, false), "", neverSo},
		"not renamed":   {facts.Renamed(ns, "test.more"), "", neverSo},
		"on":            {facts.BalancerIs(trace.BalancerFull), "", ""},
		"not off":       {facts.BalancerIs(trace.BalancerOff), "", neverSo},
		"off": {facts.BalancerIs(trace.BalancerOff),
			"mode config.0 1 2 off\nmajority config.0 1 2", ""},
		"a shard":     {facts.ShardExists("c", true), "", ""},
		"not removed": {facts.ShardExists("c", false), "", neverSo},
		"a zone": {
			facts.ShardOfZone("a", "hot", true),
			"shard config.0 1 2 a zones hot\nmajority config.0 1 2", "",
		},
		"no zone": {facts.ShardOfZone("a", "hot", true), "", neverSo},
		"a zone's range": {
			facts.RangeOfZone(ns, "m", "t", "hot"),
			"shard config.0 1 2 b zones hot\nzone config.0 1 3 m t hot\nmajority config.0 1 3", "",
		},
		"a range of none": {facts.RangeOfZone(ns, "m", "t", ""), "", ""},
		"still of a zone": {
			facts.RangeOfZone(ns, "m", "t", "cold"), "shard config.0 1 2 b zones hot\nzone config.0 1 3 m t hot\nmajority config.0 1 3",
			neverSo,
		},
		"balanced":     {facts.BalancedIs(ns, true), "", ""},
		"not switched": {facts.BalancedIs(ns, false), "", neverSo},
		"switched": {
			facts.BalancedIs(ns, false), "balancing config.0 1 2 off\nmajority config.0 1 2", "",
		},
		"switched before a majority has the last drop": {
			facts.BalancedIs(ns, false), "table 1 2 drop\ntable 1 2 shardCollection -..+=a@1|0\n" +
				"balancing config.0 1 3 off\nmajority config.0 1 3", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: observe(t, three)}
			s.step = s.o.step
			answered := s.o.Asked(c.fact)
			s.lines(t, c.script)
			answered(true)
			expectSignature(t, s.o, c.signature)
		})
	}
}

// Nothing is promised of a command that was refused, or whose answer got lost.
func TestNotAcknowledged(t *testing.T) {
	o := observe(t, three)
	o.Asked(facts.BalancerIs(trace.BalancerOff))(false)
	expectSignature(t, o, "")
}

// A document is looked at when it is written: a majority may learn of that, and of its removal, at
// the same moment.
func TestRecordedBeforeRemoval(t *testing.T) {
	o, is := observe(t, three), false
	answered := o.Asked(facts.Recorded("the document is so", "a", func() bool { return is }))
	written := trace.EntryChangedEvent{
		Shard: "config", Term: 1, Index: 9, NS: "test.docs", Why: "configureCollectionBalancing",
	}.Event()
	written.Step, written.Node, is = 9, "config.0", true
	o.Observe(written)
	is = false
	answered(true)
	expectSignature(t, o, "")
}

// What a document says after a command is judged if no other command may have written it since.
func TestRecorded(t *testing.T) {
	so := func(is bool) *facts.Fact {
		return facts.Recorded("the document is so", "config.settings a", func() bool { return is })
	}
	for name, c := range map[string]struct {
		play      func(o *Oracle)
		signature verdict.Signature
	}{
		"as it should be": {func(o *Oracle) { o.Asked(so(true))(true) }, ""},
		"not":             {func(o *Oracle) { o.Asked(so(false))(true) }, neverSo},
		"refused":         {func(o *Oracle) { o.Asked(so(false))(false) }, ""},
		"another command meanwhile": {func(o *Oracle) {
			one, other := o.Asked(so(false)), o.Asked(so(true))
			one(true)
			other(true)
		}, ""},
		"another command before": {func(o *Oracle) {
			o.Asked(so(true))(true)
			o.Asked(so(false))(true)
		}, neverSo},
		"another command that got no answer": {func(o *Oracle) {
			o.Asked(so(true))(false)
			o.Asked(so(false))(true)
		}, ""},
		"a command on something else": {func(o *Oracle) {
			other := o.Asked(facts.Recorded("", "config.settings b", func() bool { return true }))
			o.Asked(so(false))(true)
			other(true)
		}, neverSo},
	} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, three)
			c.play(o)
			expectSignature(t, o, c.signature)
		})
	}
}

// A refusal needs a ground that the catalog gave while it was asked for, unless something has
// happened to the server that refuses.
func TestRefused(t *testing.T) {
	const ns = "test.docs"
	for name, c := range map[string]struct {
		ground    *grounds.Ground
		hit       bool
		signature verdict.Signature
	}{
		"a ground that is there": {grounds.NotSharded("test.more"), false, ""},
		"no ground":              {grounds.NotSharded(ns), false, refusedIdly},
		"after a fault":          {grounds.NotSharded(ns), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, three+"\nshard config.0 1 2 a added\nmajority config.0 1 2")
			since := o.causes.now + 1
			if c.hit {
				o.causes.of("config.0").faulted = since
			}
			o.Refused(Refusal{"config.0", "DropCollection", ns, "NamespaceNotFound", since}, c.ground)
			expectSignature(t, o, c.signature)
		})
	}
}

// What is granted had no ground against it at one moment at least, whatever has happened to the
// server.
func TestGranted(t *testing.T) {
	const ns = "test.docs"
	for name, c := range map[string]struct {
		against   []*grounds.Ground
		signature verdict.Signature
	}{
		"nothing against it":       {nil, ""},
		"what was never so":        {[]*grounds.Ground{grounds.NotSharded(ns)}, ""},
		"what was not so at first": {[]*grounds.Ground{grounds.Closed("a")}, ""},
		"what was so":              {[]*grounds.Ground{grounds.NotSharded(ns), grounds.Named(ns)}, granted},
		"what is so in any case":   {[]*grounds.Ground{grounds.Always("it is so")}, granted},
	} {
		t.Run(name, func(t *testing.T) {
			o := observe(t, three+"\nshard config.0 1 2 a added\nmajority config.0 1 2")
			since := o.causes.now + 1
			o.past.Administered(o.world, since)
			s := script{o: o}
			s.step = o.step
			s.lines(t, "shard config.0 1 3 a draining\nmajority config.0 1 3")
			o.causes.of("config.0").faulted = since
			o.Granted(Refusal{"config.0", "MoveRange", ns, "", since}, c.against...)
			expectSignature(t, o, c.signature)
		})
	}
}

// A time is too long ago for a table that may have been gone by, or it is not: of a shard's version,
// of any for a router, unless a shard has said so.
func TestRefusedTimes(t *testing.T) {
	const ns, at = "test.docs", 50
	table := func(major uint32, after uint64) placement {
		return placement{epoch: "one", majors: map[string]uint32{"a": major}, table: model.Table{
			{Min: "", Max: "z", History: []trace.Placement{{ValidAfter: after, Shard: "a"}}},
		}}
	}
	for name, c := range map[string]struct {
		tables    []placement
		passed    bool
		ofShard   verdict.Signature
		ofRouting verdict.Signature
	}{
		"nothing is known":       {nil, false, "", ""},
		"it is known":            {[]placement{table(1, at)}, false, refusedIdly, refusedIdly},
		"it is too long ago":     {[]placement{table(1, at+1)}, false, "", ""},
		"by another table":       {[]placement{table(1, at), table(2, at+1)}, false, refusedIdly, ""},
		"a shard has refused it": {[]placement{table(1, at)}, true, refusedIdly, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, routing := range []bool{false, true} {
				o := observe(t, three)
				r := Refusal{"a.0", "Find", ns, "StaleChunkHistory", o.causes.now + 1}
				o.causes.placements[ns] = c.tables
				if c.passed {
					o.causes.of(r.Node).handed["Find"] = r.Since
				}
				if routing {
					o.RefusedRouting(r, "Find", at)
					expectSignature(t, o, c.ofRouting)
					continue
				}
				o.RefusedOwners(r, trace.Chunk{Epoch: "one", Major: 1}, "a", at)
				expectSignature(t, o, c.ofShard)
			}
		})
	}
}

// TestCommittedFor: a donor of 4.2 takes its migration for committed when an older one that came
// late has taken the lowest key away, wherever to; nothing else does.
func TestCommittedFor(t *testing.T) {
	mine := &move{id: "m2", ns: "t.c", from: "b", to: "a", min: "k10", max: "k20"}
	for name, c := range map[string]struct {
		late *move
		want bool
	}{
		"the same move":       {&move{ns: "t.c", from: "b", to: "a", min: "k10", max: "k20"}, true},
		"to another shard":    {&move{ns: "t.c", from: "b", to: "d", min: "k10", max: "k20"}, true},
		"a part of it":        {&move{ns: "t.c", from: "b", to: "d", min: "k10", max: "k12"}, true},
		"not the lowest key":  {&move{ns: "t.c", from: "b", to: "d", min: "k12", max: "k20"}, false},
		"the range before it": {&move{ns: "t.c", from: "b", to: "d", min: "k0", max: "k10"}, false},
		"another collection":  {&move{ns: "t.d", from: "b", to: "a", min: "k10", max: "k20"}, false},
		"from another shard":  {&move{ns: "t.c", from: "c", to: "a", min: "k10", max: "k20"}, false},
	} {
		o := &Oracle{
			moves: map[string]*move{"m1": c.late, "m2": mine}, unfenced: []damagingCommit{{id: "m1"}},
		}
		if got := o.committedFor(mine); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (&Oracle{}).committedFor(mine) {
		t.Error("committed without a late commit")
	}
}

// TestUndisturbed: who has taken part in a migration, has led since before it, and has seen nothing
// fail has lost nothing of what it records.
func TestUndisturbed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(n *evidence, p *part)
		want   bool
	}{
		"nothing happened":    {func(*evidence, *part) {}, true},
		"not over":            {func(_ *evidence, p *part) { p.over = 0 }, false},
		"another migration":   {func(_ *evidence, p *part) { p.id = "m2" }, false},
		"as its recipient":    {func(_ *evidence, p *part) { p.donor = false }, false},
		"a fault":             {func(n *evidence, _ *part) { n.faulted = 11 }, false},
		"a request failed":    {func(n *evidence, _ *part) { n.any = 10 }, false},
		"one failed before":   {func(n *evidence, _ *part) { n.any = 9 }, true},
		"leads since then":    {func(n *evidence, _ *part) { n.role = 10 }, false},
		"does not lead":       {func(n *evidence, _ *part) { n.settled = false }, false},
		"a fault that lasts":  {func(n *evidence, _ *part) { n.faults[1] = true }, false},
		"hit before it began": {func(n *evidence, _ *part) { n.faulted = 9 }, true},
	} {
		o := New(nil)
		n, p := o.causes.of("a.0"), &part{id: "m1", began: 10, over: 20, donor: true}
		n.settled = true
		o.world.Set(model.Config).Leader = "config.0"
		o.causes.of("config.0").settled = true
		o.causes.takes["a.0"] = []*part{p}
		c.change(n, p)
		if got := o.undisturbed("a.0", "m1", true); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		o.causes.shards[model.Config] = 10
		if o.undisturbed("a.0", "m1", true) {
			t.Errorf("%s, and the config server has had another primary since", name)
		}
	}
}
