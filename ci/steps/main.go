// Command steps prints what the steps of many runs are: how many of each kind a seed takes, and
// what they cost. It is where work on speed begins and how its gain is shown.
//
// Promise: the numbers of steps are exact, the same in every process. Times are those of this
// machine, with the cost of measuring in them (about 0.1 microseconds a step); what happens between
// two steps is attributed to the first.
//
// Refusal: it compares nothing; run it before and after a change.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/system/sim"
)

func main() {
	seeds := flag.Int("seeds", 150, "run so many mixed seeds, from 1 on")
	most := flag.Int("rows", 60, "print so many kinds of steps")
	flag.Parse()
	c := &census{of: make(map[stepKind]*cost)}
	if err := c.run(*seeds); err != nil {
		fmt.Fprintln(os.Stderr, "steps:", err)
		os.Exit(4)
	}
	c.print(os.Stdout, *most)
}

// stepKind is what steps are counted by.
type stepKind struct{ does, what string }

// cost is what the steps of one kind come to.
type cost struct {
	stepKind
	steps int
	took  time.Duration
}

// census counts the steps of many runs.
type census struct {
	of    map[stepKind]*cost
	seeds int
	// began is when the present step did; current is nil between runs and before its first step.
	began   time.Time
	current *cost
	took    time.Duration
	bytes   uint64
	objects uint64
}

// run runs mixed seeds, one after the other.
func (c *census) run(seeds int) error {
	pool := &sim.Pool{}
	defer pool.Close()
	watch := runner.Observer{Step: c.step, Look: func(runner.Moment) { c.stop() }}
	options := runner.Options{
		Targets: harness.Targets(), Pool: pool, Observers: []runner.Observer{watch},
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	for ; c.seeds < seeds; c.seeds++ {
		if _, err := runner.Run(generate.Mixed(uint64(c.seeds)+1), options); err != nil {
			return fmt.Errorf("seed %d cannot be run: %w", c.seeds+1, err)
		}
	}
	c.took = time.Since(began)
	runtime.ReadMemStats(&after)
	c.bytes, c.objects = after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
	return nil
}

// step counts a step. One that another makes, as an event that its task emits, is part of it.
func (c *census) step(s sim.Step) {
	kind := stepKind{s.Kind, subject(s)}
	of := c.of[kind]
	if of == nil {
		of = &cost{stepKind: kind}
		c.of[kind] = of
	}
	of.steps++
	if c.current == nil {
		c.current, c.began = of, time.Now()
	}
}

func (c *census) stop() {
	if c.current != nil {
		c.current.took += time.Since(c.began)
		c.current = nil
	}
}

// subject is what steps are about, without the nodes and numbers in it.
func subject(s sim.Step) string {
	name := s.Name
	switch s.Kind {
	case "fire":
		name = string(s.Node)
		name, _, _ = strings.Cut(name, ".")
	case "control", "decide", "up", "down":
		name = ""
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	return strings.TrimRight(name, "-.0123456789 ")
}

// print writes the table, the most frequent kind first.
func (c *census) print(out io.Writer, most int) {
	var all []*cost
	var total cost
	for _, of := range c.of {
		all = append(all, of)
		total.steps += of.steps
		total.took += of.took
	}
	slices.SortFunc(all, func(a, b *cost) int {
		return cmp.Or(b.steps-a.steps, cmp.Compare(a.does, b.does), cmp.Compare(a.what, b.what))
	})
	n := float64(c.seeds)
	fmt.Fprintf(out, "%d seeds: each %.0f steps, %.1f ms (%.1f ms of them in steps), %.2f MB in "+
		"%.0f allocations\n", c.seeds, float64(total.steps)/n, milliseconds(c.took)/n,
		milliseconds(total.took)/n, float64(c.bytes)/n/1e6, float64(c.objects)/n)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer w.Flush()
	fmt.Fprintln(w, "steps a seed\tshare\tms a seed\tus a step\tkind\t")
	for _, of := range all[:min(most, len(all))] {
		fmt.Fprintf(w, "%.1f\t%.1f %%\t%.2f\t%.2f\t%s %s\t\n",
			float64(of.steps)/n, 100*float64(of.steps)/float64(total.steps),
			milliseconds(of.took)/n, 1e3*milliseconds(of.took)/float64(of.steps),
			of.does, of.what)
	}
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }
