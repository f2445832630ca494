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

// Limits bound what checking may cost; a limit that is reached makes the verdict undecided. The
// zero Limits are the standard ones.
type Limits struct {
	// Search is the longest time for one key, Acts the most operations on it.
	Search time.Duration
	Acts   int
	// Sample is how many operations of keys that are explained already may be searched again.
	Sample int
}

// StandardLimits are those of a run.
func StandardLimits() Limits { return Limits{Search: 2 * time.Second, Acts: 5000, Sample: 40} }

var _ = declare(20, &Linearizability, checkLinearizability)

func checkLinearizability(h *history) Verdict {
	v, f, limits := Linearizability.Begin(), h.findUnique(), h.limits
	bound := linearize.Limits{Time: limits.Search, Acts: limits.Acts}
	for _, i := range f.open {
		h.decide(&v, &h.keys[i], bound)
	}
	for _, i := range f.broken {
		h.confirm(&v, &h.keys[i], bound)
	}
	h.sample(&v, f.explained, limits.Sample, bound)
	return v
}

// decide judges a key that nobody has judged yet.
func (h keyed) decide(v *Verdict, k *linearize.Key, bound linearize.Limits) {
	v.Checked += len(k.Acts)
	switch k.Search(bound) {
	case linearize.Contradiction:
		v.Add(h.unexplained(k))
	case linearize.Open:
		v.LeaveOpen("k=%d of %s: %d operations are too many to search within the limits",
			k.Key, k.NS, len(k.Acts))
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
func (h keyed) confirm(v *Verdict, k *linearize.Key, bound linearize.Limits) {
	v.Checked += len(k.Acts)
	switch k.Search(bound) {
	case linearize.Contradiction:
		v.Add(h.unexplained(k))
	case linearize.Explained:
		v.LeaveOpen(
			"k=%d of %s: checkers disagree: unique-writes found a contradiction, and the search "+
				"found an order", k.Key, k.NS,
		)
	}
}

// sample searches some keys that have an order already, others in every run, so that an error in
// the fast way cannot hide for long.
func (h keyed) sample(v *Verdict, explained []int, budget int, bound linearize.Limits) {
	for n := range explained {
		k := &h.keys[explained[(n*7919+len(h.ops))%len(explained)]]
		if budget -= len(k.Acts); budget < 0 {
			return
		}
		v.Checked += len(k.Acts)
		if k.Search(bound) == linearize.Contradiction {
			v.LeaveOpen(
				"k=%d of %s: checkers disagree: unique-writes found an order, and the search "+
					"found none", k.Key, k.NS,
			)
		}
	}
}
