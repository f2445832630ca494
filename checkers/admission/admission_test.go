package admission

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

func found(j *Judge) verdict.Signature {
	if v := j.Verdict(); len(v.Violations) > 0 {
		return v.Violations[0].Signature
	}
	return ""
}

// TestParts: a member that begins to take part in a migration takes part in no other.
func TestParts(t *testing.T) {
	for name, c := range map[string]struct {
		parts []string
		want  verdict.Signature
	}{
		"one":  {[]string{"donor of m"}, ""},
		"two":  {[]string{"donor of m", "recipient of n"}, twoAtOnce},
		"none": {nil, ""},
	} {
		j := New(func(string) uint64 { return 0 }, func(string) []string { return c.parts })
		j.Observe(trace.MigrationRequestedEvent{Shard: "a", Migration: "m"}.Event())
		if got := found(j); got != c.want {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// TestTooBig: the size counts once a migration has begun to clone that nobody wants by force.
func TestTooBig(t *testing.T) {
	type asked struct {
		forced bool
		bytes  int64
	}
	for name, c := range map[string]struct {
		asked     []asked
		unbegun   bool
		documents int64
		want      verdict.Signature
		unlimited bool
	}{
		"small":            {asked: []asked{{bytes: 100}}, documents: 4},
		"too big":          {asked: []asked{{bytes: 100}}, documents: 5, want: tooBig},
		"by force":         {asked: []asked{{}, {forced: true}}, unlimited: true},
		"not asked for":    {unlimited: true},
		"not yet attached": {asked: []asked{{}}, unbegun: true, unlimited: true},
	} {
		j := New(func(string) uint64 { return 7 }, func(string) []string { return nil })
		for _, a := range c.asked {
			j.Asked("move 1", a.forced, a.bytes)
		}
		j.Observe(trace.MigrationRequestedEvent{Request: "move 1", Migration: "m"}.Event())
		if !c.unbegun {
			j.Observe(trace.DonorAdvancedEvent{Migration: "m", State: trace.DonorCloning}.Event())
		}
		after, bytes, limited := j.Cloning("m")
		if limited == c.unlimited || limited && (after != 7 || bytes != 100) {
			t.Errorf("%s: after %d, %d bytes, limited: %t", name, after, bytes, limited)
		}
		if limited {
			j.HandsOver("a.0", "m", "t.c", c.documents, 4)
		}
		if got := found(j); got != c.want {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}
