// Command passes counts how often generated scenarios pass each failpoint, and writes
// faults/passes.txt. Faults go by it that are to meet seldom passed failpoints as often as others.
//
// Promise: the numbers are exact, the same in every process.
//
// Refusal: it judges no run, and nobody needs the numbers to be those of the present build: write
// them again after failpoints or the draw of scenarios have changed much.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/shardproof/shardproof/harness"
	"github.com/shardproof/shardproof/harness/generate"
	"github.com/shardproof/shardproof/harness/runner"
	"github.com/shardproof/shardproof/histories/scenario"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/sim"
)

// seeds is how many are run.
const seeds = 1000

func main() {
	out := flag.String("out", "faults/passes.txt", "write the numbers to this file")
	flag.Parse()
	passes, err := count()
	if err == nil {
		err = os.WriteFile(*out, []byte(table(passes)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "passes:", err)
		os.Exit(4)
	}
}

// count adds up the passes of all runs, by failpoint.Site.
func count() ([]uint64, error) {
	pool := &sim.Pool{}
	defer pool.Close()
	total := make([]uint64, failpoint.Count())
	for seed := range uint64(seeds) {
		drawn := generate.Mixed(seed + 1)
		drawn.Settings = slices.DeleteFunc(drawn.Settings, func(v scenario.Setting) bool {
			return strings.HasPrefix(v.Name, "sim.task.site") // whose odds come from the table
		})
		ran, err := runner.Run(drawn, runner.Options{Targets: harness.Targets(), Pool: pool})
		if err != nil {
			return nil, fmt.Errorf("seed %d cannot be run: %w", seed+1, err)
		}
		for site, n := range ran.Sites {
			total[site] += n
		}
	}
	return total, nil
}

// table has a line for each failpoint of the store.
func table(passes []uint64) string {
	var lines []string
	for _, in := range failpoint.Catalog() {
		site, _ := failpoint.Parse(in.Name)
		if in.System == "" {
			lines = append(lines, fmt.Sprintf("%s %d\n", in.Name, passes[site]))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
