package changelog

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
)

// TestJudge: what is in the log was asked for and has happened, and what must be there is.
func TestJudge(t *testing.T) {
	about := func(what string) Entry {
		return Entry{
			What: what, NS: "test.docs", Server: "shard-a.0", Details: "m", Migration: "m",
			From: "shard-a", To: "shard-b", Min: "1", Max: "5",
		}
	}
	with := func(e Entry, change func(*Entry)) Entry {
		change(&e)
		return e
	}
	start, commit, failed := about(Started), about(Committed), about(Failed)
	received := with(about(Received), func(e *Entry) { e.Server = "shard-b.1" })
	moved := Move{
		NS: "test.docs", From: "shard-a", To: "shard-b", Min: "1", Max: "5", Committed: true,
	}
	cloned, over, aborted, gave, got := moved, moved, moved, moved, moved
	cloned.Cloned, over.Over, aborted.Committed, gave.Gave, got.Got = true, true, false, true, true
	told := func(what ...string) (all []Entry) {
		for _, one := range what {
			all = append(all, about(one))
		}
		return all
	}
	for name, c := range map[string]struct {
		asked, answered, has []Entry
		move                 Move
		want                 verdict.Signature
	}{
		"everything": {
			[]Entry{start, commit, received}, []Entry{start}, []Entry{start, commit, received},
			cloned, "",
		},
		"all of a donor":        {told(Committed, Gave), nil, told(Committed, Gave), gave, ""},
		"a donor that waited":   {told(Committed, Failed), nil, told(Committed, Failed), gave, ""},
		"no commit":             {told(Gave), nil, told(Gave), gave, Missing},
		"no steps of a donor":   {told(Committed), nil, told(Committed), gave, Missing},
		"all of a recipient":    {[]Entry{received}, nil, []Entry{received}, got, ""},
		"none of a recipient":   {nil, nil, nil, got, Missing},
		"one lost":              {[]Entry{commit}, nil, nil, moved, ""},
		"acknowledged":          {[]Entry{commit}, []Entry{commit}, nil, moved, Missing},
		"cloned":                {nil, nil, nil, cloned, Missing},
		"not asked for":         {nil, nil, []Entry{start}, moved, Unasked},
		"twice":                 {[]Entry{start}, nil, []Entry{start, start}, moved, Unasked},
		"twice as asked for":    {[]Entry{start, start}, nil, []Entry{start, start}, moved, ""},
		"not committed":         {[]Entry{commit}, nil, []Entry{commit}, aborted, Untrue},
		"failed":                {[]Entry{failed}, nil, []Entry{failed}, aborted, ""},
		"failed, and completed": {[]Entry{failed}, nil, []Entry{failed}, over, Untrue},
		"by another": {
			[]Entry{about(Received)}, nil, []Entry{about(Received)}, moved, Untrue,
		},
		"to another": {
			[]Entry{with(start, func(e *Entry) { e.To = "shard-c" })}, nil,
			[]Entry{with(start, func(e *Entry) { e.To = "shard-c" })}, moved, Untrue,
		},
		"another range": {
			[]Entry{with(start, func(e *Entry) { e.Max = "4" })}, nil,
			[]Entry{with(start, func(e *Entry) { e.Max = "4" })}, moved, Untrue,
		},
		"no range yet": {
			[]Entry{with(start, func(e *Entry) { e.Max = "" })}, nil,
			[]Entry{with(start, func(e *Entry) { e.Max = "" })}, moved, "",
		},
	} {
		l, found := New(), verdict.Signature("")
		for _, e := range c.asked {
			l.Asked(e)
		}
		for _, e := range c.answered {
			l.Answered(e, 1)
		}
		know := func(string) *Move { return &c.move }
		for _, v := range l.Judge(c.has, []string{"m"}, know) {
			found = v.Signature
		}
		if found != c.want {
			t.Errorf("%s: %q, not %q", name, found, c.want)
		}
	}
}

// TestActions: the records of the balancer are the newest ones, as many as there may be.
func TestActions(t *testing.T) {
	for name, c := range map[string]struct {
		numbers []int64
		most    int
		want    verdict.Signature
	}{
		"none":     {nil, 2, ""},
		"newest":   {[]int64{7, 8}, 2, ""},
		"more":     {[]int64{6, 7, 8}, 2, Unasked},
		"any":      {[]int64{6, 7, 8}, 0, ""},
		"one gone": {[]int64{5, 7, 8}, 3, Missing},
	} {
		found := verdict.Signature("")
		for _, v := range Actions(c.numbers, c.most) {
			found = v.Signature
		}
		if found != c.want {
			t.Errorf("%s: %q, not %q", name, found, c.want)
		}
	}
}
