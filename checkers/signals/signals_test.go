package signals

import (
	"testing"

	"github.com/shardproof/shardproof/checkers/verdict"
	"github.com/shardproof/shardproof/histories/trace"
)

// entries is a log: entries tell secondaries to forget the placement of the collection they name.
type entries struct{ told []string }

func (l *entries) Last() uint64 { return uint64(len(l.told)) }

func (l *entries) Tells(ns string, behind uint64) bool {
	for _, of := range l.told[behind:] {
		if of == ns {
			return true
		}
	}
	return false
}

// TestSignal: a signal counts from the moment when its donor blocks writes, and for its collection.
func TestSignal(t *testing.T) {
	const blocks, commits, ends = trace.DonorCriticalSection, trace.DonorCommittingOnConfig,
		trace.DonorDone
	for name, c := range map[string]struct {
		steps []any // a collection that the log has a signal for, or a state of the donor
		want  verdict.Signature
	}{
		"in time":                {[]any{blocks, "t.c", commits}, ""},
		"too early":              {[]any{"t.c", blocks, commits}, notTold},
		"never":                  {[]any{blocks, commits}, notTold},
		"of another":             {[]any{blocks, "t.d", commits}, notTold},
		"again in another one":   {[]any{blocks, "t.c", ends, blocks, commits}, notTold},
		"an end without a word":  {[]any{blocks, ends}, ""},
		"a beginning not seen":   {[]any{commits}, ""},
		"other entries in front": {[]any{"t.d", blocks, "", "t.c", "", commits}, ""},
	} {
		log := &entries{}
		j := New(func(string) Log { return log })
		for i, s := range c.steps {
			if state, advances := s.(trace.DonorState); advances {
				e := trace.DonorAdvancedEvent{NS: "t.c", Migration: "m1", State: state}.Event()
				e.Node, e.Step = "a.0", uint64(i+1)
				j.Observe(e)
			} else {
				log.told = append(log.told, s.(string))
			}
		}
		var got verdict.Signature
		if v := j.Verdict(); len(v.Violations) > 0 {
			got = v.Violations[0].Signature
		}
		if got != c.want {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// TestDown: the log of a node that is down is not looked at.
func TestDown(t *testing.T) {
	j := New(func(string) Log { return nil })
	j.Observe(trace.DonorAdvancedEvent{State: trace.DonorCommittingOnConfig}.Event())
	if v := j.Verdict(); v.Checked != 0 || len(v.Violations) != 0 {
		t.Errorf("the verdict is %+v", v)
	}
}
