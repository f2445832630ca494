package dates

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// primary is a node that leads in a term. Each entry of its log is of the time of its index.
type primary uint64

func (p primary) Term() uint64 { return uint64(p) }

func (p primary) At(term, index uint64) (time uint64, known bool) { return index, term <= uint64(p) }

func found(j *Judge) verdict.Signature {
	if v := j.Verdict(); len(v.Violations) > 0 {
		return v.Violations[0].Signature
	}
	return ""
}

func on(node string, term uint64, e *trace.Event) *trace.Event {
	e.Node, e.Term = node, term
	return e
}

func wrote(node string, term, index uint64, ns, key string) *trace.Event {
	return on(node, term, trace.AppliedEvent{
		Shard: node[:1], NS: ns, Key: key, Actor: trace.User, Index: index, Term: term,
	}.Event())
}

func placed(why, epoch string, chunks ...trace.Chunk) *trace.Event {
	for i := range chunks {
		chunks[i].Epoch = epoch
	}
	return on("config.0", 1, trace.CatalogWrittenEvent{
		Shard: "config", NS: "t.c", Chunks: chunks, Why: why, Term: 1,
	}.Event())
}

func blocks(term uint64) *trace.Event {
	return on("a.0", term, trace.DonorAdvancedEvent{
		NS: "t.c", Peer: "b", Migration: "m", State: trace.DonorCriticalSection,
	}.Event())
}

func chunk(min, max, shard string, since uint64) trace.Chunk {
	return trace.Chunk{Min: min, Max: max, Shard: shard, Since: since}
}

// TestMoves: a range counts as the recipient's from after the last write that its donor let in.
func TestMoves(t *testing.T) {
	for name, c := range map[string]struct {
		write  *trace.Event
		term   uint64 // of the donor at the end
		ended  bool
		change string
		want   verdict.Signature
	}{
		"the last write is before the date":  {wrote("a.0", 1, 20, "t.c", "b"), 1, false, "move m", ""},
		"it is behind it":                    {wrote("a.0", 1, 21, "t.c", "b"), 1, false, "move m", dated},
		"it is of what stays":                {wrote("a.0", 1, 21, "t.c", "n"), 1, false, "move m", ""},
		"it is of another collection":        {wrote("a.0", 1, 21, "t.d", "b"), 1, false, "move m", ""},
		"another shard makes it":             {wrote("c.0", 1, 21, "t.c", "b"), 1, false, "move m", ""},
		"a later primary makes it":           {wrote("a.1", 2, 21, "t.c", "b"), 2, false, "move m", ""},
		"the donor is elected once more":     {wrote("a.0", 2, 21, "t.c", "b"), 2, false, "move m", ""},
		"the donor has ended the migration":  {wrote("a.0", 1, 21, "t.c", "b"), 1, true, "move m", ""},
		"a chunk is split that was given it": {wrote("a.0", 1, 21, "t.c", "b"), 1, false, "split", ""},
	} {
		t.Run(name, func(t *testing.T) {
			term := uint64(1)
			j := New(func(node string) Log {
				if node == "config.0" || node == "c.0" {
					return primary(1)
				}
				return primary(term)
			})
			j.Observe(placed("shardCollection", "e", chunk("a", "~", "a", 1)))
			j.Observe(blocks(term))
			term = c.term
			j.Observe(c.write)
			if c.ended {
				j.Observe(on("a.0", 1, trace.MigrationEndedEvent{Migration: "m"}.Event()))
			}
			j.Observe(placed(c.change, "e", chunk("a", "m", "b", 20), chunk("m", "~", "a", 1)))
			if got := found(j); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestBeginnings: a collection that is sharded, or gets another name, counts as such from after the
// last write on any shard under the names that it had or has.
func TestBeginnings(t *testing.T) {
	for name, c := range map[string]struct {
		write         *trace.Event
		change, epoch string
		want          verdict.Signature
	}{
		"a write before it":           {wrote("a.0", 1, 20, "t.c", "b"), "shardCollection", "f", ""},
		"a write behind its date":     {wrote("a.0", 1, 21, "t.c", "b"), "shardCollection", "f", dated},
		"a write of another name":     {wrote("a.0", 1, 21, "t.o", "b"), "shardCollection", "f", ""},
		"a write of the former name":  {wrote("a.0", 1, 21, "t.o", "b"), "renameFrom t.o", "f", dated},
		"a write of the same life":    {wrote("a.0", 1, 21, "t.c", "b"), "split", "e", ""},
		"a write that does not count": {wrote("a.0", 0, 21, "t.c", "b"), "shardCollection", "f", ""},
	} {
		t.Run(name, func(t *testing.T) {
			j := New(func(node string) Log { return primary(1) })
			j.Observe(placed("shardCollection", "e", chunk("a", "~", "a", 1)))
			j.Observe(c.write)
			j.Observe(placed(c.change, c.epoch, chunk("a", "~", "b", 20)))
			if got := found(j); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestManyWrites: the newest writes are known however many there were.
func TestManyWrites(t *testing.T) {
	j := New(func(node string) Log { return primary(1) })
	j.Observe(placed("shardCollection", "e", chunk("a", "~", "a", 1)))
	const last = 5 * most
	for i := uint64(1); i <= last; i++ {
		j.Observe(wrote("a.0", 1, i, "t.c", "b"))
	}
	if n := len(j.written["a.0"]); n > 2*most {
		t.Errorf("%d writes are known", n)
	}
	j.Observe(placed("shardCollection", "f", chunk("a", "~", "b", last-1)))
	if got := found(j); got != dated {
		t.Errorf("got %q, want %q", got, dated)
	}
}

// TestRolledBack: when the next collection of a name is rolled back, the one before goes on, with
// what was written under it all the while.
func TestRolledBack(t *testing.T) {
	j := New(func(node string) Log { return primary(1) })
	j.Observe(placed("shardCollection", "e", chunk("a", "~", "a", 1)))
	j.Observe(wrote("a.0", 1, 20, "t.c", "b"))
	j.Observe(placed("renameFrom t.o", "f", chunk("a", "~", "a", 30)))
	j.Observe(placed("split", "e", chunk("a", "m", "a", 1), chunk("m", "~", "a", 1)))
	if got := found(j); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestDeposed: what a primary writes that does not know of its successor counts for nothing, neither
// on a shard nor on the config server.
func TestDeposed(t *testing.T) {
	for name, c := range map[string]struct {
		deposed string
		want    verdict.Signature
	}{
		"nobody is":            {"", dated},
		"the shard's is":       {"a", ""},
		"the config server is": {"config", ""},
		"another shard's is":   {"b", dated},
	} {
		t.Run(name, func(t *testing.T) {
			j := New(func(node string) Log { return primary(1) })
			j.Observe(placed("shardCollection", "e", chunk("a", "~", "a", 1)))
			j.Observe(wrote("a.0", 1, 21, "t.c", "b"))
			if c.deposed != "" {
				j.Observe(on(c.deposed+".1", 2, trace.ElectedEvent{Shard: c.deposed, Term: 2}.Event()))
			}
			j.Observe(placed("shardCollection", "f", chunk("a", "~", "b", 20)))
			if got := found(j); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
