package trial

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/shardproof/shardproof/ci/mutation/active"
	"github.com/shardproof/shardproof/ci/mutation/mutants"
)

// Campaign tries a sample of mutants.
type Campaign struct {
	// Program is the build, Root where it runs.
	Program, Root string
	// Tests are the builds of the tests of packages that the plan names.
	Tests map[string]string
	Plan  []Unit
	State *State
	// CPU is how much CPU time one mutant gets, Memory how many bytes of data its process.
	CPU    time.Duration
	Memory int64
	// Shortest is the least bound of CPU time of one command; zero for five seconds.
	Shortest time.Duration
	Workers  int
	// Tell is called after each mutant; it may be nil.
	Tell func(*mutants.Mutant, Result)

	mu sync.Mutex
}

// Bounds of single commands.
const (
	// hangs and slow are how many times the CPU time without a mutant a command may take: one run,
	// and many.
	hangs, slow = 50, 10
	shortest    = 5 * time.Second
	// patience bounds a command of the baseline.
	patience = 10 * time.Minute
)

// Sample are the first so many mutants in the order that the seed gives them; 0 for all. The order
// of two mutants does not depend on the others, so that a larger sample holds the smaller one.
func Sample(all []*mutants.Mutant, seed uint64, n int) []*mutants.Mutant {
	key := func(m *mutants.Mutant) uint64 {
		h := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, m.ID()))
		return binary.BigEndian.Uint64(h[:8])
	}
	drawn := slices.Clone(all)
	slices.SortFunc(drawn, func(a, b *mutants.Mutant) int { return cmp.Compare(key(a), key(b)) })
	if n > 0 && n < len(drawn) {
		drawn = drawn[:n]
	}
	return drawn
}

// Baseline runs every unit without a mutant that the state does not know yet, and notes which
// mutants each reaches. A unit that fails by itself says nothing about mutants, and is not used.
func (c *Campaign) Baseline(ctx context.Context, tell func(Unit, Baseline)) error {
	for i := len(c.State.Baseline); i < len(c.Plan); i++ {
		b, err := c.baseline(ctx, c.Plan[i])
		if err != nil {
			return err
		}
		c.State.Baseline = append(c.State.Baseline, b)
		if err := c.State.save(); err != nil {
			return err
		}
		tell(c.Plan[i], b)
	}
	return nil
}

func (c *Campaign) baseline(ctx context.Context, u Unit) (b Baseline, err error) {
	dir, err := os.MkdirTemp("", "shardproof-reached-")
	if err != nil {
		return b, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "reached")
	if err := os.WriteFile(file, make([]byte, active.Most), 0o644); err != nil {
		return b, err
	}
	r, err := c.program().run(ctx, u, noMutant, patience, file)
	if err != nil {
		return b, err
	}
	if r.end == Odd {
		return b, fmt.Errorf("the plan's command %q is not what the program takes: %s", u, r.said)
	}
	noted, err := os.ReadFile(file)
	b = Baseline{Unit: u.String(), CPU: r.cpu.Seconds(), Reached: make([]byte, active.Most/8)}
	for n, reached := range noted {
		b.Reached[n/8] |= reached << (n % 8)
	}
	if r.end != Passed {
		b.Failed = fmt.Sprintf("%s %v", r.end, r.by)
	}
	return b, err
}

func (c *Campaign) program() *program { return &program{c.Program, c.Tests, c.Root, c.Memory} }

// Reached says whether any unit reaches the mutant.
func (c *Campaign) Reached(m *mutants.Mutant) bool {
	return slices.ContainsFunc(c.State.Baseline, func(b Baseline) bool {
		return b.reaches(m.Number)
	})
}

// Run tries the mutants, each with what is left of its budget after earlier commands.
func (c *Campaign) Run(ctx context.Context, sample []*mutants.Mutant) error {
	work := make(chan *mutants.Mutant)
	failed := make([]error, c.Workers)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var workers sync.WaitGroup
	for w := range c.Workers {
		workers.Go(func() {
			for m := range work {
				if failed[w] == nil {
					failed[w] = c.try(ctx, m)
				}
				if failed[w] != nil {
					cancel()
				}
			}
		})
	}
	for _, m := range sample {
		if c.Reached(m) && ctx.Err() == nil {
			work <- m
		}
	}
	close(work)
	workers.Wait()
	return errors.Join(failed...)
}

// try goes on with one mutant.
func (c *Campaign) try(ctx context.Context, m *mutants.Mutant) error {
	c.mu.Lock()
	r, begun := c.State.Results[m.ID()]
	c.mu.Unlock()
	if begun && (Dead(r.End) || !c.affordable(m, r)) {
		return nil
	}
	r.End = cmp.Or(r.End, Passed)
	for ; r.Next < len(c.Plan) && !Dead(r.End); r.Next++ {
		if !c.State.Baseline[r.Next].reaches(m.Number) {
			continue
		}
		if !c.affordable(m, r) {
			break
		}
		if err := c.unit(ctx, m, &r); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.State.Results[m.ID()] = r
	if c.Tell != nil {
		c.Tell(m, r)
	}
	return c.State.save()
}

// affordable says whether the next unit that reaches the mutant fits the budget as long as the
// mutant changes little.
func (c *Campaign) affordable(m *mutants.Mutant, r Result) bool {
	for i := r.Next; i < len(c.Plan); i++ {
		if b := &c.State.Baseline[i]; b.reaches(m.Number) {
			return r.CPU+b.CPU <= c.CPU.Seconds()
		}
	}
	return false
}

// unit runs the next unit. The first end that is neither a pass nor a kill stays, unless a later
// unit kills.
func (c *Campaign) unit(ctx context.Context, m *mutants.Mutant, r *Result) error {
	u, b := c.Plan[r.Next], &c.State.Baseline[r.Next]
	times := slow
	if u.One {
		times = hangs
	}
	without := time.Duration(b.CPU * float64(time.Second))
	bound := max(cmp.Or(c.Shortest, shortest), time.Duration(times)*without)
	got, err := c.program().run(ctx, u, m.Number, bound, "")
	if err != nil {
		return err
	}
	r.CPU += got.cpu.Seconds()
	if Dead(got.end) || got.end != Passed && r.End == Passed {
		r.End, r.Stage, r.Unit, r.By = got.end, u.Stage, u.String(), got.by
		if r.Said = got.said; got.end == Killed {
			r.Said = ""
		}
	}
	return nil
}
