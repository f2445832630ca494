package campaign

import (
	"cmp"
	"slices"
	"time"

	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/system/failpoint"
)

// Reached is what runs came to, by name: failpoint sites, probes, kinds of faults, and states of a
// migration in which a fault began or a primary was lost. Those of disjoint seeds add up to that of
// all, in whatever order the seeds ran.
type Reached map[string]Reach

// Reach is what became of the runs that reached something.
type Reach struct {
	// First is the smallest seed that reached it.
	First uint64 `json:"first"`
	// Runs is how many seeds did, Held in how many of those every promise held.
	Runs int `json:"runs"`
	Held int `json:"held"`
}

// The names of what is reached begin with one of these.
const (
	SiteReached      = "site "
	ProbeReached     = "probe "
	FaultReached     = "fault "
	FaultInReached   = "fault-in "
	DonorReached     = "donor-lost "
	RecipientReached = "recipient-lost "
)

// note counts what a run of a seed has reached.
func (r Reached) note(seed uint64, of *runner.Result) {
	held, c := of.Passed(), of.Counters
	add := func(name string, n int) {
		if n > 0 {
			r.add(name, one(seed, held))
		}
	}
	for site, n := range c.Sites {
		if n > 0 {
			add(SiteReached+failpoint.Site(site).String(), 1)
		}
	}
	//shardproof:allow map each name is counted by itself
	for in, n := range c.FaultsIn {
		add(FaultInReached+in.Kind+" "+in.State, n)
	}
	for prefix, counts := range map[string]map[string]int{ //shardproof:allow map as above
		ProbeReached: c.Probes, FaultReached: c.Faults, DonorReached: c.DonorFailover,
		RecipientReached: c.RecipientCrash,
	} {
		for name, n := range counts { //shardproof:allow map as above
			add(prefix+name, n)
		}
	}
}

func one(seed uint64, held bool) Reach {
	if held {
		return Reach{seed, 1, 1}
	}
	return Reach{seed, 1, 0}
}

func (r Reached) add(name string, more Reach) {
	if was, ok := r[name]; ok {
		more = Reach{min(was.First, more.First), was.Runs + more.Runs, was.Held + more.Held}
	}
	r[name] = more
}

// Add takes over what other seeds have reached.
func (r Reached) Add(o Reached) {
	for name, more := range o { //shardproof:allow map each name is counted by itself
		r.add(name, more)
	}
}

// News are the seeds that were the first to reach something, in ascending order, once for each
// thing: how fast a campaign still finds what is new to it.
func (r Reached) News() []uint64 {
	var seeds []uint64
	for _, one := range r { //shardproof:allow map sorted below
		seeds = append(seeds, one.First)
	}
	slices.Sort(seeds)
	return seeds
}

// Slow is a seed with the wall-clock time that it took.
type Slow struct {
	Seed uint64        `json:"seed"`
	Took time.Duration `json:"took"`
}

// slowestMost is how many of the slowest seeds are named.
const slowestMost = 10

// slowest sorts seeds, and leaves out all but the slowest.
func slowest(all []Slow) []Slow {
	slices.SortFunc(all, func(a, b Slow) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), cmp.Compare(a.Seed, b.Seed))
	})
	return all[:min(len(all), slowestMost)]
}
