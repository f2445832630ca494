package checkers

import (
	"fmt"
	"time"

	"github.com/shardproof/shardproof/checkers/linearize"
	"github.com/shardproof/shardproof/checkers/verdict"
)

// Linearizability searches for an order wherever the identity check has no answer, on a sample of
// the rest, and on every contradiction.
var Linearizability = Checker{
	Name: "linearizability",
	Promise: "The operations on each key have an order that respects real time and explains " +
		"all their results.",
	Signatures: Meanings{
		NotLinearizable: "no order of a key's operations explains their results",
	},
}

// NotLinearizable is the signature of a key of which all operations together are the proof.
const NotLinearizable Signature = "not-linearizable"

// Limits bound what checking may cost; a limit that is reached makes the verdict undecided, with
// the limit's name. The zero Limits are the standard ones.
type Limits struct {
	// Steps is how many steps the search of one key may take, 0 for any number: a limit that is
	// reached on every machine or on none.
	Steps int
	// Search is the longest time for one key. Left says how much time is left for all of them; nil
	// for any.
	Search time.Duration
	Left   func() time.Duration
	// Acts is the most operations on a key that are searched where too much happens at a time to
	// follow it.
	Acts int
	// Sample is how many operations of keys that are explained already may be searched again.
	Sample int
	// Stop names another limit that is reached, such as that of memory, and is empty before that;
	// nil for none.
	Stop func() string
	// FirstProof ends the search at the first key that is proven to have no order.
	FirstProof bool
}

func (l *Limits) isZero() bool {
	return l.Steps == 0 && l.Search == 0 && l.Left == nil && l.Stop == nil && l.Acts == 0 &&
		l.Sample == 0 && !l.FirstProof
}

// StandardLimits are those of a run. The limit of time is for machines that are so slow that the
// steps, which take a second or two elsewhere, would not end.
func StandardLimits() Limits {
	return Limits{Steps: 1 << 21, Search: time.Minute, Acts: 5000, Sample: 40}
}

var _ = declare(20, &Linearizability, func(h *history) Verdict {
	s := keySearch{keyed: h.keyed, limits: h.limits, verdict: Linearizability.Begin()}
	s.judge(h.findUnique())
	return s.verdict
})

// keySearch is the search of one history.
type keySearch struct {
	keyed
	limits  Limits
	verdict Verdict
}

func (s *keySearch) judge(f *uniqueFindings) {
	for _, i := range f.broken {
		s.confirm(&s.keys[i])
		if s.limits.FirstProof {
			return // confirmed or not, it is proven by unique-writes
		}
	}
	for _, i := range f.open {
		s.decide(&s.keys[i])
		if s.limits.FirstProof && s.verdict.Outcome == Fail {
			return
		}
	}
	s.sample(f.explained)
}

// search is that of one key, in what is left of the time.
func (s *keySearch) search(k *linearize.Key) linearize.Found {
	bound := linearize.Limits{
		Steps: s.limits.Steps, Time: s.limits.Search, Acts: s.limits.Acts, Stop: s.limits.Stop,
	}
	if s.limits.Left != nil {
		bound.Time = min(bound.Time, s.limits.Left())
	}
	s.verdict.Checked += len(k.Acts)
	return k.Search(bound)
}

// decide judges a key that nobody has judged yet.
func (s *keySearch) decide(k *linearize.Key) {
	switch found := s.search(k); found.Answer {
	case linearize.Contradiction:
		s.verdict.Add(s.unexplained(k, found.Core))
	case linearize.Open:
		s.verdict.LeaveOpen("k=%d of %s: %s", k.Key, k.NS, found.Exceeded)
	}
}

// unexplained tells the core of a contradiction: what the other operations on the key were answered
// does not matter.
func (h keyed) unexplained(k *linearize.Key, core []int32) Violation {
	violation := h.about(k, NotLinearizable)
	violation.Broke = "k=" + violation.Key +
		": no order of its operations respects real time and explains their results"
	if n := len(core); n > 0 && n < len(k.Acts) {
		violation.Broke = fmt.Sprintf("k=%s: no order explains %s, whatever else was answered "+
			"on it", violation.Key, countedResults(n))
	}
	for _, i := range core[:min(len(core), verdict.MaxViolations)] {
		op := int(k.Acts[i].Op)
		violation.Ops = append(violation.Ops, h.ops.Op(op).ID)
		violation.Because = append(violation.Because, h.tell(op))
	}
	return violation
}

func countedResults(n int) string {
	if n == 1 {
		return "the result of this operation"
	}
	return fmt.Sprintf("the results of these %d operations", n)
}

// confirm has a proven contradiction proven a second time. A search that finds an order would mean
// that a checker is wrong, which is said and leaves the run undecided at best.
func (s *keySearch) confirm(k *linearize.Key) {
	switch found := s.search(k); found.Answer {
	case linearize.Contradiction:
		s.verdict.Add(s.unexplained(k, found.Core))
	case linearize.Explained:
		s.verdict.LeaveOpen(
			"k=%d of %s: checkers disagree: unique-writes found a contradiction, and the search "+
				"found an order", k.Key, k.NS,
		)
	}
}

// sample searches some keys that have an order already, others in every run, so that an error in
// the fast way cannot hide for long.
func (s *keySearch) sample(explained []int) {
	budget := s.limits.Sample
	for n := range explained {
		k := &s.keys[explained[(n*7919+s.ops.Len())%len(explained)]]
		if budget -= len(k.Acts); budget < 0 {
			return
		}
		if s.search(k).Answer == linearize.Contradiction {
			s.verdict.LeaveOpen(
				"k=%d of %s: checkers disagree: unique-writes found an order, and the search "+
					"found none", k.Key, k.NS,
			)
		}
	}
}
