package warnings

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// entries is a log: each entry announces the deletion of the task that it names, of the range from a
// to c of one collection.
type entries []string

func (l *entries) Last() uint64 { return uint64(len(*l)) }

func (l *entries) Announced(task string, _, before uint64) bool {
	for _, of := range (*l)[:before-1] {
		if of == task {
			return true
		}
	}
	return false
}

func (l *entries) Announces(ns string, after, last uint64) (all []Range) {
	for _, of := range (*l)[after:last] {
		if of != "" && ns == "t.c" {
			all = append(all, Range{"a", "c"})
		}
	}
	return all
}

func found(j *Judge) verdict.Signature {
	if v := j.Verdict(); len(v.Violations) > 0 {
		return v.Violations[0].Signature
	}
	return ""
}

// TestDeletion: the announcement is that of the task, in an entry before its first deletion.
func TestDeletion(t *testing.T) {
	for name, c := range map[string]struct {
		log   entries
		actor trace.Actor
		drop  bool
		want  verdict.Signature
	}{
		"announced":       {entries{"m", ""}, trace.RangeDeleter, false, ""},
		"never":           {entries{"", ""}, trace.RangeDeleter, false, notAnnounced},
		"of another":      {entries{"n", ""}, trace.RangeDeleter, false, notAnnounced},
		"at once":         {entries{"", "m"}, trace.RangeDeleter, false, notAnnounced},
		"of a collection": {entries{"", ""}, trace.RangeDeleter, true, ""},
		"by a client":     {entries{"", ""}, trace.User, false, ""},
		"by a receiver":   {entries{"", ""}, trace.Recipient, false, ""},
	} {
		log := c.log
		j := New(func(string) Log { return &log })
		e := trace.AppliedEvent{NS: "t.c", Key: "b", Actor: c.actor, For: "m", Index: 2, Term: 1}.Event()
		e.Node = "a.0"
		if !c.drop {
			j.Observe(trace.RangeDeletionEvent{NS: "t.c", Migration: "m"}.Event())
		}
		j.Observe(e)
		if got := found(j); got != c.want {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// TestReturned: a query ends with the first batch that is asked for after the announcement of a range
// that it may see.
func TestReturned(t *testing.T) {
	for name, c := range map[string]struct {
		ns, min string
		batch   int
		arrived uint64
		closed  bool
		want    verdict.Signature
	}{
		"not announced yet":  {ns: "t.c", min: "a", batch: 2, arrived: 2},
		"announced":          {ns: "t.c", min: "a", batch: 2, arrived: 3, want: notHeeded},
		"sent again":         {ns: "t.c", min: "a", batch: 1, arrived: 3},
		"of another part":    {ns: "t.c", min: "c", batch: 2, arrived: 3},
		"another collection": {ns: "t.d", min: "a", batch: 2, arrived: 3},
		"over":               {ns: "t.c", min: "a", batch: 2, arrived: 3, closed: true},
	} {
		log := entries{"m", ""}
		j := New(func(string) Log { return &log })
		opened := trace.CursorOpenedEvent{
			NS: c.ns, Cursor: "q", Chunks: []trace.Chunk{{Min: c.min, Max: "d"}},
		}.Event()
		opened.Node = "a.1"
		j.Observe(opened)
		j.Returned("a.1", "q", 1, 2)
		log = append(log, "n")
		if c.closed {
			j.Observe(trace.CursorClosedEvent{NS: c.ns, Cursor: "q"}.Event())
		}
		j.Returned("a.1", "q", c.batch, c.arrived)
		if got := found(j); got != c.want {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}
