package explore

import "github.com/shardproof/shardproof/harness"

// batch is how many trials a strategy that learns nothing from them makes at a time.
const batch = 32

// random draws a scenario from each seed.
type random struct {
	Start
	used, done int
}

func newRandom(s Start) Strategy { return &random{Start: s} }

func (r *random) Next() (trials []Trial) {
	for range batch {
		if r.enough(r.used) {
			break
		}
		s := harness.MixedOf(r.Seed+uint64(r.used), r.Protocol)
		s.Name = "random-" + s.Name
		trials = append(trials, Trial{Scenario: s})
		r.used++
	}
	return trials
}

func (r *random) Learn(int, *Outcome) { r.done++ }

func (r *random) Over() int { return r.done }
