package checkers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shardproof/shardproof/histories"
)

// crowded adds n operations on a key that all overlap, of values that are written twice, so that
// only a search could decide them.
func (b *build) crowded(key int64, n int) *build {
	from := b.clock
	for i := range n {
		b.op("upsert", key, fmt.Sprint("w", i/2), client(i), func(o *histories.Op) {
			o.Call, o.Return = from+1, from+uint64(2*n)
		})
	}
	return b
}

// broken adds a key that only a search finds to be broken.
func (b *build) broken(key int64) *build {
	return b.op("upsert", key, "a").op("upsert", key, "a").read(key, "")
}

func searched(t *testing.T, ops []histories.Op, limits Limits) Verdict {
	t.Helper()
	verdicts := Check(ops, limits)
	i := slices.IndexFunc(verdicts, func(v Verdict) bool {
		return v.Checker == Linearizability.Name
	})
	if i < 0 {
		t.Fatal("the search has no verdict")
	}
	return verdicts[i]
}

// A search that a limit ends leaves its key undecided, and names this limit and no other.
func TestLimits(t *testing.T) {
	spent := []time.Duration{time.Hour, 0}
	left := func() time.Duration {
		d := spent[0]
		spent = spent[min(1, len(spent)-1):]
		return d
	}
	const ended = "the search of its 30 operations was ended by the limit of "
	for name, c := range map[string]struct {
		history *build
		limits  Limits
		want    []string
	}{
		"steps of a key": {
			new(build).crowded(1, 30), Limits{Steps: 255, Search: time.Hour},
			[]string{"k=1 of test.docs: " + ended + "255 steps"},
		},
		"time of a key": {
			new(build).crowded(1, 30), Limits{Search: 1},
			[]string{"k=1 of test.docs: " + ended + "time"},
		},
		"memory": {
			new(build).crowded(1, 30),
			Limits{Search: time.Hour, Stop: func() string { return "the limit of memory" }},
			[]string{"k=1 of test.docs: " + ended + "memory"},
		},
		"time of all keys": {
			new(build).op("upsert", 1, "a").op("upsert", 1, "a").op("upsert", 2, "a").op(
				"upsert", 2, "a").op("upsert", 3, "a").op("upsert", 3, "a"),
			Limits{Search: time.Hour, Left: left},
			[]string{
				"k=2 of test.docs: no time was left to search its operations",
				"k=3 of test.docs: no time was left to search its operations",
			},
		},
		"operations": {
			new(build).crowded(1, 70), Limits{Search: time.Hour, Acts: 69},
			[]string{"k=1 of test.docs: too much happens at a time, and its 70 operations are " +
				"more than the 69 that a search may then have"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := searched(t, c.history.ops, c.limits)
			if v.Outcome != Undecided || len(v.Undecided) != len(c.want) {
				t.Fatalf("%s: %q", v.Outcome, v.Undecided)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(v.Undecided[i], want) {
					t.Errorf("%q, not %q", v.Undecided[i], want)
				}
			}
		})
	}
}

// What is proven needs no further search if one proof is enough, and what is explained none at all
// beyond the sample.
func TestSearched(t *testing.T) {
	lost := func(b *build, key int64) *build {
		return b.op("insert", key, "a").op("write", key, "b", found("a")).read(key, "a")
	}
	list := new(build).op("insert", 1, "a")
	for i := range 1000 {
		list.op("push", 1, fmt.Sprint("p", i))
	}
	short := new(build).op("insert", 1, "a").op("push", 1, "p")
	three := new(build).broken(1).broken(2).broken(3)
	for name, c := range map[string]struct {
		history *build
		first   bool
		want    int
	}{
		"every broken key":                  {three, false, 9},
		"the first broken key":              {three, true, 3},
		"each contradiction":                {lost(lost(new(build), 1), 2), false, 6},
		"the first contradiction":           {lost(lost(new(build), 1), 2), true, 3},
		"nothing after a contradiction":     {lost(new(build), 1).broken(2), true, 3},
		"a long list that is explained":     {list, false, 0},
		"a short list, which is a sample":   {short, false, 2},
		"what is explained, before a proof": {new(build).op("insert", 1, "a").broken(2), true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			limits := StandardLimits()
			limits.FirstProof = c.first
			if v := searched(t, c.history.ops, limits); v.Checked != c.want {
				t.Errorf("%d operations were searched, not %d: %+v", v.Checked, c.want, v)
			}
		})
	}
}
