package oracle

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// An answer that waits for the deletion comes when the donor has it on record no more.
func TestAwaitedDeletion(t *testing.T) {
	const over = "clean a.0 1 2 c\ntask a.0 m1 - m done 1\n"
	start, rest, _ := strings.Cut(moved, "state a.0 m1")
	begun := "state a.0 m1" + rest
	begun = strings.Replace(begun, "receive b.0 m1 - m kClone\n",
		"receive b.0 m1 - m kClone\ntask a.0 m1 - m pending 0\n", 1)
	early, late, _ := strings.Cut(begun, "block a.0 m1")
	late = "block a.0 m1" + late
	const (
		sweeps = "task a.0 m1 - m ready -1\n"
		joined = "shard config.0 1 3 a added\nshard config.0 1 4 b added\nmajority config.0 1 4\n"
	)
	for name, c := range map[string]struct {
		before, between string
		to              string // the end of the range that is asked for, m when it is empty
		failed          bool
		signature       verdict.Signature
	}{
		"some of it was there": {before: start, between: begun, to: "p"},
		"it is done":           {before: start, between: begun + over},
		"another primary has it on record": {
			before: start, between: begun + "elected a.1 2 1 1:1\n", signature: cleanedTooEarly,
		},
		"another primary has it on record, and nothing left": {
			before: start, between: begun + "clean a.0 1 3 c m1\nelected a.1 2 3 1:3\n",
		},
		"it is on record": {before: start, between: begun, signature: cleanedTooEarly},
		"its donor is in the cluster": {
			before: start, between: begun + joined, signature: cleanedTooEarly,
		},
		"its donor has left the cluster": {
			before:  start,
			between: begun + joined + "shard config.0 1 5 a removed\nmajority config.0 1 5\n",
		},
		"the answer is an error": {before: start, between: begun, failed: true},
		"the history has no donor": {
			before: start, between: strings.Replace(begun, "@2|0<a", "@2|0", 1),
		},
		"it was moved before":         {before: start + begun},
		"nobody counts on its record": {before: start, between: "state a.0 m1" + rest},
		"it had begun, and is done":   {before: start + early, between: late + over},
		"it had begun, and is on record": {
			before: start + early, between: late, signature: cleanedTooEarly,
		},
		"it is being deleted": {
			before: start, between: "state a.0 m1" + rest + sweeps, signature: cleanedTooEarly,
		},
		"it has been deleted": {
			before: start, between: "state a.0 m1" + rest + sweeps +
				"clean a.0 1 9 c m1\ntask a.0 m1 - m done -1\n",
		},
		"its donor has another primary": {
			before: start, between: "state a.0 m1" + rest + sweeps + "elected a.1 2 1 1:1\n",
		},
		"it is asked for before it is deleted": {
			before: start, between: "state a.0 m1" + rest + "deletes a.0 config.0\n" + sweeps,
		},
		"it is asked for before it is deleted, and told later": {
			before: start, between: "state a.0 m1" + rest + sweeps + "deletes a.0 config.0 7\n",
		},
		"it is asked for while it is deleted": {
			before: start, between: "state a.0 m1" + rest + sweeps + "deletes a.0 config.0\n",
			signature: cleanedTooEarly,
		},
		"the collection was dropped": {
			before: start, between: begun + "table 1 3 drop\nmajority config.0 1 3\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.lines(t, c.before)
			answered := s.o.AwaitsDeletion("7", "test.docs", bound("-"), cmp.Or(c.to, "m"), "b")
			s.lines(t, c.between)
			answered(!c.failed)
			expectOf(t, s.o, deletionRule, c.signature)
		})
	}
}

// A shard that answers that its deletions are done has none of those on record that were there when
// it was asked.
func TestCleanUp(t *testing.T) {
	const ready, over = moved + "task a.0 m1 - m ready 1\n", "task a.0 m1 - m done 1\n"
	for name, c := range map[string]struct {
		before, between string
		failed          bool
		signature       verdict.Signature
	}{
		"it is done":             {before: ready, between: "clean a.0 1 2 c\n" + over},
		"it is not done":         {before: ready, signature: cleanedTooEarly},
		"the answer is an error": {before: ready, failed: true},
		"it came later":          {before: moved, between: "task a.0 m1 - m ready 1\n"},
		"it waits for the decision": {
			before: asked + "task a.0 m1 - m pending 0\n", signature: cleanedTooEarly,
		},
		"the collection was dropped": {
			before: ready, between: "table 1 3 drop\nmajority config.0 1 3\n",
		},
		"the collection had been dropped": {
			before: ready + "table 1 3 drop\nmajority config.0 1 3\nelected b.1 2 4 1:4\n",
		},
		"nobody counts on its record": {before: moved + "task a.0 m1 - m ready -1\n"},
		"another collection":          {before: given + "plain task a.0 m1 - m ready 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.lines(t, c.before)
			answered := s.o.CleansUp("a", "test.docs")
			s.lines(t, c.between)
			answered(!c.failed)
			expectOf(t, s.o, deletionRule, c.signature)
		})
	}
}

// A shard replaces its collection after the catalog did. Until then it deletes what it has given
// away of the former one; afterwards that would be another's.
func TestDeletionsOfFormerCollections(t *testing.T) {
	for name, c := range map[string]struct {
		identity string // that of the shard's collection, when the deletion comes
		key      string
		want     verdict.Signature
	}{
		"it has the former one still":     {"former", "z", ""},
		"which it would own in the next":  {"former", "c", ""},
		"it has the next one":             {"next", "z", deletedAnother},
		"it has the next one and owns it": {"next", "c", deletedOwned},
	} {
		t.Run(name, func(t *testing.T) {
			s, has := script{o: New(nil)}, "former"
			s.o.Identities(func(string, string) string { return has })
			s.lines(t, dropped+again)
			has = c.identity
			s.lines(t, "clean a.0 1 2 "+c.key+" - m1")
			expectSignature(t, s.o, c.want)
		})
	}
}

// What an operator of 4.2 has cleaned up is of the collection that the shard had at first, too.
func TestSweepsOfFormerCollections(t *testing.T) {
	for has, want := range map[string]verdict.Signature{"former": "", "next": deletedOwned} {
		t.Run(has, func(t *testing.T) {
			s, now := script{o: New(nil)}, "former"
			s.o.Identities(func(string, string) string { return now })
			s.lines(t, given+"task a.0 swept - m ready -1\ntable 1 2 drop\nmajority config.0 1 2\n"+
				again)
			now = has
			s.lines(t, "clean a.0 1 2 c - swept")
			expectSignature(t, s.o, want)
		})
	}
}

// Regardless of who owns the range, a node does not delete what its shard owns by its own metadata.
func TestDeletionsAgainstOwnMetadata(t *testing.T) {
	lower, upper := []trace.Chunk{{Max: "m", Shard: "a"}}, []trace.Chunk{{Min: "m", Max: "~", Shard: "a"}}
	for name, c := range map[string]struct {
		node      string
		knows     []trace.Chunk
		forgotten bool
		want      bool
	}{
		"it knows that it has lost the range": {node: "a.0", knows: upper},
		"it knows that it has the range":      {node: "a.0", knows: lower, want: true},
		"another node of the shard does":      {node: "a.1", knows: lower},
		"it has forgotten that":               {node: "a.0", knows: lower, forgotten: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := script{o: New(nil)}
			s.lines(t, given)
			events := []*trace.Event{trace.MetadataInstalledEvent{
				Shard: "a", NS: "test.docs", Chunks: c.knows,
			}.Event()}
			if c.forgotten {
				events = append(events,
					trace.MetadataClearedEvent{Shard: "a", NS: "test.docs"}.Event())
			}
			for _, e := range events {
				e.Node, e.Step, e.At = c.node, s.step, s.now()
				s.o.Observe(e)
			}
			s.lines(t, "clean a.0 1 2 c m1")
			found := slices.ContainsFunc(s.o.verdicts[deletionRule.Name].Violations,
				func(v verdict.Violation) bool { return v.Signature == deletedKnown })
			if found != c.want {
				t.Errorf("found %v: %v", found, s.o.verdicts[deletionRule.Name].Violations)
			}
		})
	}
}
