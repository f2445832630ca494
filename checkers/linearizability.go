package checkers

import (
	"time"

	"github.com/shardproof/shardproof/checkers/linearize"
	"github.com/shardproof/shardproof/checkers/verdict"
)

// Linearizability asks the judge of linearizability, porcupine, wherever the identity check has no
// answer, on a sample of the rest, and on every contradiction.
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
	// Search is the longest time for one key. Left says how much time is left for all of them; nil
	// for any.
	Search time.Duration
	Left   func() time.Duration
	// Acts is the most operations on a key that are searched.
	Acts int
	// Sample is how many operations of keys that are explained already may be searched again.
	Sample int
	// FirstProof ends the search at the first key that is proven to have no order.
	FirstProof bool
}

func (l *Limits) isZero() bool {
	return l.Search == 0 && l.Left == nil && l.Acts == 0 && l.Sample == 0 && !l.FirstProof
}

// StandardLimits are those of a run.
func StandardLimits() Limits { return Limits{Search: 2 * time.Second, Acts: 5000, Sample: 40} }

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
func (s *keySearch) search(k *linearize.Key) (answer linearize.Answer, exceeded string) {
	bound := linearize.Limits{Time: s.limits.Search, Acts: s.limits.Acts}
	if s.limits.Left != nil {
		bound.Time = min(bound.Time, s.limits.Left())
	}
	answer, exceeded = k.Search(bound)
	s.verdict.Checked += len(k.Acts)
	return answer, exceeded
}

// decide judges a key that nobody has judged yet.
func (s *keySearch) decide(k *linearize.Key) {
	switch answer, exceeded := s.search(k); answer {
	case linearize.Contradiction:
		s.verdict.Add(s.unexplained(k))
	case linearize.Open:
		s.verdict.LeaveOpen("k=%d of %s: %s", k.Key, k.NS, exceeded)
	}
}

func (h keyed) unexplained(k *linearize.Key) Violation {
	violation := h.about(k, NotLinearizable)
	violation.Broke = "k=" + violation.Key +
		": no order of its operations respects real time and explains their results"
	for i := range min(len(k.Acts), verdict.MaxViolations) {
		violation.Ops = append(violation.Ops, h.ops[k.Acts[i].Op].ID)
		violation.Because = append(violation.Because, h.tell(int(k.Acts[i].Op)))
	}
	return violation
}

// confirm has a proven contradiction proven a second time. A search that finds an order would mean
// that a checker is wrong, which is said and leaves the run undecided at best.
func (s *keySearch) confirm(k *linearize.Key) {
	switch answer, _ := s.search(k); answer {
	case linearize.Contradiction:
		s.verdict.Add(s.unexplained(k))
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
		k := &s.keys[explained[(n*7919+len(s.ops))%len(explained)]]
		if budget -= len(k.Acts); budget < 0 {
			return
		}
		if answer, _ := s.search(k); answer == linearize.Contradiction {
			s.verdict.LeaveOpen(
				"k=%d of %s: checkers disagree: unique-writes found an order, and the search "+
					"found none", k.Key, k.NS,
			)
		}
	}
}
