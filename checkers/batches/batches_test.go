package batches

import (
	"testing"
	"time"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// TestOr: of two limits the one counts that allows more.
func TestOr(t *testing.T) {
	a := Limits{Deleted: 2, Inserted: 3, Cloned: 100, Changed: 60, Pause: 20 * time.Millisecond,
		Rest: time.Millisecond}
	b := Limits{Deleted: 0, Inserted: 1, Cloned: 400, Changed: 12, Pause: time.Millisecond}
	want := Limits{Inserted: 3, Cloned: 400, Changed: 60, Pause: time.Millisecond}
	if a.Or(b) != want || b.Or(a) != want {
		t.Errorf("the limits are %+v and %+v, not %+v", a.Or(b), b.Or(a), want)
	}
}

// deletion is a document that is deleted: for a task, in an entry, at a millisecond.
type deletion struct {
	task  string
	index uint64
	at    int64
}

// TestDeleted: batches of a deletion are as small as operators have set, with pauses as long, and no
// other deletion comes between.
func TestDeleted(t *testing.T) {
	limits := Limits{Deleted: 2, Pause: 20 * time.Millisecond,
		Rest: time.Millisecond}
	for name, c := range map[string]struct {
		limits Limits
		ended  uint64
		over   string
		all    []deletion
		want   verdict.Signature
	}{
		"as set":       {limits, 0, "", []deletion{{"a", 1, 0}, {"a", 1, 0}, {"a", 2, 20}}, ""},
		"three":        {limits, 0, "", []deletion{{"a", 1, 0}, {"a", 1, 0}, {"a", 1, 0}}, TooLarge},
		"no limit":     {Limits{}, 0, "", []deletion{{"a", 1, 0}, {"a", 1, 0}, {"a", 1, 0}}, ""},
		"a fast clock": {limits, 0, "", []deletion{{"a", 1, 0}, {"a", 2, 14}}, ""},
		"no pause":     {limits, 0, "", []deletion{{"a", 1, 0}, {"a", 2, 13}}, TooSoon},
		"another task": {limits, 0, "", []deletion{{"a", 1, 0}, {"b", 2, 0}}, ""},
		"together": {
			limits, 0, "", []deletion{{"a", 1, 0}, {"b", 2, 0}, {"a", 3, 90}}, Together,
		},
		"begun again": {limits, 9, "", []deletion{{"a", 1, 0}, {"b", 2, 0}, {"a", 3, 90}}, ""},
		"a new one":   {limits, 0, "a", []deletion{{"a", 1, 0}, {"b", 2, 0}, {"a", 3, 1}}, ""},
	} {
		b, found := New(c.limits), verdict.Signature("")
		for i, d := range c.all {
			if c.over != "" && i == 2 {
				b.Over("n", c.over)
			}
			for _, v := range b.Deleted(Written{
				Node: "n", Task: d.task, Term: 1, Index: d.index,
				At: d.at * int64(time.Millisecond), Step: uint64(i + 1),
			}, c.ended) {
				found = v.Signature
			}
		}
		if found != c.want {
			t.Errorf("%s: %q, not %q", name, found, c.want)
		}
	}
}

// TestInserted: a recipient inserts as many documents at once as operators have set.
func TestInserted(t *testing.T) {
	b, found := New(Limits{Inserted: 1}), 0
	for _, index := range []uint64{1, 2, 3, 3, 3} {
		found += len(b.Inserted(Written{Node: "n", Task: "m", Term: 1, Index: index}))
	}
	if found != 1 {
		t.Errorf("%d violations, not one", found)
	}
}

// TestHanded: an answer is as large as operators have set, or has one element, and a clone has each
// document once.
func TestHanded(t *testing.T) {
	limits := Limits{Cloned: 100, Changed: 60}
	for name, c := range map[string]struct {
		answers []Answer
		want    verdict.Signature
	}{
		"full":      {[]Answer{{Clone: true, Number: 1, Elements: 2, Bytes: 100}}, ""},
		"one":       {[]Answer{{Clone: true, Number: 1, Elements: 1, Bytes: 900}}, ""},
		"too large": {[]Answer{{Clone: true, Number: 1, Elements: 2, Bytes: 101}}, TooLarge},
		"changes":   {[]Answer{{Number: 1, Elements: 2, Bytes: 61}}, TooLarge},
		"again": {
			[]Answer{
				{Clone: true, Number: 1, Documents: []string{"a"}},
				{Clone: true, Number: 1, Documents: []string{"a"}},
			}, "",
		},
		"twice": {
			[]Answer{
				{Clone: true, Number: 1, Documents: []string{"a"}},
				{Clone: true, Number: 2, Documents: []string{"a"}},
			}, HandedTwice,
		},
	} {
		b, found := New(limits), verdict.Signature("")
		for i := range c.answers {
			for _, v := range b.Handed(&c.answers[i]) {
				found = v.Signature
			}
		}
		if found != c.want {
			t.Errorf("%s: %q, not %q", name, found, c.want)
		}
	}
}

// TestCloned: batches of a clone come with pauses as long as operators have set, each once as many
// members as was asked for have the one before.
func TestCloned(t *testing.T) {
	const rest = 8 * time.Millisecond
	for name, c := range map[string]struct {
		second time.Duration // when the second batch comes
		lacks  uint64        // the entry that too few members have
		want   verdict.Signature
	}{
		"as set":             {second: rest},
		"a fast clock":       {second: 6 * time.Millisecond},
		"no pause":           {second: 5 * time.Millisecond, want: TooSoon},
		"the first is alone": {second: rest, lacks: 1, want: WentOn},
		"the last is alone":  {second: rest, lacks: 3, want: WentOn},
	} {
		b := New(Limits{Rest: rest})
		b.Lacking(func(w Written) string {
			if w.Index == c.lacks {
				return "it is alone"
			}
			return ""
		})
		w := Written{Node: "n", Task: "m", Term: 1, Index: 1, At: int64(time.Second)}
		all := b.Inserted(w)
		w.Index, w.At = 2, w.At+int64(c.second)
		all = append(all, b.Inserted(w)...)
		w.Index = 3
		b.Copied(w)
		all = append(all, b.Entered("n", "m")...)
		found := verdict.Signature("")
		for _, v := range all {
			found = v.Signature
		}
		if found != c.want {
			t.Errorf("%s: found %q, want %q", name, found, c.want)
		}
	}
}

// TestUnconfirmed: the next batch is deleted when a majority has the one before, unless a fault has
// ended the wait for that.
func TestUnconfirmed(t *testing.T) {
	for name, c := range map[string]struct {
		confirmed, ended uint64
		want             verdict.Signature
	}{
		"confirmed":     {confirmed: 1},
		"not confirmed": {want: TooEarly},
		"killed":        {ended: 2},
	} {
		b := New(Limits{})
		b.Unconfirmed(func(w Written) bool { return w.Index > c.confirmed })
		w := Written{Node: "n", Task: "m", Term: 1, Index: 1, Step: 1}
		found := verdict.Signature("")
		for range 2 {
			for _, v := range b.Deleted(w, c.ended) {
				found = v.Signature
			}
			w.Index, w.Step, w.At = w.Index+1, w.Step+1, w.At+int64(time.Second)
		}
		if found != c.want {
			t.Errorf("%s: found %q, want %q", name, found, c.want)
		}
	}
}
