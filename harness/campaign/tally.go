package campaign

import (
	"slices"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/runner"
)

// Sums are what several commands have done together, and the time that they took.
type Sums struct {
	*runner.Counters
	CPU, Wall time.Duration
}

// NewSums returns sums at zero.
func NewSums() Sums { return Sums{Counters: runner.NewCounters()} }

// Fit takes counts of failpoints out that another build has made, to which the numbers stand for
// others.
func (s *Sums) Fit() {
	if fresh := runner.NewCounters(); len(s.Sites) != len(fresh.Sites) {
		s.Sites = fresh.Sites
	}
}

// Tally is what the commands of one campaign, or the machines of one, have done together.
type Tally struct {
	// Seeds is how many lines of the journal are counted here, Wanted how many seeds were asked
	// for; zero: as many as the time allowed.
	Seeds, Wanted int
	Sum           Sums
	// Violations counts the seeds that broke a promise, Diverged those that took another path the
	// second time.
	Violations, Undecided, Repeated, Diverged int
	// Last is the greatest seed of all, Slowest are those that took longest.
	Last    uint64
	Slowest []Slow
	Reached Reached
}

// With is the tally with what a command has done so far, in so much processor time.
func (t *Tally) With(s *Summary, cpu time.Duration) *Tally {
	more := Tally{
		Seeds: s.Runs, Sum: Sums{&s.Counters, cpu, s.Wall},
		Violations: s.broken(), Undecided: s.Undecided, Repeated: s.Repeated,
		Diverged: s.diverged(), Last: s.Last, Slowest: s.Slowest, Reached: s.Reached,
	}
	all := t.Plus(&more)
	all.Wanted = t.Wanted
	return all
}

// Plus is what two tallies of disjoint seeds have done together.
func (t *Tally) Plus(o *Tally) *Tally {
	all := &Tally{
		Seeds: t.Seeds + o.Seeds, Wanted: t.Wanted + o.Wanted, Sum: NewSums(),
		Violations: t.Violations + o.Violations, Undecided: t.Undecided + o.Undecided,
		Repeated: t.Repeated + o.Repeated, Diverged: t.Diverged + o.Diverged,
		Last:    max(t.Last, o.Last),
		Slowest: slowest(slices.Concat(t.Slowest, o.Slowest)), Reached: make(Reached),
	}
	for _, part := range []*Tally{t, o} {
		if part.Sum.Counters != nil {
			all.Sum.Add(part.Sum.Counters)
		}
		all.Sum.CPU, all.Sum.Wall = all.Sum.CPU+part.Sum.CPU, all.Sum.Wall+part.Sum.Wall
		all.Reached.Add(part.Reached)
	}
	return all
}

// broken counts the seeds that broke a promise.
func (s *Summary) broken() (n int) {
	//shardproof:allow map sums do not depend on the order
	for _, known := range s.Known {
		n += known
	}
	for i := range s.Failures {
		f := &s.Failures[i]
		if f.finished() && f.Result.Worst().Outcome == checkers.Fail {
			n++
		}
	}
	return n
}

func (s *Summary) diverged() (n int) {
	for i := range s.Failures {
		if s.Failures[i].Diverged != "" {
			n++
		}
	}
	return n
}
