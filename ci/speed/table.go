package main

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/sim"
)

// measured is how many seeds each row is the mean of; unmeasured ones before them fill caches.
const measured, unmeasured = 20, 3

// row is what a seed of a kind costs.
type row struct {
	name string
	// steps is exact, the others vary by little: maps grow by hashes that differ in every process.
	steps, allocations, bytes uint64
}

// kinds are the seeds that are measured.
func kinds() map[string]func(seed uint64) *scenario.Scenario {
	of := map[string]func(uint64) *scenario.Scenario{"mixed": generate.Mixed}
	for _, p := range generate.Profiles() {
		of[p.Name] = func(seed uint64) *scenario.Scenario { return generate.Draw(seed, p) }
	}
	return of
}

// names are those of kinds, in order.
func names() []string {
	all := []string{"mixed"}
	for _, p := range generate.Profiles() {
		all = append(all, p.Name)
	}
	return all
}

func measureAll() (rows []row, err error) {
	of := kinds()
	for _, name := range names() {
		r, err := measure(name, of[name])
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func measure(name string, draw func(uint64) *scenario.Scenario) (row, error) {
	pool := &sim.Pool{}
	defer pool.Close()
	r := row{name: name}
	var before, after runtime.MemStats
	for seed := uint64(1); seed <= unmeasured+measured; seed++ {
		if seed == unmeasured+1 {
			runtime.ReadMemStats(&before)
		}
		result, err := runner.Run(draw(seed),
			runner.Options{Targets: harness.Targets(), Pool: pool})
		if err != nil {
			return r, fmt.Errorf("seed %d of %s: %w", seed, name, err)
		}
		if seed > unmeasured {
			r.steps += uint64(result.Counters.Steps)
		}
	}
	runtime.ReadMemStats(&after)
	r.steps /= measured
	r.allocations = (after.Mallocs - before.Mallocs) / measured
	r.bytes = (after.TotalAlloc - before.TotalAlloc) / measured
	return r, nil
}

func tableOf(rows []row) string {
	var b strings.Builder
	b.WriteString("| seeds | steps | allocations | bytes |\n| --- | ---: | ---: | ---: |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", r.name, r.steps, r.allocations, r.bytes)
	}
	return b.String()
}

// tolerance is by how much allocations may differ from the table, to both sides: what became
// cheaper is to be written down, too.
const tolerance = 0.03

// differs tells in what the row is not the one with these cells.
func (r *row) differs(cells []string) string {
	want := []float64{}
	for _, cell := range cells {
		n, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			return fmt.Sprintf("%q is no number", cell)
		}
		want = append(want, n)
	}
	switch {
	case len(want) != 3:
		return "there is no such row"
	case float64(r.steps) != want[0]:
		return fmt.Sprintf("%d steps a seed, not %s", r.steps, cells[0])
	case !near(float64(r.allocations), want[1]):
		return fmt.Sprintf("%d allocations a seed, not about %s", r.allocations, cells[1])
	case !near(float64(r.bytes), want[2]):
		return fmt.Sprintf("%d bytes a seed, not about %s", r.bytes, cells[2])
	}
	return ""
}

func near(a, b float64) bool { return math.Abs(a-b) <= tolerance*b }
