// Package campaign runs many seeds on all cores and adds up what they did. It and the command line
// are the only places with a wall clock, and with harness/parallel those with goroutines: each
// seed's world is a thing of its own on one goroutine.
//
// Promise: every seed it started and finished is in the summary; a share of the seeds is run twice
// and the trace hashes are compared; a failure is reported when it happens; when the campaign stops
// early, partial results are kept.
//
// Refusal: it does not search: seeds run in order, and no result changes what runs next.
package campaign

import (
	"context"
	"fmt"
	"runtime"
	"sort"
	"sync"
	"time"

	"github.com/shardproof/shardproof/checkers"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/harness/target"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
)

// Options say what to run.
type Options struct {
	// Targets are the systems that scenarios may name.
	Targets target.Set
	// Draw makes the scenario of a seed.
	Draw func(seed uint64) *scenario.Scenario
	// First is the first seed; the others follow. Seeds is how many, zero: until the context ends.
	First uint64
	Seeds int
	// Workers is how many seeds run at a time; zero: one for each core.
	Workers int
	// KeepGoing goes on after a failure, until Failures of them (zero: no limit) are collected.
	KeepGoing bool
	Failures  int
	// Again is how many seeds in a hundred are run twice to compare hashes: the second time from
	// the printed plan, in which everything that chance decided the first time is written down.
	Again int
	// Patience is how long one seed may take on the wall clock while the process runs; zero: two
	// minutes.
	Patience time.Duration
	// Skip, when set, says which seeds need not be run: an earlier part of the campaign has
	// finished them.
	Skip func(seed uint64) bool
	// Known, when set, says which kinds of failures are known (runner.Result.Kind): broken promises
	// with one are counted, but do not stop the campaign.
	Known func(kind string) bool
	// Another, when set, is called for every broken promise of a known kind, which may be another
	// one that looks the same. What it returns ends the campaign when it is not nil.
	Another func(*Failure) error
	// Progress is called after every seed, Failed before it for one that did not pass, Finished
	// between the two for every seed that ran to its end and has a result; one call at a time. What
	// Finished and Failed return ends the campaign when it is not nil.
	Progress func(*Summary)
	Failed   func(*Failure, *Summary) error
	Finished func(of Outcome, s *Summary) error
}

// Failure is a seed that did not pass.
type Failure struct {
	Seed   uint64
	Result *runner.Result
	// Err is set when the run itself could not be carried out; Result is nil then.
	Err error
	// Diverged is the hash of a second run of the same scenario that took another path.
	Diverged string
}

// Summary is what a campaign did so far.
type Summary struct {
	runner.Counters
	// Wanted is how many seeds were asked for, zero when unbounded.
	Wanted    int
	Repeated  int
	Undecided int
	Failures  []Failure
	// Known counts failures of a known kind, which are not among Failures.
	Known map[string]int
	// Broken is why the campaign could not go on: what it found could not be kept.
	Broken error
	Wall   time.Duration
	// Interrupted is true when the context ended before the seeds.
	Interrupted bool
	// Last is the greatest seed that was run.
	Last uint64
	// Reached is what the runs came to, and how they ended.
	Reached Reached
	// Slowest are the seeds that took longest, the slowest first.
	Slowest []Slow
}

// Run carries the campaign out.
func Run(ctx context.Context, o Options) *Summary {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Patience == 0 {
		o.Patience = 2 * time.Minute
	}
	c := &campaign{Options: o, begun: time.Now(), next: o.First}
	c.summary.Counters = *runner.NewCounters()
	c.summary.Wanted, c.summary.Known = o.Seeds, make(map[string]int)
	c.summary.Reached = make(Reached)
	var workers sync.WaitGroup
	for range o.Workers {
		workers.Go(func() { c.work(ctx) })
	}
	workers.Wait()
	c.summary.Wall = time.Since(c.begun)
	c.summary.Interrupted = ctx.Err() != nil && o.Seeds > 0
	sort.Slice(c.summary.Failures, func(i, j int) bool {
		return c.summary.Failures[i].Seed < c.summary.Failures[j].Seed
	})
	return &c.summary
}

type campaign struct {
	Options
	begun time.Time

	mu      sync.Mutex
	next    uint64
	stopped bool
	summary Summary
}

// work runs seeds until there are none left.
func (c *campaign) work(ctx context.Context) {
	pool := &sim.Pool{}
	defer pool.Close()
	for {
		seed, ok := c.take(ctx)
		if !ok {
			return
		}
		begun := time.Now()
		f, again := c.seed(seed, pool)
		c.done(f, again, time.Since(begun))
	}
}

func (c *campaign) take(ctx context.Context) (uint64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; ; c.next++ {
		if c.stopped || ctx.Err() != nil || c.Seeds > 0 && c.next >= c.First+uint64(c.Seeds) {
			return 0, false
		}
		if c.Skip == nil || !c.Skip(c.next) {
			c.next++
			return c.next - 1, true
		}
	}
}

// seed runs one seed, and some of them twice.
func (c *campaign) seed(seed uint64, pool *sim.Pool) (f Failure, again bool) {
	s := c.Draw(seed)
	f = c.attempt(s, pool)
	f.Seed = seed
	if f.Err != nil || int(seed*2654435761%100) >= c.Again {
		return f, false
	}
	plan, err := runner.Parse(c.Targets, "plan", f.Result.Plan().String())
	if err != nil {
		return Failure{
			Seed: seed,
			Err:  fmt.Errorf("the scenario of seed %d, printed, cannot be parsed: %w", seed, err),
		}, true
	}
	if second := c.attempt(plan, pool); second.Err != nil {
		f.Diverged = second.Err.Error()
	} else if second.Result.Hash != f.Result.Hash {
		f.Diverged = second.Result.HashText()
	}
	return f, true
}

// attempt runs a scenario and gives up on one that hangs: a task that never waits cannot be stopped
// from outside.
func (c *campaign) attempt(s *scenario.Scenario, pool *sim.Pool) Failure {
	type outcome struct {
		result *runner.Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := runner.Run(s, runner.Options{Targets: c.Targets, Pool: pool})
		done <- outcome{r, err}
	}()
	ticks := time.NewTicker(c.Patience / patienceTicks)
	defer ticks.Stop()
	for range patienceTicks {
		select {
		case o := <-done:
			return Failure{Result: o.result, Err: o.err}
		case <-ticks.C:
		}
	}
	*pool = sim.Pool{}
	return Failure{Err: fmt.Errorf("seed %d was aborted after %s of wall-clock time:\n%s",
		s.Seed, c.Patience, allStacks())}
}

// patienceTicks is in how many ticks the patience with a seed is counted: for as long as the
// process is stopped, or its machine asleep, there is at most one.
const patienceTicks = 120

func allStacks() []byte {
	buf := make([]byte, 1<<16)
	return buf[:runtime.Stack(buf, true)]
}

func (c *campaign) done(f Failure, again bool, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.summary
	s.Wall = time.Since(c.begun)
	if again {
		s.Repeated++
	}
	s.Last = max(s.Last, f.Seed)
	s.Slowest = slowest(append(s.Slowest, Slow{f.Seed, took}))
	if f.Result != nil {
		s.Counters.Add(f.Result.Counters)
		s.Reached.note(f.Seed, f.Result)
		if f.Result.Worst().Outcome == checkers.Undecided {
			s.Undecided++
		}
	}
	if f.bad() {
		c.failed(&f)
	}
	if f.finished() && c.Finished != nil {
		c.end(c.Finished(Outcome{f.Seed, f.Result.HashText(), f.Result.Kind()}, s))
	}
	if c.Progress != nil {
		c.Progress(s)
	}
}

// failed counts a failure, and tells of one that is not known.
func (c *campaign) failed(f *Failure) {
	s := &c.summary
	if f.finished() && f.Result.Worst().Outcome == checkers.Fail && c.Known != nil &&
		c.Known(f.Result.Kind()) {
		s.Known[f.Result.Kind()]++
		if c.Another != nil {
			c.end(c.Another(f))
		}
		return
	}
	s.Failures = append(s.Failures, *f)
	c.stopped = c.stopped || !c.KeepGoing ||
		c.Options.Failures > 0 && len(s.Failures) >= c.Options.Failures
	if c.Failed != nil {
		c.end(c.Failed(f, s))
	}
}

// end ends the campaign for an error.
func (c *campaign) end(err error) {
	if err != nil && c.summary.Broken == nil {
		c.stopped, c.summary.Broken = true, err
	}
}

// finished reports that the seed has a result that can be relied on.
func (f *Failure) finished() bool { return f.Err == nil && f.Diverged == "" }

func (f *Failure) bad() bool {
	return f.Err != nil || f.Diverged != "" || !f.Result.Passed()
}
